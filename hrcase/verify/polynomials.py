"""Blocks: the polynomial against f, each term of the error budget, and the windows that follow.

The inequalities are those of docs/method.md, 4 and 5; the code shares nothing with hrcase.taylor
and hrcase.budget.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from math import comb

from flint import arb
from gmpy2 import mpq

from hrcase.enclosure import OutOfReach, lower_bound, upper_bound
from hrcase.formats import scale
from hrcase.spec import SearchSpec
from hrcase.verify.axis import Axis, enclosures
from hrcase.verify.balls import coefficients, hull, precision
from hrcase.verify.document import Block, Certificate, Unit
from hrcase.verify.findings import Contradiction, Findings, at
from hrcase.verify.monotone import one_axis
from hrcase.verify.tiling import with_pieces

REMAINDER_BITS = 128
RUN_BITS, GROUP_BITS, GROUP_TERMS = 128, 256, 6
LINE_BITS = 52


class Geometry:
    """Where the arguments of a block lie: x = (centre + u) 2^exponent, lo <= u < hi."""

    def __init__(self, spec: SearchSpec, lo: int, hi: int) -> None:
        m, self.exponent = spec.inp.parts(lo)
        half = (hi - lo) // 2
        self.centre, self.lo, self.hi = m + half, -half, hi - lo - half
        self.reach = max(half, self.hi)
        self.first = lo

    def u(self, ordinal: int) -> int:
        """The u of an argument."""
        return ordinal - self.first + self.lo


def windows(block: Block) -> tuple[int, int, tuple[int, int]]:
    """The windows that follow from the stated errors: of P in 2^-(64 limbs), of the cubic of a run
    in 2^-128, of lines in 2^-64."""
    of_block = _ceil(sum(block.errors[:3]) * (1 << 64 * block.limbs))
    of_run = sum(block.errors)
    lines = [0, 0]
    if block.domain:
        quadratic, cubic = block.curve
        for i, n in enumerate((scale(1, block.domain), scale(1, block.domain - 3))):
            line = scale(n, -LINE_BITS - 1) + scale(1, -LINE_BITS)
            whole = of_run + quadratic * n**2 / 8 + cubic * n**3 / 8 + line
            lines[i] = _ceil(whole * (1 << 64))
    return of_block, _ceil(of_run * (1 << RUN_BITS)), (lines[0], lines[1])


def _ceil(value: mpq) -> int:
    return int(-(-value.numerator // value.denominator))


def digest_of(blocks: list[Block]) -> str:
    """The digest of blocks as docs/certificate.md writes them; that of the ones that ran."""
    total = hashlib.sha256()
    for block in blocks:
        total.update(_line(block).encode() + b"\n")
    return total.hexdigest()


def _line(block: Block) -> str:
    """All numbers of a block in hexadecimal, the coefficients modulo 1."""
    numbers = [block.lo, block.hi - block.lo]
    if not block.limbs:
        return " ".join([*(f"{number:x}" for number in numbers), "evaluated"])
    of_block, of_run, lines = windows(block)
    numbers += [block.limbs, of_block, block.run, of_run, block.domain, *lines]
    modulus = 1 << 64 * block.limbs
    numbers += [int(c * modulus) % modulus for c in block.polynomial]
    group = "-" if block.group is None else f"{block.group:x}"
    return " ".join([block.method, group, *(f"{number:x}" for number in numbers)])


def check_polynomials(
    certificate: Certificate, findings: Findings, on_unit: Callable[[], None]
) -> dict[int, Axis]:
    """Check all blocks; the axes of the searched pieces, by their first ordinals.

    Args:
        on_unit: called after each unit.

    Raises:
        Contradiction: a polynomial, a term of a budget, a window or a digest is wrong.
    """
    spec = certificate.spec
    axes: dict[int, Axis] = {}
    blocks = 0
    for piece, unit in with_pieces(certificate):
        on_unit()
        _check_digest(spec, unit)
        if piece.rule != "searched":
            continue
        if piece.lo not in axes:
            axes[piece.lo] = one_axis(spec, piece.lo, piece.hi)
        for block in unit.blocks:
            if block.limbs:
                check_block(spec, axes[piece.lo], block)
                blocks += 1
    if axes:
        findings.proved.append(
            f"f stays in one output binade on each of {len(axes)} searched pieces; "
            f"{blocks} polynomials, remainders and error budgets, with ball arithmetic"
        )
    return axes


def _check_digest(spec: SearchSpec, unit: Unit) -> None:
    actual = digest_of(unit.blocks)
    if actual != unit.ran:
        raise Contradiction(
            "blocks",
            f"the blocks of the unit at {at(spec.inp, unit.lo)} have digest {actual}, those "
            f"that ran had {unit.ran}",
        )


def check_block(spec: SearchSpec, axis: Axis, block: Block) -> None:
    """Prove the inequalities of one block."""
    place = Geometry(spec, block.lo, block.hi)
    degree = len(block.polynomial) - 1
    target, remainder, rounding, dropped, truncation = block.errors

    def no_less(stated: mpq, bound: mpq, what: str) -> None:
        if stated < bound:
            raise Contradiction(
                what,
                f"the block at {at(spec.inp, block.lo)} states {float(stated):.9g} where "
                f"{float(bound):.9g} is needed",
            )

    _check_form(spec, block)
    no_less(target, axis.window, "target")
    no_less(rounding, _distance_of_coefficients(spec, axis, place, block), "polynomial")
    no_less(remainder, remainder_bound(spec, axis, block.lo, block.hi, degree + 1), "remainder")
    _check_points(spec, axis, place, block)
    needed = _run_terms(block, place.reach)
    no_less(dropped, needed[0], "dropped terms")
    no_less(truncation, needed[1], "truncation")
    for stated, bound in zip(block.curve, needed[2:], strict=False):
        no_less(stated, bound, "curvature")


def _check_form(spec: SearchSpec, block: Block) -> None:
    """Numbers are of the form that the lemmas suppose, and windows are small enough for them."""
    of_block, of_run, lines = windows(block)
    modulus = 1 << 64 * block.limbs
    is_whole = all((c * modulus).denominator == 1 for c in block.polynomial)
    is_small = of_block < modulus // 2 and of_run < 1 << RUN_BITS - 1 and max(lines) < 1 << 62
    has_run = {"farey": 2 <= block.run <= 31, "scan": 1 <= block.run <= 60}
    has_domain = 6 <= block.domain <= min(block.run, 30)
    is_known = has_run.get(block.method, block.method in ("regular", "lefevre") and has_domain)
    if not (is_whole and is_small and is_known and min(block.errors) >= 0 and block.limbs >= 2):
        raise Contradiction(
            "form",
            f"the block at {at(spec.inp, block.lo)} has numbers that no kernel takes: method "
            f"{block.method!r}, limbs {block.limbs}, run {block.run}, domain {block.domain}, "
            f"windows {of_block}, {of_run}, {lines}",
        )


def _distance_of_coefficients(spec: SearchSpec, axis: Axis, place: Geometry, block: Block) -> mpq:
    """A bound of sum |c_j - C_j| h^j, c_j the Taylor coefficients, the first two modulo 1."""
    total = mpq(0)
    with precision(64 * block.limbs + spec.out.precision + 192):
        series = coefficients(
            spec.function, arb((place.centre, place.exponent)), len(block.polynomial) - 1
        )
        for j, (c, stated) in enumerate(zip(series, block.polynomial, strict=True)):
            ends = [
                scale(end, place.exponent * j) / axis.spacing - (0 if j else axis.offset) - stated
                for end in _ends(c)
            ]
            if j < 2:
                nearest = (2 * ends[0] + 1) // 2
                ends = [end - nearest for end in ends]
            total += max(map(abs, ends)) * place.reach**j
    return total


def _ends(ball: arb) -> tuple[mpq, mpq]:
    """The ends of a ball; far apart where it is not finite."""
    try:
        if ball.is_finite():
            return lower_bound(ball), upper_bound(ball)
    except OutOfReach:
        pass
    return scale(-1, 1 << 20), scale(1, 1 << 20)


def remainder_bound(spec: SearchSpec, axis: Axis, lo: int, hi: int, order: int) -> mpq:
    """A bound of the Taylor remainder of an order (Lagrange), from the two halves of a range."""
    place = Geometry(spec, lo, hi)
    middle = (lo + hi) // 2
    halves = [(lo, middle + 1), (middle, hi)] if middle > lo else [(lo, hi)]
    with precision(REMAINDER_BITS):
        ends = [
            end
            for half in halves
            for end in _ends(coefficients(spec.function, hull(spec.inp, *half), order)[order])
        ]
    return scale(max(map(abs, ends)), place.exponent * order) / axis.spacing * place.reach**order


def _check_points(spec: SearchSpec, axis: Axis, place: Geometry, block: Block) -> None:
    """P against f itself, not its series, at both ends and in between."""
    allowed = block.errors[1] + block.errors[2]
    for ordinal in (block.lo, (2 * block.lo + block.hi) // 3, block.hi - 1):
        u = place.u(ordinal)
        p = sum(c * u**j for j, c in enumerate(block.polynomial))
        distance = mpq(1)
        for ends in enclosures(spec, ordinal, 64 * block.limbs + spec.out.precision + 64):
            low, high = (axis.position(y) - p for y in ends)
            if high - low <= allowed:
                nearest = (2 * low + 1) // 2
                distance = min(abs(end - nearest) for end in (low, high))
                break
        if distance > allowed:
            raise Contradiction(
                "polynomial",
                f"at {at(spec.inp, ordinal)} it is {float(distance):.9g} off, {float(allowed):.9g} "
                "is stated",
            )


def _shifted(magnitudes: list[mpq], reach: int) -> list[mpq]:
    """Bounds of |P^(j)/j!| for |u| <= reach, from bounds of the coefficients."""
    return [
        sum(comb(i, j) * m * reach ** (i - j) for i, m in enumerate(magnitudes) if i >= j)
        for j in range(len(magnitudes))
    ]


def _run_terms(block: Block, reach: int) -> tuple[mpq, mpq, mpq, mpq]:
    """What lemmas 12, 13a and 14 need: dropped terms, truncation, bounds of a_2 and A_3."""
    magnitudes = [abs(c) for c in block.polynomial]
    run, ulp = 1 << block.run, scale(1, -RUN_BITS)
    half = mpq(run, 2)
    bounds = _shifted(magnitudes, reach + run) + [mpq(0)] * 4
    cut = ulp * sum(half**j for j in range(4))
    cubic = bounds[3] + ulp
    curve = bounds[2] + ulp + 3 * cubic * run, cubic
    if block.group is None:
        return sum(b * half**j for j, b in enumerate(bounds) if j >= 4), cut, *curve
    wide = half * (1 << block.group)
    loss = scale(1, -GROUP_BITS) if 64 * block.limbs > GROUP_BITS else mpq(0)
    of_group = _shifted(magnitudes, reach + int(2 * wide))
    kept = [b + loss for b in of_group[:GROUP_TERMS]]
    dropped = sum(b * wide**j for j, b in enumerate(of_group) if j >= GROUP_TERMS)
    dropped += sum(b * half**j for j, b in enumerate(_shifted(kept, int(wide))) if j >= 4)
    return dropped, cut + loss * sum(wide**j for j in range(GROUP_TERMS)), *curve
