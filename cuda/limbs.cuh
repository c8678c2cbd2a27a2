// Integers modulo 2^(64 L): L limbs, least significant first, two's complement.
// All operations are exact modulo 2^(64 L); L is a compile-time constant, so that every loop
// unrolls and the limbs live in registers.
#pragma once

#include "port.h"

template <int L>
struct Limbs {
    static_assert(L >= 2, "the two top limbs of a coefficient go into the cubic of a run");
    u64 limb[L];

    HD Limbs& operator+=(const Limbs& other) {
        u64 carry = 0;
UNROLL
        for (int i = 0; i < L; ++i) limb[i] = add_carry(limb[i], other.limb[i], carry);
        return *this;
    }

    // floor(value / 2^(64 (L - 2))), that is, the value truncated to a unit of 2^-128.
    HD u128 top() const { return (static_cast<u128>(limb[L - 1]) << 64) | limb[L - 2]; }
};

template <int L>
HD bool operator<=(const Limbs<L>& left, const Limbs<L>& right) {
    u64 borrow = 0;
UNROLL
    for (int i = 0; i < L; ++i) subtract_borrow(right.limb[i], left.limb[i], borrow);
    return borrow == 0;
}

// x t + c. As an unsigned number t is t + 2^64 when t < 0, so the product of the unsigned
// numbers is 2^64 x too large then: that is taken off one limb higher.
template <int L>
HD Limbs<L> horner_step(const Limbs<L>& x, i64 t, const Limbs<L>& c) {
    const u64 factor = static_cast<u64>(t);
    const u64 negative = t < 0 ? ~u64{0} : u64{0};
    Limbs<L> result;
    u64 carry = 0, borrow = 0;
UNROLL
    for (int i = 0; i < L; ++i) {
        const u64 product = multiply_add(x.limb[i], factor, c.limb[i], carry);
        const u64 excess = i == 0 ? u64{0} : (x.limb[i - 1] & negative);
        result.limb[i] = subtract_borrow(product, excess, borrow);
    }
    return result;
}
