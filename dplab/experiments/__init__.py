"""Floor 3: measurements and figures that can be run again by one command."""
