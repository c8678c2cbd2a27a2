"""How many cases there should be, where the statistical law says something.

If F modulo 1 is spread evenly, the number of cases among n arguments is Poisson's with mean 2 w n.
That holds for no function by proof; it is a check against loss on a large scale.
"""

from __future__ import annotations

from bisect import bisect_left
from math import sqrt

from hrcase.enclosure import lower_bound
from hrcase.formats import scale
from hrcase.functions import Expression
from hrcase.functions.base import Function
from hrcase.spec import SearchSpec
from hrcase.verify.axis import Axis
from hrcase.verify.balls import coefficients, hull, precision
from hrcase.verify.document import Certificate, Piece
from hrcase.verify.findings import Contradiction, Findings, at

SWEPT = 1 << 16
"""Integers that F must sweep beside its linear part for the law to be asked: what the first and the
last of them add or lack is then far less than a deviation."""

DEVIATIONS = 8
LEAST_EXPECTED = 20.0

ALGEBRAIC = "it is algebraic"
NOT_EVEN = {
    "sqrt": ALGEBRAIC,
    "rsqrt": ALGEBRAIC,
    "cbrt": ALGEBRAIC,
    "exp2m1": "2^(x + n) - 1 is nearly 2^n (2^x - 1) for integers n",
    "log2": "log2(2^n x) = n + log2(x)",
    "log2p1": "log2(1 + 2^n x) is nearly n + log2(1 + x)",
}


def check_law(certificate: Certificate, axes: dict[int, Axis], findings: Findings) -> None:
    """Compare counts with the law, piece by piece and in all.

    Raises:
        Contradiction: they are DEVIATIONS standard deviations apart.
    """
    spec = certificate.spec
    reason = _why_not(spec.function)
    if reason is not None:
        findings.stated.append(f"the law for counts does not apply: {reason}")
        return
    cases = sorted(case for unit in certificate.units for case in unit.cases)
    expected, found, left_out = 0.0, 0, 0
    for piece in certificate.pieces:
        if piece.rule != "searched":
            continue
        axis = axes[piece.lo]
        if not _sweeps(spec, piece, axis):
            left_out += 1
            continue
        mean = 2 * float(axis.window) * (piece.hi - piece.lo)
        count = bisect_left(cases, piece.hi) - bisect_left(cases, piece.lo)
        _compare(f"the piece at {at(spec.inp, piece.lo)}", mean, count)
        expected, found = expected + mean, found + count
    _compare("all pieces to which it applies", expected, found)
    if expected:
        off = (found - expected) / sqrt(expected)
        findings.sampled.append(
            f"the law 2w: {found} cases where it expects {expected:.1f} ({off:+.1f} standard "
            f"deviations); {left_out} searched pieces are too straight for it"
        )


def _why_not(f: Function) -> str | None:
    """Why cases of a function come in copies, or not by chance; None where they should."""
    if f.copies_from is not None:
        return f.copies
    if isinstance(f, Expression):
        return "whether cases of an expression are images of others is not known"
    return ALGEBRAIC if ":" in f.name else NOT_EVEN.get(f.name)


def _sweeps(spec: SearchSpec, piece: Piece, axis: Axis) -> bool:
    """Whether F sweeps SWEPT integers on a piece by its curvature alone, and is no quadratic.

    The values of a quadratic with simple coefficients repeat, as those of exp near 0 do.
    """
    with precision(128):
        balls = coefficients(spec.function, hull(spec.inp, piece.lo, piece.hi), 3)[2:]
        if not all(ball.is_finite() for ball in balls):
            return False
        quadratic, cubic = (lower_bound(ball.abs_lower()) for ball in balls)
    length = scale(piece.hi - piece.lo, spec.inp.parts(piece.lo)[1])
    return bool(quadratic * length**2 > SWEPT * axis.spacing and cubic * length**3 > axis.spacing)


def _compare(where: str, mean: float, count: int) -> None:
    if not (mean < LEAST_EXPECTED or abs(count - mean) <= DEVIATIONS * sqrt(mean)):
        raise Contradiction("law", f"{where}: {count} cases, where 2 w n is {mean:.1f}")
