"""The bench's questions: their truths, from elsewhere and computed again."""

from fractions import Fraction

import mpmath
import pytest

from dplab import reference
from dplab.experiments.questions import Question, gaussian_truths, questions, training_runs
from tests.reference.known import truths

ROWS = {row.name: row for row in questions()}

PUBLISHED = {  # measured by another program, to the digits given
    "W1": "1.82823667",
    "W2": "4.02843604",
    "W3": "4.24348425e-6",
    "W5": "18.9502873675",
    "W6": "19.3446714480",
    "W7": "4.78912580",
    "W8": "0.53669127",
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_truths_agree_with_values_from_elsewhere(name):
    row = ROWS[name]
    digits = sum(map(str.isdigit, PUBLISHED[name].partition("e")[0].lstrip("0.")))
    with mpmath.workdps(30):
        assert mpmath.nstr(mpmath.mpf(row.truth[0]), digits) == mpmath.nstr(mpmath.mpf(PUBLISHED[name]), digits)


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.long if name in ("W1", "W2", "W5", "W7") else ()) for name in PUBLISHED],
)
def test_truths_computed_again(name):
    row = ROWS[name]
    if row.delta is not None:
        found = reference.epsilon(row.composition, row.delta, digits=25)
    else:
        found = reference.delta(row.composition, row.eps[0], digits=25)
    with mpmath.workdps(40):
        truth = mpmath.mpf(row.truth[0])
        assert abs(found.value - truth) <= abs(truth) * mpmath.mpf(10) ** -24
    assert found.reached


def test_the_closed_form_agrees_with_known_values():
    known = {t.argument: t.value for t in truths() if t.composition == ROWS["W4"].composition}
    assert {"1", "20"} <= set(known)
    for eps, value in known.items():
        (truth,) = gaussian_truths((eps,))
        assert abs(Fraction(truth) / Fraction(value) - 1) < Fraction(1, 10**24)


def test_the_rows_of_the_curve_are_points_of_it():
    whole = ROWS["W4"]
    assert len(whole.truth) == len(whole.eps) == 45
    for name, row in ROWS.items():
        if name.startswith("W4 "):
            assert row.truth == (whole.truth[whole.eps.index(row.eps[0])],)


def test_twenty_training_runs():
    parts = training_runs().parts
    assert sorted(k for _, k in parts) == [500] * 20
    sigmas = sorted(float(pair.mechanism.arguments["sigma"]) for pair, _ in parts)
    rates = sorted(float(pair.arguments["q"]) for pair, _ in parts)
    assert (sigmas[0], sigmas[-1], rates[0], rates[-1]) == (0.7, 4.0, 0.001, 0.05)


@pytest.mark.parametrize(
    ("quantity", "value", "expected"),
    [
        ("eps", 0.6, 0.1),
        ("eps", 0.5, 0.0),
        ("delta", 0.6, 0.2),
        ("delta", 0.25, -0.5),
        ("eps", float("inf"), float("inf")),
    ],
)
def test_errors(quantity, value, expected):
    asked = {"delta": "0.1"} if quantity == "eps" else {"eps": ("1",)}
    row = Question("x", "x", ROWS["W1"].composition, ("0.5",), (), **asked)
    assert row.error(value) == pytest.approx(expected, rel=1e-12)


def test_nan_is_an_error_of_nan():
    assert ROWS["W1"].error(float("nan")) != ROWS["W1"].error(float("nan"))
