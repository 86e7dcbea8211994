"""A pair given by two finite tables of probabilities."""

from collections.abc import Mapping, Sequence
from fractions import Fraction

from ...core.errors import ParameterError, ParameterTypeError, SchemaError
from ...core.pair import Atom, Pair
from ...core.parameters import Parameter, approximate, evaluate, exact, parameter_text, symbols_of

MOST_OUTCOMES = 100_000


class TablePair(Pair):
    """Finitely many outcomes: P gives outcome i the probability `p[i]`, Q gives it `q[i]`.

    Made by `Pair.from_tables`. The order of the outcomes does not matter, and outcomes with the same loss are one.

    >>> TablePair([0.5, 0.5], [0.5, 0.5]).reduced() is None
    True

    Raises ParameterError for negative probabilities, tables of different lengths, and tables that do not sum to 1.
    """

    def __init__(self, p, q):
        columns = _column(p, "P"), _column(q, "Q")
        if len(columns[0]) != len(columns[1]):
            raise ParameterError("Q", f"{len(columns[1])} entries", f"as long as P ({len(columns[0])} entries)")
        rows = sorted(zip(*columns, strict=True), key=_sort_key)
        merged = _merged([row for row in rows if not (row[0] == 0 and row[1] == 0)])
        self._set(p=tuple(row[0] for row in merged), q=tuple(row[1] for row in merged))

    @property
    def rows(self) -> list[tuple[Parameter, Parameter]]:
        """(p, q) of the outcomes, those with the same ratio added up."""
        return list(zip(self.arguments["p"], self.arguments["q"], strict=True))

    def reduced(self):
        """None where P = Q."""
        return None if self.arguments["p"] == self.arguments["q"] else self

    def mass_at_infinity(self, fn):
        """P of the outcomes that Q never gives."""
        return self._sum(fn, [p for p, q in self.rows if q == 0])

    def mass_at_minus_infinity(self, fn):
        """Q of the outcomes that P never gives."""
        return self._sum(fn, [q for p, q in self.rows if p == 0])

    def _sum(self, fn, values: list[Parameter]):
        exactly = sum((value for value in values if isinstance(value, Fraction)), Fraction(0))
        total = fn.rational(exactly.numerator, exactly.denominator)
        for value in values:
            if not isinstance(value, Fraction):
                total = total + evaluate(value, fn)
        return total

    def atoms(self, fn):
        """One for each ratio p/q, from the largest loss down."""
        found = []
        for p, q in self.rows:
            if p == 0 or q == 0:
                continue
            if isinstance(p, Fraction) and isinstance(q, Fraction):
                ratio = p / q
                loss = fn.log(fn.rational(ratio.numerator, ratio.denominator))
            else:
                loss = fn.log(evaluate(p, fn) / evaluate(q, fn))
            found.append(Atom(loss, evaluate(p, fn), evaluate(q, fn)))
        return found

    # --- identity ---------------------------------------------------------------------------------

    @property
    def free_symbols(self) -> frozenset[str]:
        """Always empty: a table's probabilities are numbers."""
        return frozenset()

    def _bound(self, values: Mapping[str, Parameter]) -> "TablePair":
        return self

    def to_json(self) -> dict:
        """Both columns as text."""
        return {"type": "TablePair", **{name: [parameter_text(v) for v in self.arguments[name]] for name in "pq"}}

    @classmethod
    def from_arguments(cls, **arguments) -> "TablePair":
        """The inverse of `arguments` and of `to_json`."""
        if set(arguments) != {"p", "q"}:
            raise SchemaError(f"TablePair: wrong fields {sorted(arguments)}")
        return cls(**arguments)

    def __repr__(self) -> str:
        columns = [", ".join(parameter_text(v) for v in self.arguments[name]) for name in "pq"]
        return f"TablePair(p=[{columns[0]}], q=[{columns[1]}])"


def from_tables(p, q) -> TablePair:
    """The pair of two mappings outcome -> probability (an outcome left out has probability 0), or of two sequences."""
    if isinstance(p, Mapping) != isinstance(q, Mapping):
        raise ParameterTypeError("Q", q, "a table of the same kind as P: two mappings or two sequences")
    if not isinstance(p, Mapping):
        return TablePair(p, q)
    outcomes = list(dict.fromkeys([*p, *q]))
    return TablePair([p.get(outcome, 0) for outcome in outcomes], [q.get(outcome, 0) for outcome in outcomes])


def _column(values, name: str) -> list[Parameter]:
    if isinstance(values, (str, bytes)) or (not isinstance(values, Sequence) and not hasattr(values, "tolist")):
        raise ParameterTypeError(name, values, "a sequence of probabilities, or a mapping outcome -> probability")
    listed = list(values)
    if not 1 <= len(listed) <= MOST_OUTCOMES:
        raise ParameterError(name, f"{len(listed)} entries", f"a table of 1 to {MOST_OUTCOMES} outcomes")
    column = [_probability(value, name, i) for i, value in enumerate(listed)]
    _check_sum(column, name)
    return column


def _probability(value, name: str, index: int) -> Parameter:
    parameter = exact(value, f"{name}[{index}]")
    if symbols_of(parameter):
        raise ParameterError(f"{name}[{index}]", value, "a number", "Tables hold numbers; densities may hold symbols.")
    number = parameter if isinstance(parameter, Fraction) else approximate(parameter)
    if not number >= 0:
        raise ParameterError(f"{name}[{index}]", value, "a probability, >= 0")
    return parameter


def _check_sum(column: list[Parameter], name: str) -> None:
    cause = "Fractions as text, such as '1/3', are exact; a float means its printed decimal."
    rational = [value for value in column if isinstance(value, Fraction)]
    total = sum(rational, Fraction(0))
    if len(rational) == len(column):
        if total != 1:
            raise ParameterError(name, f"total mass {parameter_text(total)}", "a distribution: it must sum to 1", cause)
        return
    import mpmath

    from ...core.functions import MpmathTable

    with mpmath.workdps(50):
        fn = MpmathTable()
        value = mpmath.fsum(evaluate(v, fn) for v in column)
        if abs(value - 1) > mpmath.mpf(10) ** -40:
            shown = mpmath.nstr(value, 20)
            raise ParameterError(name, f"total mass {shown}", "a distribution: it must sum to 1", cause)


def _sort_key(row: tuple) -> tuple:
    """Rows by falling ratio p/q, infinite ratios first."""
    p, q = (approximate(value) for value in row)
    exactly = [value if isinstance(value, Fraction) else Fraction(0) for value in row]
    if row[1] == 0:
        return (0, 0, str(row))
    ratio = exactly[0] / exactly[1] if all(isinstance(v, Fraction) for v in row) else Fraction(p / q)
    return (1, -ratio, str(row))


def _merged(rows: list[tuple]) -> list[tuple]:
    """Rational rows with the same ratio added up."""
    result: list[tuple] = []
    for p, q in rows:
        if result and all(isinstance(v, Fraction) for v in (p, q, *result[-1])):
            before = result[-1]
            if before[0] * q == p * before[1]:
                result[-1] = (before[0] + p, before[1] + q)
                continue
        result.append((p, q))
    return result
