"""Routes side by side: the table, the CSV, the picture, and what is said when routes contradict each other."""

import csv
import io
import math
import time
from fractions import Fraction
from importlib import import_module

import mpmath
import numpy as np
import pytest

from dplab import Composition, DplabError, Gaussian, Laplace, PoissonSubsampled, RandomizedResponse, compare
from dplab.comparison import ROUTE_NAMES, Comparison
from dplab.core.budget import ErrorBudget
from dplab.core.errors import NoClosedFormError, ParameterError, UnboundSymbolError
from dplab.core.results import Approximation, Bracket, Reference

SAMPLED = 10_000 * PoissonSubsampled(Gaussian(sigma=4), q="0.01")


@pytest.fixture(scope="module")
def survey():
    return compare(10 * RandomizedResponse("0.6"), eps=["1/2", "1.5", 3])


@pytest.fixture(scope="module")
def sampled():
    return compare(SAMPLED, eps=1, digits=20)


def row(comparison, route, place=0):
    return [r for r in comparison.rows if r.route == route][place]


# ---------------------------------------------------------------- the answers


def test_every_route_answers_every_eps_in_order(survey):
    assert [r.route for r in survey.rows] == list(ROUTE_NAMES) * 3
    assert [r.eps_text for r in survey.rows[::4]] == ["0.5", "1.5", "3"]
    assert [r.kind for r in survey.rows[:4]] == ["Exact", "Reference", "Bracket", "Approximation"]
    assert all(r.seconds > 0 for r in survey.rows)


def test_the_known_value(survey):
    assert row(survey, "reference", 1).value_text == "0.1368548753621328222115412349763146957219"
    assert row(survey, "symbolic", 1).value_text == "0.1368548753621328222115412349763146957219"


def test_references_lie_inside_brackets(survey, sampled):
    for comparison in (survey, sampled):
        assert comparison.agrees
        inside = [s for s in comparison.findings if "the reference lies inside the FFT bracket" in s]
        assert len(inside) == len({r.eps for r in comparison.rows})


def test_the_clt_is_judged_but_bounds_nothing(survey):
    for sentence in survey.findings:
        assert "the CLT is" in sentence
        assert "bounds nothing" in sentence


def test_a_route_that_does_not_apply_says_why(sampled):
    missing = row(sampled, "symbolic")
    assert missing.value is None
    assert missing.kind == "none"
    assert missing.note
    assert f"closed form: {missing.note}" in sampled.findings
    assert "does not apply" in str(sampled)


def test_directions_differ():
    remove, add = (compare(SAMPLED, 1, direction=d, routes="reference", digits=15) for d in ("remove", "add"))
    assert remove.direction == "forward"
    assert row(remove, "reference").number != row(add, "reference").number


def test_only_the_routes_asked_for():
    result = compare(Laplace(2), eps=0, routes=["clt", "reference"])
    assert [r.route for r in result.rows] == ["reference", "clt"]
    assert "bounds nothing" in result.findings[0]


@pytest.mark.parametrize("routes", [["fourier"], ["clt"], ["fourier", "clt"]])
def test_without_a_reference_nothing_is_claimed(routes):
    result = compare(SAMPLED, eps=1, routes=routes)
    assert result.agrees
    assert not any("reference" in sentence for sentence in result.findings)


@pytest.mark.parametrize("eps", [math.inf, "inf"])
def test_infinite_eps_asks_for_the_mass_at_infinity(eps):
    result = compare(PoissonSubsampled(Gaussian(0), "0.25"), eps=eps)
    assert float(row(result, "reference").number) == 0.25
    assert row(result, "fourier").value.contains(0.25)
    assert result.rows[0].eps_text == "∞"
    assert "empty picture" in result.picture.description


def test_nothing_released_is_perfect_privacy():
    result = compare(Composition(), eps=[0, 1])
    assert result.agrees
    assert float(row(result, "reference").number) == 0


# ---------------------------------------------------------------- contradictions


def fake(monkeypatch, route, value):
    monkeypatch.setattr(import_module(f"dplab.{route}"), "delta", lambda *args, **keywords: value)


def bracket(lower, upper):
    return Bracket(lower, upper, ErrorBudget((), {}))


def test_a_reference_outside_the_bracket_is_reported(monkeypatch):
    fake(monkeypatch, "reference", Reference(mpmath.mpf("0.5"), mpmath.mpf("1e-40"), "fake", 40))
    fake(monkeypatch, "fourier", bracket(0.1, 0.2))
    result = compare(Gaussian(1), eps=1, routes=["reference", "fourier"])
    assert not result.agrees
    assert result.findings[0].startswith("DISAGREEMENT at ε = 1: the reference 0.5 lies outside the FFT bracket")
    assert "color:#b00020" in result._repr_html_()


def test_a_reference_too_close_to_an_end_is_undecided(monkeypatch):
    fake(monkeypatch, "reference", Reference(mpmath.mpf("0.2"), mpmath.mpf("1e-20"), "fake", 20))
    fake(monkeypatch, "fourier", bracket(0.1, 0.2))
    result = compare(Gaussian(1), eps=1, routes=["reference", "fourier"], digits=20)
    assert result.agrees
    assert "too close to an end" in result.findings[0]


