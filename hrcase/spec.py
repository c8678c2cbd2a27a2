"""What a search is asked: a frozen value that names its answer."""

from __future__ import annotations

from dataclasses import dataclass

from gmpy2 import mpq

from hrcase.errors import InputError
from hrcase.formats import Format, Infinite, scale
from hrcase.functions import Function, function_by_name
from hrcase.lattice import ROUNDINGS, Lattice, lattice

SIGNS = ("both", "positive", "negative")
LEAST_BITS = 3


def default_bits(out: Format) -> int:
    """M = p - 9, never below 6: about a thousand cases a binade."""
    return max(out.precision - 9, 6)


@dataclass(frozen=True, slots=True)
class Region:
    """The arguments asked for.

    Attributes:
        text: the condition on x as the claim says it; "" for every x.
        ranges: half-open ranges of ordinals, ascending and disjoint, before the function's own
            domain is taken into account.
        is_open: no range was asked for, so that it ends where the function's domain does.
    """

    text: str
    ranges: tuple[tuple[int, int], ...]
    is_open: bool = False


def everything(inp: Format) -> Region:
    """Every number of the format."""
    return Region("", ((-inp.max_ordinal, inp.max_ordinal + 1),), is_open=True)


def interval(inp: Format, lo: mpq | Infinite, hi: mpq | Infinite, text: str) -> Region:
    """lo <= x < hi, as real numbers.

    Raises:
        InputError: the interval is reversed or holds no number of the format.
    """
    if not lo < hi:
        raise InputError(f"the interval {text} is empty or reversed; give LO,HI with LO < HI")
    ordinals = inp.ceil_ordinal(lo), inp.ceil_ordinal(hi)
    if ordinals[0] >= ordinals[1]:
        raise InputError(f"no {inp.name} number lies in {text}; widen the interval")
    return Region(text, (ordinals,))


def exponent_range(inp: Format, first: int, last: int, sign: str) -> Region:
    """2^first <= |x| < 2^(last+1), of one sign or both.

    Raises:
        InputError: the range is reversed or holds no number of the format, or no such sign.
    """
    _require_sign(sign)
    if first > last:
        raise InputError(f"the exponent range {first}:{last} is reversed; give A:B with A <= B")
    least = inp.parts(1)[1] if inp.subnormals else inp.emin
    if first < least or last > inp.emax:
        raise InputError(
            f"{inp.name} has numbers in the binades {least} to {inp.emax}, "
            f"not in all of {first}:{last}; give a range inside"
        )
    lo, hi = inp.ceil_ordinal(scale(1, first)), inp.ceil_ordinal(scale(1, last + 1))
    ranges = {
        "positive": ((lo, hi),),
        "negative": ((1 - hi, 1 - lo),),
        "both": ((1 - hi, 1 - lo), (lo, hi)),
    }[sign]
    words = "" if sign == "both" else f", x {'>' if sign == 'positive' else '<'} 0"
    return Region(f"2^{first} <= |x| < 2^{last + 1}{words}", ranges)


def one_sign(inp: Format, sign: str) -> Region:
    """Every number of one sign, zero left out; or everything.

    Raises:
        InputError: no such sign.
    """
    _require_sign(sign)
    if sign == "both":
        return everything(inp)
    if sign == "positive":
        return Region("x > 0", ((1, inp.max_ordinal + 1),), is_open=True)
    return Region("x < 0", ((-inp.max_ordinal, 0),), is_open=True)


def _require_sign(sign: str) -> None:
    if sign not in SIGNS:
        raise InputError(f"no sign {sign!r}; give one of {', '.join(SIGNS)}")


@dataclass(frozen=True, slots=True)
class SearchSpec:
    """One search: function, formats, threshold, breakpoints, arguments.

    Attributes:
        function_name: a name of the registry.
        inp, out: formats of x and of f(x).
        bits: M; a case lies within 2^-M ulp of a breakpoint.
        rounding: which breakpoints count (lattice.ROUNDINGS).
        region: the arguments asked for.

    Raises:
        InputError: a field is out of its range.
    """

    function_name: str
    inp: Format
    out: Format
    bits: int
    rounding: str
    region: Region

    def __post_init__(self) -> None:
        function_by_name(self.function_name)
        most = 4 * self.out.precision
        if not LEAST_BITS <= self.bits <= most:
            raise InputError(
                f"--bits {self.bits} is out of range; for {self.out.name} give "
                f"{LEAST_BITS} <= M <= {most} (default {default_bits(self.out)})"
            )
        if (
            self.rounding == "nearest"
            and not self.out.subnormals
            and self.bits < self.out.precision
        ):
            # Just below 2^emin an ulp is 2^emin, and the least midpoint above is 2^-p of it away:
            # from M = p on no midpoint of another binade is within reach (hrcase.lattice).
            raise InputError(
                f"{self.out.name} has no subnormals, so that midpoints above 2^{self.out.emin} are "
                f"within 2^-{self.bits} ulp of values below it; give --bits of at least "
                f"{self.out.precision}, or another rounding"
            )
        if self.rounding not in ROUNDINGS:
            raise InputError(f"no rounding {self.rounding!r}; give one of {', '.join(ROUNDINGS)}")

    @property
    def function(self) -> Function:
        """The registry's entry."""
        return function_by_name(self.function_name)

    @property
    def threshold(self) -> mpq:
        """2^-M, in ulps."""
        return scale(1, -self.bits)

    def lattice(self, key: int) -> Lattice:
        """The breakpoints asked for in one output binade."""
        return lattice(self.out, key, self.rounding)

    def window(self, key: int) -> mpq:
        """The threshold in units of the lattice."""
        return self.lattice(key).window(self.bits)
