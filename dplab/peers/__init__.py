"""Other accountants, asked the same questions: each in an environment of its own, through one small adapter.

`ask(name, composition, eps=1)` gives an `Answer` with the peer's claims, its time and memory; `installed()` says who
is there. `make peers` makes the environments.
"""

from .calling import NAMES, Answer, adapter, ask
from .installation import installed
from .protocol import Claim, NotModelled, Query
from .translation import query

__all__ = ["NAMES", "Answer", "Claim", "NotModelled", "Query", "adapter", "ask", "installed", "query"]
