"""Short pieces of text as LaTeX."""

import pytest

from dplab.symbolic.letters import latex_of


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        ("omega(s)", r"\omega(s)"),
        ("alpha-(lambda)", r"\alpha^{-}(\lambda)"),
        ("lambda*", r"\lambda^{*}"),
        ("|delta - delta~|", r"|\delta - \tilde\delta|"),
        ("k (log M)'(lambda*)", r"k (\log M)'(\lambda^{*})"),
        ("mass at -c1", r"\text{mass at }{-}c_{1}"),
        ("for -e0 < s < e0", r"\text{for }{-}e_{0} < s < e_{0}"),
        ("delta_{Q/P}(inf)", r"\delta_{Q/P}(\infty)"),
        ("for 0 <= t <= Delta", r"\text{for }0 \le  t \le  \Delta"),
        ("P^{z+1} Q^{-z}", "P^{z+1} Q^{-z}"),
        ("mass at eps0", r"\text{mass at }\varepsilon_{0}"),
        ("f(alpha(c))", r"f(\alpha(c))"),
    ],
)
def test_latex(text, latex):
    assert latex_of(text) == latex