def test_a_wrong_closed_form_is_reported(monkeypatch):
    fake(monkeypatch, "reference", Reference(mpmath.mpf("0.5"), mpmath.mpf("1e-50"), "fake", 40))
    result = compare(Gaussian(1), eps=1, routes=["symbolic", "reference"])
    assert result.findings[0].startswith("DISAGREEMENT at ε = 1: the closed form and the reference differ by 0.373")


def test_the_clt_far_off_is_a_factor(monkeypatch):
    fake(monkeypatch, "clt", Approximation(1e-9, "fake"))
    result = compare(Gaussian(1), eps=1, routes=["reference", "clt"])
    assert "the CLT is a factor 1.27e8 too low and bounds nothing" in result.findings[0]


def test_a_route_that_gives_up_does_not_stop_the_others(monkeypatch):
    def gives_up(*args, **keywords):
        raise NoClosedFormError("stage 3: no inverse")

    monkeypatch.setattr(import_module("dplab.symbolic"), "delta", gives_up)
    result = compare(Gaussian(1), eps=[1, 2], routes=["symbolic", "reference"])
    assert [r.value is None for r in result.rows] == [True, False, True, False]
    assert result.findings.count("closed form: stage 3: no inverse") == 1


# ---------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("keywords", "name"),
    [
        ({"eps": []}, "eps"),
        ({"eps": [1, float("nan")]}, "eps"),
        ({"eps": "one half"}, "eps"),
        ({"direction": "sideways"}, "direction"),
        ({"digits": 0}, "digits"),
        ({"digits": 201}, "digits"),
        ({"digits": 2.5}, "digits"),
        ({"routes": ["exact"]}, "routes"),
        ({"routes": []}, "routes"),
    ],
)
def test_bad_input_is_refused_before_any_work(keywords, name):
    start = time.perf_counter()
    with pytest.raises(ParameterError, match=name) as caught:
        compare(10**6 * PoissonSubsampled(Gaussian(1), "0.01"), **keywords)
    assert isinstance(caught.value, DplabError)
    assert time.perf_counter() - start < 0.2


def test_the_faulty_eps_is_named():
    with pytest.raises(ParameterError, match=r"eps\[1\]"):
        compare(Gaussian(1), eps=[1, "nan"])


def test_what_is_not_a_composition():
    with pytest.raises(TypeError, match="composition"):
        compare(3)


def test_symbols_are_named():
    with pytest.raises(UnboundSymbolError, match="sigma"):
        compare(PoissonSubsampled(Gaussian("sigma"), "0.1"), eps=1)
    with pytest.raises(UnboundSymbolError, match="x"):
        compare(Gaussian(1), eps="x")


@pytest.mark.parametrize("eps", [np.float64(0.5), np.array([0.5, 1.0]), (Fraction(1, 2),), "0.5", iter([0.5])])
def test_eps_of_many_kinds(eps):
    assert compare(Gaussian(1), eps=eps, routes="clt").rows[0].eps == Fraction(1, 2)


# ---------------------------------------------------------------- what comes out


def test_csv_round_trip(survey, tmp_path):
    text = survey.to_csv(tmp_path / "x.csv")
    assert (tmp_path / "x.csv").read_text(encoding="utf-8") == text
    read = list(csv.DictReader(io.StringIO(text)))
    assert len(read) == len(survey.rows)
    for fields, original in zip(read, survey.rows, strict=True):
        assert fields["direction"] == "both"
        assert Fraction(fields["eps"]) == original.eps
        if original.route == "fourier":
            assert (float(fields["lower"]), float(fields["upper"])) == (original.value.lower, original.value.upper)
        elif original.route == "clt":
            assert float(fields["value"]) == original.value.value
        else:
            with mpmath.workdps(60):
                gap = abs(mpmath.mpf(fields["value"]) - original.number)
                assert gap <= abs(original.number) * mpmath.mpf("1e-39")


def test_terminal_text(survey):
    lines = str(survey).splitlines()
    assert lines[0] == "10 * RandomizedResponse(p=0.6), direction both"
    assert len(lines) == 2 + 12 + 3
    assert repr(survey) == str(survey)


def test_notebook_view(survey):
    page = survey._repr_html_()
    assert page.count("<tr>") == 13
    assert 'role="img"' in page
    assert "<title" in page
    assert "<desc" in page


@pytest.mark.parametrize(("suffix", "start"), [("svg", b"<svg"), ("png", b"\x89PNG"), ("pdf", b"%PDF")])
def test_save(survey, tmp_path, suffix, start):
    path = tmp_path / f"x.{suffix}"
    survey.save(path)
    assert path.read_bytes().startswith(start)


@pytest.mark.parametrize("name", ["x", "x.jpg", "x.txt"])
def test_save_refuses_other_formats(survey, tmp_path, name):
    with pytest.raises(ParameterError, match="svg"):
        survey.save(tmp_path / name)


def test_progress_shows_only_when_it_takes_long(monkeypatch, capsys):
    compare(Gaussian(1), eps=1, routes="clt")
    assert capsys.readouterr().err == ""
    import tqdm

    made = []

    class Bar(tqdm.tqdm):
        def __init__(self, *args, **keywords):
            made.append(keywords)
            super().__init__(*args, **keywords)

    monkeypatch.setattr(tqdm, "tqdm", Bar)
    assert isinstance(compare(Gaussian(1), eps=[1, 2], routes="clt"), Comparison)
    assert made[0]["delay"] == 2
    assert made[0]["total"] == 2
