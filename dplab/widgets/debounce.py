"""Waiting for the hand to rest: a burst of events becomes one call.

In a kernel the wait is a timer on its event loop, so that the events still queued get their turn first. Where no loop
runs (a test, a script), the call happens at once: callbacks stay plain functions.
"""

import asyncio
from collections.abc import Callable


class Debounce:
    """Calls `action` once the events pause for `delay` seconds, and at the latest `longest` seconds after the first.

    The second limit keeps a picture moving under a slider that is dragged without a pause.
    """

    def __init__(self, action: Callable[[], None], delay: float, longest: float | None = None):
        self.action, self.delay = action, delay
        self.longest = longest if longest is not None else 4 * delay
        self._timer: asyncio.TimerHandle | None = None
        self._first = 0.0

    @property
    def waiting(self) -> bool:
        """True while a call is due."""
        return self._timer is not None

    def __call__(self) -> None:
        """Note an event."""
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            self.action()
            return
        if self._timer is None:
            self._first = loop.time()
        self.cancel()
        self._timer = loop.call_at(min(loop.time() + self.delay, self._first + self.longest), self._fire)

    def cancel(self) -> None:
        """Forget a call that is due."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _fire(self) -> None:
        self._timer = None
        self.action()
