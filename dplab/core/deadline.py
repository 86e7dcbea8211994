"""A budget of time for work in this thread: symbolic algebra can run away on a formula of a few lines.

A second thread watches the clock and raises an exception in the working one, which interrupts Python code wherever it
is: a worker process for each of a hundred small simplifications would take longer than they do. The clock is the CPU
time of the working thread where the system tells it, so that a busy machine does not change an outcome, and four times
as much wall time in any case.
"""

import ctypes
import math
import threading
import time
from collections.abc import Callable
from typing import TypeVar

import mpmath

from .errors import BudgetError

T = TypeVar("T")
SLACK = 4
"""Wall time counts this many times less than CPU time."""
AGAIN = 0.5
"""Seconds after which an interruption that somebody swallowed is repeated."""
ARRIVAL = 8
"""Steps of a loop within which an interruption arrives; taking it back would leave the interpreter on the alert."""


class _Interrupted(BaseException):
    """Raised in the working thread; no handler for ordinary exceptions takes it."""


def within(seconds: float, what: str, work: Callable[..., T], *arguments) -> T:
    """`work(*arguments)`, if it takes no more than so many seconds of CPU time.

    One call inside another ends at whichever budget is spent first. Only Python code can be interrupted, one long
    operation in C cannot; and a Python without threads runs the work without a limit.

    >>> within(1.0, "a sum", sum, [1, 2])
    3

    Raises BudgetError, which names `what`, if it takes longer; whatever the work raises.
    """
    if seconds == math.inf:
        return work(*arguments)
    watch = _Watch(seconds)
    precision = mpmath.mp.prec
    try:
        try:
            watch.start()
            return work(*arguments)
        finally:
            watch.over = True  # before any call: an interruption may fall on the first step of a function
            watch.end()
    except watch.signal:
        pass
    mpmath.mp.prec = precision  # the interruption may have fallen between a change and its undoing
    raise BudgetError(what, seconds)


class _Watch:
    """The thread that interrupts, and how the two agree that it is over."""

    def __init__(self, seconds: float):
        self.seconds = seconds
        # a class of its own, so that budgets inside one another are told apart
        self.signal: type[_Interrupted] = type("_Overdue", (_Interrupted,), {})
        self.over = False
        self._lock, self._done = threading.Lock(), threading.Event()
        self._worker = threading.get_ident()
        self._clock = _clock_of(self._worker)
        self._spent, self._began = self._clock(), time.monotonic()

    def start(self) -> None:
        """Begin to watch."""
        try:
            threading.Thread(target=self._watched, name="dplab-deadline", daemon=True).start()
        except RuntimeError:  # a Python without threads, as in a browser
            return

    def end(self) -> None:
        """No interruption comes after this: one that is on its way arrives here, where it does no harm."""
        while True:
            try:
                self._done.set()
                with self._lock:  # whoever interrupts has done so
                    pass
                for _ in range(ARRIVAL):
                    pass
                return
            except self.signal:
                continue

    def _left(self) -> float:
        """Wall seconds after which another look is worth while; 0 or less when the time is over."""
        cpu = self.seconds - (self._clock() - self._spent)
        wall = SLACK * self.seconds - (time.monotonic() - self._began)
        return min(cpu, wall)

    def _watched(self) -> None:
        left = self.seconds
        while left > 0:
            if self._done.wait(left):
                return
            left = self._left()
        while not self.over:
            with self._lock:
                if not self.over:
                    _raise_in(self._worker, self.signal)
            self._done.wait(AGAIN)


def _clock_of(worker: int) -> Callable[[], float]:
    """The CPU time of a thread, where one can ask for that of another; else the wall time."""
    if not hasattr(time, "pthread_getcpuclockid"):
        return time.monotonic
    number = time.pthread_getcpuclockid(worker)
    return lambda: time.clock_gettime(number)


def _raise_in(worker: int, signal: type[_Interrupted]) -> None:
    """Raise an exception in a thread at its next step."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(worker), ctypes.py_object(signal))
