"""LaTeX as readable text."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.documents.maths import formula_at, replace_maths, to_unicode


@pytest.mark.parametrize(
    ("latex", "text"),
    [
        pytest.param(r"\frac{a+b}{c}", "(a+b)/c", id="fraction of a sum"),
        pytest.param(r"\frac12", "1/2", id="fraction without braces"),
        pytest.param(r"\dfrac{1}{2x}", "1/(2x)", id="product below the bar"),
        pytest.param(r"\frac{\frac{1}{2}}{3}", "(1/2)/3", id="fraction in a fraction"),
        pytest.param(r"\frac{1}{2}x^2", "(1/2)x²", id="fraction before a letter"),
        pytest.param(r"\frac{3}{4} + \frac{1}{4} = 1", "3/4 + 1/4 = 1", id="sum of fractions"),
        pytest.param("x^2", "x²", id="power"),
        pytest.param("x^{n+1}", "xⁿ⁺¹", id="power of a sum"),
        pytest.param("x^10", "x¹⁰", id="power of two digits without braces"),
        pytest.param(r"2^{\frac{1}{2}}", "2^(1/2)", id="power without a sign of its own"),
        pytest.param("10^{-3}", "10⁻³", id="negative power"),
        pytest.param("{a+b}^2", "(a+b)²", id="power of a group"),
        pytest.param("u_{n+1}=2u_n+3", "uₙ₊₁=2uₙ+3", id="indices"),
        pytest.param("v_{AB}", "v_AB", id="index without a sign of its own"),
        pytest.param("x_1^2", "x₁²", id="index and power"),
        pytest.param(r"90^\circ", "90°", id="degrees"),
        pytest.param("f'(x)", "f′(x)", id="derivative"),
        pytest.param(r"\sqrt{x+1}", "√(x+1)", id="root of a sum"),
        pytest.param(r"\sqrt{16}", "√16", id="root of a number"),
        pytest.param(r"\sqrt[3]{8}", "∛8", id="cube root"),
        pytest.param(r"\sqrt[n]{x}", "ⁿ√x", id="nth root"),
        pytest.param(r"a\leq b \geq c \neq d", "a ≤ b ≥ c ≠ d", id="comparisons"),
        pytest.param(r"3\times4 \div 2", "3 × 4 ÷ 2", id="times and divided by"),
        pytest.param(r"x = \pm 3", "x = ±3", id="sign before a number"),
        pytest.param(r"x=\frac{-b\pm\sqrt{\Delta}}{2a}", "x=(-b ± √Δ)/(2a)", id="quadratic formula"),
        pytest.param(r"S = \pi r^2", "S = πr²", id="pi"),
        pytest.param(r"\vec{u}", "u⃗", id="vector"),
        pytest.param(r"\sum_{i=1}^{n} x_i", "∑ᵢ₌₁ⁿ xᵢ", id="sum"),
        pytest.param(r"\int_0^1 x^2\,dx", "∫₀¹ x² dx", id="integral"),
        pytest.param(r"\int_{-\infty}^{+\infty} f", "∫(-∞ → +∞) f", id="integral with bounds that have no small signs"),
        pytest.param(r"\lim_{x \to 0}\frac{\sin x}{x}", "lim(x→0) (sin x)/x", id="limit"),
        pytest.param(r"2\sin x+\cos(2x)", "2 sin x+cos(2x)", id="functions"),
        pytest.param(r"\log_{10} x", "log₁₀ x", id="logarithm"),
        pytest.param(r"\forall x\in\mathbb{R}", "∀x ∈ ℝ", id="sets"),
        pytest.param(r"x\not\in A", "x ∉ A", id="negation"),
        pytest.param(r"\begin{cases} x+y=3 \\ x-y=1 \end{cases}", "{ x+y=3 ; x-y=1", id="system"),
        pytest.param(r"\begin{pmatrix}1&2\\3&4\end{pmatrix}", "(1 2 ; 3 4)", id="matrix"),
        pytest.param(r"\begin{align} a&=b+c\\ d&=e\end{align}", "a = b+c\nd = e", id="aligned lines"),
        pytest.param(r"12\,500\text{ FCFA}", "12\u00a0500 FCFA", id="thousands and text"),
        pytest.param(r"\ce{2H2 + O2 -> 2H2O}", "2H₂ + O₂ → 2H₂O", id="chemistry"),
        pytest.param(r"\left\{1;2\right\}", "{1;2}", id="brackets"),
        pytest.param(r"50\%", "50%", id="percent"),
        pytest.param(r"\foo{x}", "foo x", id="unknown command"),
        pytest.param(r"\Delta = b^2 - 4ac", "Δ = b² - 4ac", id="spaces around signs stay"),
        pytest.param("", "", id="empty"),
    ],
)
def test_latex_is_shown_in_unicode(latex, text):
    """Each construction a school book uses has one readable form."""
    assert to_unicode(latex) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param(r"soit $x^2$, \(y_1\), \[\frac{1}{2}\] et $$\pi$$", "soit x², y₁, 1/2 et π", id="all four signs"),
        pytest.param("5 $ et 10 $", "5 $ et 10 $", id="prices with the sign behind"),
        pytest.param("de $5 à $10", "de $5 à $10", id="prices with the sign before"),
        pytest.param("entre $5 et 10$", "entre $5 et 10$", id="prices with both"),
        pytest.param("5$ et 10$", "5$ et 10$", id="prices without space"),
        pytest.param("US$5 ou US$6", "US$5 ou US$6", id="another dollar"),
        pytest.param(r"\$5 et \$6", r"\$5 et \$6", id="escaped dollars"),
        pytest.param("`$x^2$` et $x$", "`$x^2$` et x", id="code between backticks"),
        pytest.param("```\n$x^2$\n```\n$y^2$", "```\n$x^2$\n```\ny²", id="fenced code"),
        pytest.param("coûte $5 mais $x$ vaut 3", "coûte $5 mais x vaut 3", id="a price before a formula"),
        pytest.param(r"$ \frac{1}{2} $", "1/2", id="LaTeX with space inside its signs"),
        pytest.param(r"\begin{align}a&=b\end{align}", "a = b", id="bare environment"),
        pytest.param("rien", "rien", id="no formula"),
    ],
)
def test_formulas_in_a_text_are_replaced_and_prices_left(text, shown):
    """Only what stands between the signs of a formula changes."""
    assert replace_maths(text) == shown


def test_a_formula_says_where_it_ends_and_whether_it_stands_alone():
    """The parser of Markdown needs both."""
    assert formula_at("a $$x$$ b", 2) == (7, "x", True)
    assert formula_at("a $x$ b", 2) == (5, "x", False)
    assert formula_at("a $ b", 2) is None


@settings(deadline=None)
@given(st.text(alphabet=st.sampled_from("\\{}^_&$[]()`ab1 \nfracsqtle"), max_size=80))
def test_no_formula_makes_it_fail(text):
    """Broken LaTeX gives some text and never an exception, alone or in a message."""
    assert isinstance(to_unicode(text), str)
    assert isinstance(replace_maths(text), str)


@pytest.mark.parametrize(
    "hostile",
    [
        "{" * 20000,
        "\\frac" * 20000,
        "x^{" * 5000,
        "\\sqrt[" * 9000,
        "$" * 50000,
        "\\(" * 20000,
        "`" * 20000 + "$x$",
        "$a" * 20000,
        "\\begin{cases}" * 5000,
    ],
    ids=lambda h: h[:8],
)
def test_hostile_formulas_take_no_time(hostile):
    """Neither deep nesting nor thousands of unmatched signs keep a worker busy."""
    started = time.process_time()
    to_unicode(hostile)
    replace_maths(hostile)
    assert time.process_time() - started < 3
