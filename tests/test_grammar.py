"""Texts of expressions: what they mean, how they are spelled, and what is wrong with others."""

from __future__ import annotations

import time

import pytest
from gmpy2 import mpq
from hypothesis import given
from hypothesis import strategies as st

from hrcase.errors import ExpressionError
from hrcase.functions import REGISTRY, function_by_name
from hrcase.functions.exactly import rational_value
from hrcase.functions.grammar import parse
from hrcase.functions.tree import (
    Binary,
    Call,
    Constant,
    Negative,
    Node,
    Number,
    Power,
    Variable,
    spell,
)

X = Variable()


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1+2*x", 7),
        ("(1+2)*x", 9),
        ("10-x-2", 5),
        ("12/x/2", 2),
        ("12/(x/2)", 8),
        ("-x^2", -9),
        ("(-x)^2", 9),
        ("2*-x", -6),
        ("--x", 3),
        ("+x", 3),
        ("x**2", 9),
        ("x^-2", mpq(1, 9)),
        ("x^(-2)", mpq(1, 9)),
        ("x^+2*x", 27),
        ("-x^2/x", -3),
        ("0.25001*x", mpq(75003, 100000)),
        ("1e-3*x", mpq(3, 1000)),
        ("0x1.8p-3*x", mpq(9, 16)),
        ("0X.8*x", mpq(3, 2)),
        (".5*x", mpq(3, 2)),
        ("5.*x", 15),
        (" x \t+ 1 ", 4),
        ("exp(x-3)+sqrt(x*x)", 4),
        ("exp2(x)", 8),
    ],
)
def test_values(text: str, value: mpq | int) -> None:
    assert rational_value(parse(text, REGISTRY), mpq(3)) == value


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("exp( -x*x ) / 2", "exp(-x*x)/2"),
        ("x**3", "x^3"),
        ("((x))", "x"),
        ("(x*x)+(x/2)", "x*x+x/2"),
        ("x-(x-1)", "x-(x-1)"),
        ("x/(x*2)", "x/(x*2)"),
        ("(-x)^2", "(-x)^2"),
        ("-(x^2)", "-x^2"),
        ("(x^2)^3", "(x^2)^3"),
        ("0.250*x", "0.25*x"),
        ("1e2*x", "100*x"),
        (".08*x", "0.08*x"),
        ("0.00001*x", "0.00001*x"),
        ("0.000001*x", "1e-6*x"),
        ("0x1p-1*x", "0.5*x"),
        ("0x1p-1074*x", "0x1p-1074*x"),
        ("1e-30*x", "1e-30*x"),
        ("1e30*x", "1e30*x"),
        ("(2e30+1)*x", "(2e30+1)*x"),
        ("2000000000000000000000000000001*x", "0x1.93e5939a08ce9dbd480000001p+100*x"),
        ("pi*e*sin(x)", "pi*e*sin(x)"),
    ],
)
def test_one_spelling(text: str, canonical: str) -> None:
    assert function_by_name(f"expr:{text}").name == f"expr:{canonical}"


numbers = st.one_of(
    st.builds(lambda n, k: mpq(n, 10**k), st.integers(0, 10**25), st.integers(0, 30)),
    st.builds(lambda n, k: mpq(n) * mpq(2) ** k, st.integers(0, 2**70), st.integers(-2000, 2000)),
)
leaves = st.one_of(
    st.just(X), st.builds(Number, numbers), st.sampled_from([Constant("pi"), Constant("e")])
)
calls = st.sampled_from([REGISTRY[name] for name in ("exp", "log2p1", "cbrt", "tgamma")])
trees: st.SearchStrategy[Node] = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.builds(Negative, inner),
        st.builds(Binary, st.sampled_from("+-*/"), inner, inner),
        st.builds(Power, inner, st.integers(-1000, 1000)),
        st.builds(Call, calls, inner),
    ),
    max_leaves=20,
)


@given(trees)
def test_a_spelling_is_read_as_the_same_tree(tree: Node) -> None:
    assert parse(spell(tree), REGISTRY) == tree


