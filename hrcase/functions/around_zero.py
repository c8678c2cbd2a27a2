"""Expressions around 0, where divisions may have removable singularities: sin(x)/x.

Two power series are carried along: that at 0, whose coefficients tell what vanishes there, and
that over a ball X that holds 0, whose coefficients enclose f^(j)(y)/j! for every y of X.

Lemma. Let g be analytic on X and g(0) = 0. Then h = g/t, continued, is analytic on X, and
h^(n)(y)/n! is a mean of g^(n+1)/(n+1)! over the points between 0 and y. So a division by t moves
both series by one place.
Proof. h(y) is the integral of g'(u y) over 0 <= u <= 1; n derivations give that of
u^n g^(n+1)(u y), and (n+1) u^n is a weight with integral 1. QED
"""

from __future__ import annotations

from dataclasses import dataclass

from flint import arb, arb_series

from hrcase.functions.balls import applied_series, constant_value, nonzero, power_series
from hrcase.functions.tree import Binary, Call, Constant, Negative, Node, Number, Power, Variable
from hrcase.functions.undefined import NotDefined, Undecided


@dataclass(frozen=True, slots=True)
class Around0:
    """The series of f at 0, and over a ball that holds 0."""

    at: arb_series
    over: arb_series

    @property
    def order(self) -> int:
        """How many coefficients at 0 vanish before the first one that does not, or may not."""
        order = 0
        while order < self.at.prec and self.at[order] == 0:
            order += 1
        return order

    def moved(self, places: int) -> Around0:
        """f/t^places."""
        return Around0(_moved(self.at, places), _moved(self.over, places))

    def slope_sign(self, slope: arb) -> int:
        """The sign of f' - slope where t > 0 on the ball; 0 where that is not shown.

        With f' - slope of order v, (f' - slope)/t^v is a mean of its coefficient v over the ball.
        """
        sign, _ = self._slope(slope)
        return sign

    def slope_sign_below(self, slope: arb) -> int:
        """The same where t < 0."""
        sign, order = self._slope(slope)
        return -sign if order % 2 else sign

    def _slope(self, slope: arb) -> tuple[int, int]:
        for order in range(min(self.at.prec, self.over.prec) - 1):
            less = slope if order == 0 else arb(0)
            if self.at[order + 1] - less == 0:
                continue
            value = self.over[order + 1] - less
            if value.is_finite() and not value.contains(0):
                return (1 if value > 0 else -1), order
            return 0, order
        return 0, 0


def around_zero(node: Node, ball: arb, terms: int) -> Around0:
    """f around 0.

    Args:
        ball: holds 0.

    Raises:
        Undecided: it has a pole at 0, or may be undefined elsewhere on the ball.
    """
    try:
        return _around(node, ball, terms)
    except NotDefined:
        raise Undecided from None


def _around(node: Node, ball: arb, terms: int) -> Around0:
    def both(of: Node) -> Around0:
        return _around(of, ball, terms)

    match node:
        case Number() | Constant():
            constant = arb_series([constant_value(node)], prec=terms)
            return Around0(constant, constant)
        case Variable():
            return Around0(arb_series([0, 1], prec=terms), arb_series([ball, 1], prec=terms))
        case Negative(of):
            inner = both(of)
            return Around0(-inner.at, -inner.over)
        case Binary("/", left, right):
            return _quotient(both(left), both(right))
        case Binary("*", left, right):
            first, second = both(left), both(right)
            return Around0(first.at * second.at, first.over * second.over)
        case Binary(operator, left, right):
            first, second = both(left), both(right)
            if operator == "+":
                return Around0(first.at + second.at, first.over + second.over)
            return Around0(first.at - second.at, first.over - second.over)
        case Power(base, exponent):
            inner = both(base)
            return Around0(power_series(inner.at, exponent), power_series(inner.over, exponent))
        case Call(function, of):
            inner = both(of)
            at, over = (applied_series(function, one) for one in (inner.at, inner.over))
            return Around0(at, over)


def _quotient(left: Around0, right: Around0) -> Around0:
    """A common power of t is cancelled."""
    order = right.order
    if left.order < order:
        raise Undecided
    left, right = left.moved(order), right.moved(order)
    nonzero(right.at[0])
    nonzero(right.over[0])
    return Around0(left.at * right.at.inv(), left.over * right.over.inv())


def _moved(series: arb_series, places: int) -> arb_series:
    terms = series.prec - places
    if terms < 1:
        raise Undecided
    return arb_series([series[j + places] for j in range(terms)], prec=terms)
