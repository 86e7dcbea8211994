"""Bug reports on other accountants (tests/data/cases.json) as questions to a route, by the reports' ids.

Each question takes its answer from the file. `OTHER` names the reports that are not about a delta or an eps, or not
about anything that dplab offers, with the test or the reason.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from dplab import ApproximateDP, Composition, Gaussian, Laplace, PoissonSubsampled, RandomizedResponse

DATA = Path(__file__).parent / "data"
CASES: dict[str, dict] = {case["id"]: case for case in json.loads((DATA / "cases.json").read_text(encoding="utf-8"))}

OTHER = {
    "K1-06": "M(z) at large orders: test_k1_06",
    "K1-08": "the loss at an outcome: test_k1_08",
    "K3-05": "the mean of the loss: test_k3_05",
    "K3-07": "the distribution function of the loss: test_k3_07",
    "K5-05": "bad input is refused: test_k5_05",
    "K5-07": "L0 and L-infinity sensitivities are not ours; of a mechanism's own sensitivity: test_k5_07",
}


@dataclass(frozen=True)
class Ask:
    """delta at `argument`, or eps at `argument`, of a composition: `value` is the right answer, to `digits`."""

    case: str
    composition: Composition
    quantity: str
    argument: str
    value: str
    direction: str = "both"
    digits: int = 18
    long: bool = False

    @property
    def name(self) -> str:
        """Case, question and direction: the test's id."""
        return f"{self.case} {self.quantity}({self.argument}) {self.direction}"


def sampled(q, sigma, steps=1) -> Composition:
    """Steps of the Poisson-subsampled Gaussian."""
    return steps * PoissonSubsampled(Gaussian(sigma=sigma), q=q)


def asks() -> list[Ask]:
    """Every question of the reports whose mechanisms exist."""
    return [ask for family in _FAMILIES for ask in family()]


def _each(value) -> list:
    return value if isinstance(value, list) else [value]


def _eps_of_sampled() -> Iterator[Ask]:
    """eps in both directions, of one or several deltas or numbers of steps."""
    for name in ("K1-01", "K2-03", "K3-01", "K2-07"):
        given, expected, digits = CASES[name]["input"], CASES[name]["expected"], CASES[name]["digits"]
        for direction in ("remove", "add"):
            values = _each(expected.get(f"eps_{direction}", []))
            points = [(steps, delta) for steps in _each(given["T"]) for delta in _each(given["delta"])]
            for (steps, delta), value in zip(points, values, strict=bool(values)):
                law = sampled(given["q"], given["sigma"], steps)
                yield Ask(name, law, "eps", delta, value, direction, digits, long=name == "K1-01")


def _infinite_mass() -> Iterator[Ask]:
    given, expected = CASES["K1-04"]["input"], CASES["K1-04"]["expected"]
    law = sampled(given["infinity_mass"], 0, given["k"])
    yield Ask("K1-04", law, "delta", "inf", expected["infinity_mass"], "remove")


def _calibrated() -> Iterator[Ask]:
    """Noise that is just enough: delta at the eps, eps at the delta. The sigma given is rounded, so fewer digits."""
    given, expected = CASES["K2-01"]["input"], CASES["K2-01"]["expected"]
    law = Composition.of(Gaussian(sigma=expected["sigma_min"]))
    yield Ask("K2-01", law, "delta", given["eps"], given["delta"], digits=15)
    yield Ask("K2-01", law, "eps", given["delta"], given["eps"], digits=15)
    given, expected = CASES["K3-03"]["input"], CASES["K3-03"]["expected"]
    for eps, sigma in zip(given["eps"], expected["sigma_min_remove"], strict=True):
        law = sampled(given["q"], sigma, given["T"])
        # The file's first sigma has 13 digits, and log delta moves by a multiple of log sigma.
        digits = min(CASES["K3-03"]["digits"], sum(map(str.isdigit, sigma))) - 2
        yield Ask("K3-03", law, "eps", given["delta"], str(eps), "remove", digits)
    given, expected = CASES["K6-03"]["input"], CASES["K6-03"]["expected"]
    yield Ask("K6-03", Composition.of(Gaussian(1)), "delta", "0", expected["delta(0) at sigma=1"])
    yield Ask("K6-03", Composition.of(Gaussian(expected["sigma_min"])), "delta", "0", given["delta"], digits=17)


def _pure_dp() -> Iterator[Ask]:
    given, expected = CASES["K2-05"]["input"], CASES["K2-05"]["expected"]
    law = given["k"] * RandomizedResponse.from_eps(given["eps0"])
    yield Ask("K2-05", law, "delta", "0.5", expected["delta(0.5)"])
    yield Ask("K2-05", law, "eps", "1e-6", expected["eps(1e-6)"])
    given, expected = CASES["K3-09"]["input"], CASES["K3-09"]["expected"]
    law = given["k"] * RandomizedResponse.from_eps(given["eps0"])
    yield Ask("K3-09", law, "delta", "3999.5", expected["delta(3999.5)"])
    yield Ask("K3-09", law, "delta", "4000", expected["delta(4000)"])
    yield Ask("K3-09", law, "delta", "3000", "1", digits=300)  # 1 - e^{-1000} - O(e^{-800})


