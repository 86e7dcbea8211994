"""`python -m dplab.peers` (`make peers`)."""

from .installation import main

main()
