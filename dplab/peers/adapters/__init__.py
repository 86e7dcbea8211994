"""Adapters to other accountants, one in each file, named like its distribution."""