def _edges() -> Iterator[Ask]:
    given, expected = CASES["K5-01"]["input"], CASES["K5-01"]["expected"]
    for direction in ("remove", "add"):
        law = sampled(given["q"], given["sigma"], given["T"])
        yield Ask("K5-01", law, "eps", given["delta"], expected["eps"], direction)

    expected = CASES["K5-03"]["expected"]
    once, five = sampled("0.1", 0), sampled("0.1", 0, 5)
    yield Ask("K5-03", sampled(1, 0), "eps", "0.5", "inf")
    yield Ask("K5-03", five, "eps", "0.01", expected["eps(0.01)"])
    for eps in ("0", "3"):
        yield Ask("K5-03", once, "delta", eps, expected["delta_remove(eps>=0) q=.1 T=1"], "remove")
        yield Ask("K5-03", five, "delta", eps, expected["delta_remove(eps>=0) q=.1 T=5"], "remove")
    for eps in ("0.6", "-5*log(9/10)"):
        yield Ask("K5-03", five, "delta", eps, expected["delta_add(eps) for eps>=-T ln(1-q)"], "add")

    given, expected = CASES["K6-01"]["input"], CASES["K6-01"]["expected"]
    law = sampled(given["q"], given["sigma"], given["T"])
    yield Ask("K6-01", law, "delta", "0", expected["delta(0)"], "add", CASES["K6-01"]["digits"])
    for delta in given["delta"]:
        yield Ask("K6-01", law, "eps", delta, expected[f"eps({delta})"])

    laws = [Composition.of(Gaussian(1)), 3 * Laplace(2), sampled("0.01", 1, 100), sampled("0.01", 1, 100)]
    directions = ["both", "both", "add", "remove"]
    for law, direction, value in zip(laws, directions, CASES["K6-05"]["expected"]["eps"], strict=True):
        yield Ask("K6-05", law, "eps", "0", value, direction)

    given, expected = CASES["K6-09"]["input"], CASES["K6-09"]["expected"]
    law = sampled(given["q"], given["sigma"])
    yield Ask("K6-09", law, "delta", "0", expected["delta(0)"])
    for delta in given["delta"]:
        yield Ask("K6-09", law, "eps", delta, expected[f"eps({delta})"])


def _mixed() -> Iterator[Ask]:
    given, expected = CASES["K7-01"]["input"], CASES["K7-01"]["expected"]
    law = Composition([(Gaussian(step["sigma"]), step["T"]) for step in given["steps"]])
    yield Ask("K7-01", law, "eps", given["delta"], expected["eps(1e-5)"])
    yield Ask("K7-01", law, "delta", given["eps"], expected["delta(8)"])

    given, expected = CASES["K7-03"]["input"], CASES["K7-03"]["expected"]
    law = sum((sampled(block["q"], block["sigma"], block["T"]) for block in given["blocks"]), Composition())
    for direction in ("remove", "add"):
        yield Ask("K7-03", law, "eps", given["delta"], expected[f"eps_{direction}"], direction)

    given, expected = CASES["K7-07"]["input"], CASES["K7-07"]["expected"]
    for pair in (Laplace(1), Gaussian(1)):  # the parallel composition's delta is the larger of the two
        values = expected[f"delta_{type(pair).__name__.lower()}"]
        for eps, value in zip(given["eps"], values, strict=True):
            yield Ask("K7-07", Composition.of(pair), "delta", eps, value)


def _approximate_dp() -> Iterator[Ask]:
    """The reports about (eps, delta) events."""
    given, expected = CASES["K6-07"]["input"], CASES["K6-07"]["expected"]
    for delta0, steps, value in zip(given["delta0"], given["k"], expected["delta_inf"], strict=True):
        law = steps * ApproximateDP(given["eps0"], delta0)
        for eps in ("inf", "0"):  # the finite losses are all 0
            yield Ask("K6-07", law, "delta", eps, value)

    given, expected = CASES["K7-05"]["input"], CASES["K7-05"]["expected"]
    law = Gaussian(1) + ApproximateDP(0, "0.01")
    for delta in given["delta"]:
        yield Ask("K7-05", law, "eps", delta, expected[f"eps({delta})"])

    expected = CASES["K7-09"]["expected"]
    law = ApproximateDP(1, "0.1") + ApproximateDP(2, "0.2")
    for eps in ("3", "2", "0"):
        yield Ask("K7-09", law, "delta", eps, expected[f"delta({eps})"])
    for delta in ("0.28", "0.27"):
        yield Ask("K7-09", law, "eps", delta, expected[f"eps({delta})"])


_FAMILIES = (_eps_of_sampled, _infinite_mass, _calibrated, _pure_dp, _edges, _mixed, _approximate_dp)
