"""Questions with known answers, for kernels that must be trusted before they are used."""

from __future__ import annotations

from gmpy2 import mpq

from hrcase.engine import Block
from hrcase.formats import scale
from hrcase.plan import Tuning, encode
from hrcase.taylor import Stretch, TaylorModel

ARGUMENTS = 5000
DOMAIN_LOG2 = 8


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
