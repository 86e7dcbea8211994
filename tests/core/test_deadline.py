"""Work that is given up when its budget is spent, in whatever it is busy with."""

import threading
import time
from random import Random

import mpmath
import pytest

from dplab.core.deadline import within
from dplab.core.errors import BudgetError, DplabError


def _spin():
    while True:
        pass


def _busy(seconds: float) -> bool:
    ends = time.perf_counter() + seconds
    while time.perf_counter() < ends:
        pass
    return True


def test_what_ends_in_time_is_returned():
    assert within(10, "a sum", sum, [1, 2, 3]) == 6


def test_an_error_of_the_work_is_its_own():
    with pytest.raises(ZeroDivisionError):
        within(10, "a quotient", lambda: 1 / 0)


def test_what_runs_away_is_given_up_and_named():
    with pytest.raises(BudgetError, match=r"the search: the budget of 0\.1 s of CPU time ran out") as caught:
        within(0.1, "the search", _spin)
    assert (caught.value.what, caught.value.seconds) == ("the search", 0.1)
    assert isinstance(caught.value, DplabError)
    assert isinstance(caught.value, TimeoutError)


def test_handlers_of_ordinary_errors_do_not_take_it():
    def stubborn():
        while True:
            try:
                _spin()
            except Exception:
                continue

    with pytest.raises(BudgetError):
        within(0.1, "a stubborn one", stubborn)


def test_one_that_is_swallowed_comes_again():
    swallowed = []

    def greedy():
        try:
            _spin()
        except BaseException as error:
            swallowed.append(error)
        _spin()

    with pytest.raises(BudgetError):
        within(0.1, "a greedy one", greedy)
    assert len(swallowed) == 1


@pytest.mark.parametrize(("inner", "outer", "ended"), [(0.1, 30.0, "inner"), (30.0, 0.1, "outer")])
def test_of_two_budgets_the_smaller_one_ends(inner, outer, ended):
    with pytest.raises(BudgetError) as caught:
        within(outer, "outer", within, inner, "inner", _spin)
    assert caught.value.what == ended


def test_no_budget_is_no_limit():
    assert within(float("inf"), "anything", _busy, 0.01)


def test_threads_of_their_own():
    found = []

    def work():
        try:
            within(0.1, "in a thread", _spin)
        except BudgetError as error:
            found.append(error.what)

    thread = threading.Thread(target=work)
    thread.start()
    assert within(30, "here", _busy, 0.3)
    thread.join()
    assert found == ["in a thread"]


def test_the_precision_is_what_it_was():
    def precise():
        mpmath.mp.dps = 77
        _spin()

    with mpmath.workdps(33):
        with pytest.raises(BudgetError):
            within(0.1, "precise", precise)
        assert mpmath.mp.dps == 33


def test_interruptions_that_come_at_the_end_do_no_harm():
    """Budgets of the length of the work, one inside another: whoever is late arrives nowhere else."""
    random, outcomes = Random(1), set()

    def inner() -> str:
        try:
            within(random.uniform(0.004, 0.015), "inner", _busy, random.uniform(0.004, 0.02))
        except BudgetError:
            return "inner"
        return "none"

    for _ in range(150):
        try:
            outcomes.add(within(random.uniform(0.004, 0.015), "outer", inner))
        except BudgetError:
            outcomes.add("outer")
    _busy(0.05)
    assert outcomes == {"none", "inner", "outer"}


def test_a_profiler_or_debugger_goes_on():
    """Taking an interruption back leaves the interpreter on the alert, in which a traced call never returns."""
    import sys

    seen: list[str] = []
    before = sys.getprofile()
    sys.setprofile(lambda frame, event, argument: seen.append(event))
    try:
        assert within(30, "traced", lambda: 3) == 3
    finally:
        sys.setprofile(before)
    assert "return" in seen


def test_nothing_is_left_behind():
    before = threading.active_count()
    for _ in range(20):
        within(30, "short", int, "3")
    _busy(0.2)
    assert threading.active_count() <= before
