"""Left sides and conditions: short pieces of text in the paper's letters, and the same as LaTeX.

omega(s)   alpha+(lambda)   delta_k(eps)   omega_{Q/P}(s)   D_a   t_1(s)   delta(inf)
"""

import re

_GREEK = ("omega", "delta", "Delta", "lambda", "alpha", "kappa", "sigma", "mu", "pi", "theta")
_WORDS = {
    **{name: rf"\{name}" for name in _GREEK},
    **{name: rf"\{name}" for name in ("log", "exp", "max", "min")},
    "eps": r"\varepsilon",
    "phi": r"\varphi",
    "Phi": r"\Phi",
    "inf": r"\infty",
    "oo": r"\infty",
}
_SIGNS = {"<=": r"\le ", ">=": r"\ge ", "->": r"\to ", "+-": r"\pm ", "...": r"\dots ", "*": r"\,", "!=": r"\ne "}
_TOKEN = re.compile(
    r"(?P<raised>alpha(?P<sign_of>[+-])(?=\(|\b|,)|(?P<starred>lambda|z)\*)"
    r"|(?P<tilde>delta~)"
    rf"|(?P<prose>(?<![A-Za-z\\])(?:(?!(?:{'|'.join(_WORDS)})(?![A-Za-z]))[A-Za-z]{{2,}}'?[ ,]*)+)"
    r"|(?P<word>[A-Za-z]+)(?P<number>\d*)"
    r"|(?P<sign><=|>=|->|\+-|\.\.\.|!=|\*)"
    r"|(?P<other>.)"
)

_UNARY = re.compile(r"(^|\\text\{[^}]*\}|[<>=(;|] ?)-")
_ROOT = re.compile(r"(?P<name>sqrt|(?<![A-Za-z])exp)\((?P<of>[^()]*)\)")
_INNER = {"sqrt": r"\sqrt", "exp": "e^"}
_QUOTED = re.compile(r"`([^`]*)`")


def latex_of(text: str) -> str:
    r"""The text as LaTeX: known words as letters, other words upright.

    >>> latex_of("alpha+(lambda)"), latex_of("delta_k(eps)"), latex_of("omega_{Q/P}(s)")
    ('\\alpha^{+}(\\lambda)', '\\delta_k(\\varepsilon)', '\\omega_{Q/P}(s)')
    >>> latex_of("s > log(sqrt(5))")
    's > \\log(\\sqrt{5})'
    >>> latex_of("s < log(1 + exp(-1/b)/10)")
    's < \\log(1 +e^{{-}1/b}/10)'
    >>> latex_of("kappa1"), latex_of("for s > 0")
    ('\\kappa_{1}', '\\text{for }s > 0')
    """
    if root := _ROOT.search(text):
        before, after = latex_of(text[: root.start()]), latex_of(text[root.end() :])
        return rf"{before}{_INNER[root['name']]}{{{latex_of(root['of'])}}}{after}"
    shown = "".join(_token(found) for found in _TOKEN.finditer(text)).strip()
    return _UNARY.sub(r"\1{-}", shown)


def prose_latex(text: str) -> str:
    r"""Prose whose formulas stand between backticks, with the formulas as inline LaTeX.

    >>> prose_latex("is smallest at `lambda*`")
    'is smallest at $\\lambda^{*}$'
    """
    return _QUOTED.sub(lambda found: f"${latex_of(found[1])}$", text)


def prose_text(text: str) -> str:
    """The same for a terminal: without the backticks."""
    return text.replace("`", "")


def _token(found: re.Match) -> str:
    if found["raised"]:
        return rf"\alpha^{{{found['sign_of']}}}" if found["sign_of"] else rf"{_WORDS.get(found['starred'], 'z')}^{{*}}"
    if found["tilde"]:
        return r"\tilde\delta"
    if found["prose"]:
        return rf"\text{{{found['prose']}}}"
    if found["word"]:
        word = _WORDS.get(found["word"], found["word"])
        return word + (f"_{{{found['number']}}}" if found["number"] else "")
    if found["sign"]:
        return _SIGNS[found["sign"]]
    return found["other"]
