"""Questions with known answers, for kernels that must be trusted before they are used."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from gmpy2 import mpq

from hrcase.domain import split
from hrcase.engine import Block, Engine
from hrcase.errors import SelfTestFailed
from hrcase.formats import FORMATS, scale
from hrcase.pieces import Rule
from hrcase.plan import DEGREES, LIMB_STEP, MOST_LIMBS, Tuning, encode, plan
from hrcase.spec import SearchSpec, interval
from hrcase.taylor import Stretch, TaylorModel

ARGUMENTS = 5000
DOMAIN_LOG2 = 8

FEW_SHAPES = ((3, 2), (8, 6))
ALL_SHAPES = tuple(product(DEGREES, range(LIMB_STEP, MOST_LIMBS + 1, LIMB_STEP)))
"""Shapes of kernels (degree, limbs): all that a plan may ask for."""

METHODS = ("farey", "regular", "lefevre")
SLICE_BITS = 20
SLICE_PLACES = (mpq(1), mpq(-300), mpq(1, 3))
SLICE_LENGTH = scale(1, -24)
"""Relative: 2^28 arguments, a few hundred candidates."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What an engine said to one question.

    Attributes:
        question: which one.
        candidates: how many it found.
        known: how many there are.
        source: who knows: "arithmetic" in Python's integers, or another method of the engine.
        is_right: it found exactly those that there are.
    """

    question: str
    candidates: int
    known: int
    source: str
    is_right: bool


def selftest(engine: Engine, is_long: bool = False) -> Iterator[Answer]:
    """Ask an engine what is known; its answers, a wrong one being the last.

    Every method of the engine on a block of each shape of kernels, whose candidates are found in
    Python's integers. The long test takes all shapes, and compares the methods on slices of exp.

    Raises:
        SelfTestFailed: an answer is wrong.
        NoDevice: the kernels cannot be compiled.
    """
    shapes = ALL_SHAPES if is_long else FEW_SHAPES
    engine.prepare(shapes)
    for degree, limbs in shapes:
        block, expected = known_answers(degree, limbs)
        for method in engine.methods:
            found = engine.run(block, method)[0].tolist()
            question = f"degree {degree}, {limbs} limbs, {method}"
            yield from _judged(engine, question, found, expected, "arithmetic")
    if is_long:
        yield from _slices(engine)


def _slices(engine: Engine) -> Iterator[Answer]:
    for place in SLICE_PLACES:
        double = FORMATS["binary64"]
        region = interval(double, place, place + abs(place) * SLICE_LENGTH, "")
        spec = SearchSpec("exp", double, double, SLICE_BITS, "all", region)
        expected = _candidates(engine, spec, METHODS[0])
        for method in METHODS[1:]:
            found = _candidates(engine, spec, method)
            question = f"exp at {float(place):.3g}, {method}"
            yield from _judged(engine, question, found, expected, METHODS[0])


def _candidates(engine: Engine, spec: SearchSpec, method: str) -> list[int]:
    """Ordinals of all candidates of the searched pieces, ascending."""
    return [
        part.ordinal(int(u))
        for piece in split(spec)
        if piece.rule is Rule.SEARCHED
        for planned in plan(spec, piece, Tuning(method=method))
        for part in planned.slices(engine.slice_domains)
        if part.block is not None
        for u in engine.run(part.block, part.method)[0]
    ]


def _judged(
    engine: Engine, question: str, found: list[int], expected: list[int], source: str
) -> Iterator[Answer]:
    answer = Answer(question, len(found), len(expected), source, found == expected)
    yield answer
    if not answer.is_right:
        raise SelfTestFailed(
            f"the self-test of {engine.name} failed: {question}: other candidates than are known, "
            f"{answer.candidates} where there are {answer.known}; the device, its memory or the "
            "compiler is faulty; do not use it; take another --device"
        )


def known_answers(degree: int, limbs: int) -> tuple[Block, list[int]]:
    """A block of some thousand arguments and its candidates, found by evaluating each exactly.

    The polynomial has terms of every degree that matter on the block, and its length is no
    multiple of anything; about one argument in sixty is a candidate.
    """
    stretch = Stretch(0, 0, -ARGUMENTS // 2, ARGUMENTS // 2 + 1)
    golden = scale(0x9E3779B97F4A7C15, -64)
    coefficients = [golden, golden / 3]
    sizes = (-11 * j if j <= 8 else -16 * j + 40 for j in range(2, degree + 1))
    coefficients += [
        (-1) ** j * golden * scale(1, size) if size > -64 * limbs else mpq(0)
        for j, size in enumerate(sizes)
    ]
    exact = tuple((c, c) for c in coefficients)
    window = mpq(1, 128)
    model, tuning = TaylorModel(exact, mpq(0)), Tuning(DOMAIN_LOG2, method="regular")
    planned = encode(0, stretch, model, window, limbs, tuning)
    assert planned is not None and planned.block is not None and planned.method == "regular"
    return planned.block, candidates_by_definition(planned.block)


def candidates_by_definition(block: Block) -> list[int]:
    """Every u of a block with |P(u) cmod 1| <= window, in Python's integers."""
    modulus = 1 << 64 * block.limbs
    found = []
    for u in range(block.lo, block.hi):
        value = 0
        for coefficient in reversed(block.coefficients):
            value = value * u + coefficient
        if (value + block.window) % modulus <= 2 * block.window:
            found.append(u)
    return found
