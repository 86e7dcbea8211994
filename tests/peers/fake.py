"""Peers that are no peers: adapters written to a file and run by the harness with this interpreter."""

import sys

from dplab.peers.calling import Answer, run
from dplab.peers.protocol import Query, Step

HEADER = """
import os, sys, time, warnings
from dplab_peers.protocol import Adapter, Claim, NotModelled, upper

class Fake(Adapter):
    name = "pip"
    mechanisms = ("gaussian",)

    def load(self):
        {load}

    def claims(self, peer, query):
        {claims}

ADAPTER = Fake()
"""

QUERY = Query((Step("gaussian", {"sigma": 2.0}, 1.0, 3),), eps=1.0, delta=None, symmetric=True)


def answer(folder, claims: str, load: str = "return None", query: Query = QUERY, timeout: float = 60) -> Answer:
    """The answer of an adapter with these two bodies; "pip" is a distribution that is always there."""
    file = folder / "fake_peer.py"
    file.write_text(HEADER.format(load=load, claims=claims))
    return run("fake", sys.executable, str(file), query, timeout)
