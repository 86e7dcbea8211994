"""The public questions of the symbolic route; each answers with an `Exact` or a `SymbolicPLD`."""

import sympy

from ..core.composition import Composition
from ..core.directions import parse_direction, single_directions
from ..core.errors import NoClosedFormError, ParameterError
from ..core.evaluation import evaluate_expression
from ..core.expression import Expression, is_name
from ..core.parameters import evaluate, exact, privacy_parameter, probability, symbols_of
from ..core.results import Exact
from .compositions import Kinds, Parts, closed_delta, closed_regions
from .generating import composed_mgf
from .inversion import invert_regions, no_inverse
from .law import SymbolicPLD, symbolic_pld
from .overlap import simplest
from .table import SympyTable


def delta(composition, eps, direction: str = "both") -> Exact:
    """The tight delta(eps) in closed form.

    `composition` is a mechanism or a composition, `eps` any real number in nats, inf, a symbol or its name, or a
    formula as text. Symbols are positive, eps may be negative. `direction` is "forward" (= "remove"), "backward"
    (= "add"), or "both", the larger of the two.

    Source: Lemma 2 of Koskela et al. (2021), arXiv 2006.07134; the result's `reason` says more.

    >>> from dplab import Gaussian, Laplace
    >>> print(delta(Gaussian("sigma"), "eps"))
    delta = Phi(1/(2*sigma) - eps*sigma) - exp(eps)*Phi(-eps*sigma - 1/(2*sigma))
    >>> import mpmath
    >>> mpmath.nstr(delta(Laplace(1), eps=0.5).evaluate(40), 40)
    '0.2211992169285951317548297330216793527032'

    Raises ParameterError for bad parameters, NoClosedFormError that names the stage that stopped.
    """
    composition = simplest(composition)
    eps = privacy_parameter(eps)
    directions = single_directions(direction, composition.symmetric)
    fn = _table(composition, eps)
    x = evaluate(eps, fn)
    answers = []
    for name in directions:
        if x.is_infinite:
            answers.append(_at_infinity(composition.plds(name == "backward"), fn, x))
        else:
            answers.append(_closed_or_defined(composition, name == "backward", fn, x))
    return _larger(answers, directions, "delta", fn)


def _closed_or_defined(composition: Composition, backward: bool, fn: SympyTable, x) -> tuple[sympy.Expr, str]:
    """The closed form, or for one step without one its unevaluated definition and the stage that stopped."""
    try:
        return closed_delta(Kinds(composition, backward, fn), x)
    except NoClosedFormError as stopped:
        defined = composition.parts[0][0].definition(fn, x, backward) if composition.steps == 1 else None
        if defined is None:
            raise
        return defined, f"unevaluated, with a numeric evaluator: {stopped}"
    finally:
        fn.sample = None


def log_delta(composition, eps, direction: str = "both") -> Exact:
    """log delta(eps) in closed form; -oo where delta is 0. Arguments and errors as for `delta`.

    >>> from dplab import Laplace
    >>> log_delta(Laplace(1), eps=2).expression
    -oo
    """
    answer = delta(composition, eps, direction)
    logarithm = _log(answer.expression)
    written = None if answer.written is None else _log(answer.written)
    return Exact(logarithm, "log delta", answer.reason, written, answer.definitions)


def epsilon(composition, delta, direction: str = "both") -> Exact:
    """The smallest eps >= 0 (nats) with delta(eps) <= delta, where that has a closed form.

    `delta` is in [0, 1], a number or a symbol. oo where delta is below the mass at infinity, 0 where it is at least
    delta(0).

    >>> from dplab import Laplace, RandomizedResponse
    >>> epsilon(Laplace("b"), "delta").expression
    Piecewise((2*log(1 - delta) + 1/b, delta < 1 - exp(-1/(2*b))), (0, True))
    >>> epsilon(RandomizedResponse(0.75), 0).expression
    log(3)

    Raises ParameterError for delta outside [0, 1], NoClosedFormError where delta(eps) cannot be solved for eps (the
    Gaussian mechanism, long compositions).
    """
    composition = simplest(composition)
    target = probability(delta, "delta")
    directions = single_directions(direction, composition.symmetric)
    fn = _table(composition, target)
    if not composition.parts:
        return Exact(sympy.S.Zero, "eps", "nothing is released")
    x, bound = _unused_symbol("eps", composition, target), evaluate(target, fn)
    answers = []
    for name in directions:
        kinds = Kinds(composition, name == "backward", fn)
        regions = closed_regions(kinds, x)
        if regions is None:
            raise no_inverse(closed_delta(kinds, x)[0])
        law = kinds.single_law()
        balanced = law is not None and law.infinite == law.missing == 0
        answers.append((invert_regions(regions, x, bound, fn, balanced), "delta(eps) solved region by region"))
    return _larger(answers, directions, "eps", fn)


