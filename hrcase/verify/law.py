"""How many cases there should be, where the statistical law says something.

If F modulo 1 is spread evenly, the number of cases among n arguments is Poisson's with mean 2 w n.
That holds for no function by proof; it is a check against loss on a large scale.
"""

from __future__ import annotations

from bisect import bisect_left
from math import sqrt

from hrcase.enclosure import lower_bound
from hrcase.formats import scale
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

NOT_EVEN = {
    "sqrt": "algebraic",
    "rsqrt": "algebraic",
    "cbrt": "algebraic",
    "exp2": "integer shifts of x give images of one case",
    "exp2m1": "integer shifts of x give nearly images of one case",
    "log2": "powers of two times x give images of one case",
    "sinpi": "periods give images",
    "cospi": "periods give images",
    "tanpi": "periods give images",
}


def check_law(certificate: Certificate, axes: dict[int, Axis], findings: Findings) -> None:
    """Compare counts with the law, piece by piece and in all.

    Raises:
        Contradiction: they are DEVIATIONS standard deviations apart.
    """
    spec = certificate.spec
    reason = NOT_EVEN.get(spec.function_name)
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
            f"deviations); {left_out} searched pieces sweep too few integers for it"
        )


def _sweeps(spec: SearchSpec, piece: Piece, axis: Axis) -> bool:
    """Whether F, its linear part left out, sweeps SWEPT integers on a piece."""
    with precision(128):
        ball = coefficients(spec.function, hull(spec.inp, piece.lo, piece.hi), 2)[2]
        if not ball.is_finite():
            return False
        curve = lower_bound(ball.abs_lower())
    length, step = piece.hi - piece.lo, spec.inp.parts(piece.lo)[1]
    return bool(scale(curve, 2 * step) * length**2 > SWEPT * axis.spacing)


def _compare(where: str, mean: float, count: int) -> None:
    if not (mean < LEAST_EXPECTED or abs(count - mean) <= DEVIATIONS * sqrt(mean)):
        raise Contradiction("law", f"{where}: {count} cases, where 2 w n is {mean:.1f}")