@pytest.mark.parametrize(
    ("text", "at", "words"),
    [
        ("", 1, "is empty"),
        ("   ", 4, "is empty"),
        ("1+", 3, "ends where a number"),
        ("1+*x", 3, "'*' stands where a number"),
        ("(x", 1, "is not closed"),
        ("x*(1+exp(x)", 3, "is not closed"),
        ("x)", 2, "has no opening one"),
        ("(x+1))*2", 6, "has no opening one"),
        ("2x", 2, "write, say, 2*x"),
        ("x x", 3, "write, say, 2*x"),
        ("x(2)", 1, "x is no function"),
        ("pi(2)*x", 1, "pi is no function"),
        ("sin x", 1, "has no argument"),
        ("1+sine(x)", 3, "did you mean sin?"),
        ("EXP(x)", 1, "did you mean exp?"),
        ("y+1", 1, "the variable is x"),
        ("x^y", 3, "an exponent is an integer constant"),
        ("x^2.5", 3, "an exponent is an integer constant"),
        ("x^(1/2)", 3, "is one integer"),
        ("x^2^3", 4, "powers of powers need parentheses"),
        ("2^x", 3, "exp2(y) for 2^y"),
        ("x^1001", 3, "exponents beyond 1000"),
        ("x^99999999999999999999", 3, "exponents beyond 1000"),
        ("x^-", 4, "an exponent is an integer constant"),
        ("1.2.3*x", 1, "is no number"),
        ("0x1.2.3*x", 1, "is no number"),
        ("1e99999999999*x", 1, "beyond 2^14000"),
        ("x+1e5000", 3, "beyond 2^14000"),
        ("0x1p-99999*x", 1, "beyond 2^14000"),
        ("x²", 2, "'²' has no meaning"),
        ("√(x)", 1, "'√' has no meaning"),
        ("x\x00", 2, "U+0000"),
        ("x\n+1", 2, "U+000A"),
        ("sin(х)", 5, "has no meaning"),  # a Cyrillic letter
        ("x,1", 2, "',' has no meaning"),
        ("x;import os", 2, "';' has no meaning"),
        ("__import__(x)", 1, "unknown name"),
        ("1+pi", 1, "has no x"),
        ("()", 2, "')' stands where a number"),
        ("exp()", 5, "')' stands where a number"),
        ("pown:3(x)", 5, "':' has no meaning"),
    ],
)
def test_errors_point_at_the_character(text: str, at: int, words: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        function_by_name(f"expr:{text}")
    message = str(caught.value)
    assert words in message and f"at character {at} of the expression" in message
    shown, caret = caught.value.pointer.split("\n")
    assert caret == " " * (at + 1) + "^"
    assert shown.isascii() and shown.isprintable()


@pytest.mark.parametrize(
    "text",
    [
        "(" * 100 + "x" + ")" * 100,
        "(" * 1000,
        "exp(" * 60 + "x" + ")" * 60,
        "-" * 1000 + "x",
        "x" + "+x" * 900,
        "x" + "*x" * 900,
        "x" * 100_000,
        "9" * 1999 + "*x" + "9",
        "1e" + "9" * 1900,
        "x^" + "9" * 1900,
        "\U0001f600" * 1000,
    ],
)
def test_hostile_texts_are_refused_at_once(text: str) -> None:
    started = time.process_time()
    with pytest.raises(ExpressionError) as caught:
        function_by_name(f"expr:{text}")
    assert time.process_time() - started < 0.5
    assert len(str(caught.value)) < 300 and len(caught.value.pointer) < 200


def test_the_largest_expressions_are_evaluated() -> None:
    """Deep, long and with large powers: refused or not, nothing overflows a stack."""
    texts = [
        "exp(-" * 25 + "x" + ")" * 25,
        "(" * 50 + "x" + ")" * 50,
        "x" + "+x*x" * 50,
        "((x^1000)^1000)^1000",
        "x^-1000+9" + "9" * 1000,
    ]
    for text in texts:
        f = function_by_name(f"expr:{text}")
        assert f.contains(mpq(9, 8))
        f.exact(mpq(9, 8))


@given(st.text(alphabet="x1.e+-*/^() pi0sn\u00b2", max_size=30))
def test_any_text_is_an_expression_or_an_error(text: str) -> None:
    try:
        name = function_by_name(f"expr:{text}").name
    except ExpressionError:
        return
    assert function_by_name(name).name == name