def pld(composition, direction: str = "forward", variable: str = "s") -> SymbolicPLD:
    """The privacy loss distribution of a mechanism or a composition, in one direction.

    >>> from dplab import Gaussian
    >>> print(pld(Gaussian(1)))
    density exp(-(s - 1/2)**2/2)/sqrt(2*pi) for -oo < s < oo
    delta(inf) = 0

    Raises ParameterError for direction "both" where the two differ, NoClosedFormError where the convolution is not
    closed (its M(z) and its delta may be closed all the same).
    """
    composition = simplest(composition)
    name = _one_direction(composition, direction)
    if not isinstance(variable, str) or not is_name(variable):
        raise ParameterError("variable", variable, "a name that formulas may use, such as s")
    fn = _table(composition, Expression(("name", variable)))
    symbol = sympy.Symbol(variable, real=True)
    return symbolic_pld(Kinds(composition, name == "backward", fn), symbol, name)


def mgf(composition, z="z", direction: str = "forward") -> Exact:
    """M(z) = E_omega[e^{zs}] as a function of z (a symbol or its name, a number, a formula as text).

    >>> from dplab import Gaussian
    >>> mgf(Gaussian("sigma")).expression
    exp(z*(z + 1)/(2*sigma**2))

    Raises ParameterError for direction "both" where the two differ, NoClosedFormError where M(z) is not closed.
    """
    composition = simplest(composition)
    name = _one_direction(composition, direction)
    order = exact(z, "z")
    fn = _table(composition, order)
    parts = composition.plds(name == "backward")
    return Exact(composed_mgf(parts, fn, evaluate(order, fn)), "M", "M multiplies under composition")


def _table(composition: Composition, *variables) -> SympyTable:
    """A table in which symbols of the question, unlike parameters of mechanisms, may be negative."""
    return SympyTable(real=symbols_of(*variables) - composition.free_symbols)


def _unused_symbol(name: str, composition: Composition, *variables) -> sympy.Symbol:
    taken = composition.free_symbols | symbols_of(*variables)
    while name in taken:
        name += "_"
    return sympy.Symbol(name, real=True)


def _one_direction(composition: Composition, direction: str) -> str:
    name = parse_direction(direction)
    if name == "both" and not composition.symmetric:
        allowed = '"forward" (= "remove") or "backward" (= "add")'
        raise ParameterError("direction", direction, allowed, "The two laws differ.")
    return "forward" if name == "both" else name


def _at_infinity(parts: Parts, fn: SympyTable, x: sympy.Expr) -> tuple[sympy.Expr, str]:
    """delta(oo) is the mass at infinity of all parts, delta(-oo) is 1."""
    if x == -sympy.oo:
        return sympy.S.One, "delta(-inf) = 1"
    finite = sympy.Mul(*[(1 - pld.mass_at_infinity(fn)) ** k for pld, k in parts])
    return sympy.S.One - finite, "mass at infinity"


def _larger(answers: list[tuple[sympy.Expr, str]], directions: tuple[str, ...], quantity, fn: SympyTable) -> Exact:
    """The larger of the directions' results: chosen where they are numbers, written as Max where they are not."""
    written, reason = answers[0]
    if len(answers) == 1 or written == answers[1][0]:
        return _result(written, quantity, reason, fn)
    spelled = [fn.spelled_out(answer) for answer, _ in answers]
    if not any(expression.free_symbols for expression in spelled):
        numbers = [evaluate_expression(expression, 30, {}) for expression in spelled]
        written, reason = answers[0] if numbers[0] >= numbers[1] else answers[1]
        return _result(written, quantity, reason, fn)
    letters = [sympy.Symbol(f"{quantity}_{name}", real=True) for name in directions]
    sides = tuple((letter, answer) for letter, (answer, _) in zip(letters, answers, strict=True))
    return Exact(
        sympy.Max(*spelled, evaluate=False),
        quantity,
        f"{reason}; the larger of the two directions' compositions",
        sympy.Max(*letters, evaluate=False),
        (*sides, *fn.definitions(*(answer for answer, _ in answers))),
    )


def _result(written: sympy.Expr, quantity, reason: str, fn: SympyTable) -> Exact:
    definitions = fn.definitions(written)
    if not definitions:
        return Exact(written, quantity, reason)
    return Exact(fn.spelled_out(written), quantity, reason, written, definitions)


def _log(expression: sympy.Expr) -> sympy.Expr:
    if isinstance(expression, sympy.Piecewise):
        return sympy.Piecewise(*((_log(value), condition) for value, condition in expression.args))
    return -sympy.oo if expression == 0 else sympy.log(expression)
