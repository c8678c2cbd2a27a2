// Two neighbours of a slope in a Farey sequence, by the continued fraction of the slope.
//
// The Farey sequence of order Q holds all reduced fractions a/q with 1 <= q <= Q, and here every
// integer a. Neighbours a0/q0 < a1/q1 in it satisfy a1 q0 - a0 q1 = 1 and q0 + q1 > Q.
#pragma once

#include "port.h"

// a0/q0 <= s < a1/q1; unit of the distances: 1.
struct Neighbours {
    u64 q0, q1;
    double below;  // q0 s - a0
    double above;  // a1 - q1 s
};

// floor(a/b), exact where it is below 2^32, else at least 2^31. The reciprocal is good to 2^-39 after
// a Newton step, so the estimate, made smaller by 2^-37, is never above a/b and less than one below.
HD u64 quotient(u64 a, u64 b) {
    const double divisor = static_cast<double>(b);
    const double y = approximate_reciprocal(divisor);
    const double estimate = static_cast<double>(a) * fused(y, fused(-divisor, y, 1.0), y);
    const u64 q = static_cast<u64>((estimate < 0x1p32 ? estimate : 0x1p32) * (1 - 0x1p-37));
    return a - q * b >= b ? q + 1 : q;
}

// The neighbours of s = slope 2^-128 cut to 64 bits, s*; the distances are those of s itself, each
// to within 2^-51 (its size + its q 2^-64). Where a1/q1 lies between s* and s, `above` is negative.
// 1 <= order < 2^32, so that products of two denominators fit.
//
// Invariant of the loop: a0/q0 <= s* < a1/q1, a1 q0 - a0 q1 = 1, q0, q1 <= Q, below = q0 s* - a0
// >= 0, above = a1 - q1 s* > 0 (both exact, unit 2^-64). The upper fraction is moved to
// (a1 + k a0)/(q1 + k q0), then the lower one to (a0 + k a1)/(q0 + k q1), each with the largest k
// that keeps the invariant. After a move that the order did not cut short, below >= above or
// below < above, so that the next move has k >= 1, unless below = 0: then the upper fraction comes
// as near as the order lets it.
// 1 = 2^64 does not fit: for s* = 0 `above` starts, and stays, at 2^64 - 1, a relative error of
// 2^-64.
HD Neighbours farey_neighbours(u128 slope, u64 order) {
    const u64 s = static_cast<u64>(slope >> 64);
    u64 q0 = 1, q1 = 1, below = s, above = s == 0 ? ~u64{0} : 0 - s;
    while (q0 + q1 <= order) {
        u64 k = below == 0 ? order : quotient(above - 1, below);
        const u64 most1 = order - q1;
        if (k > order || k * q0 > most1) k = quotient(most1, q0);
        q1 += k * q0;
        above -= k * below;
        if (q0 + q1 > order) break;
        k = quotient(below, above);
        const u64 most0 = order - q0;
        if (k > order || k * q1 > most0) k = quotient(most0, q1);
        q0 += k * q1;
        below -= k * above;
    }
    const double rest = static_cast<double>(static_cast<u64>(slope)) * 0x1p-64;  // of s - s*
    return {q0, q1, (static_cast<double>(below) + static_cast<double>(q0) * rest) * 0x1p-64,
            (static_cast<double>(above) - static_cast<double>(q1) * rest) * 0x1p-64};
}

// The denominator of the left neighbour of a0/q0, whose right neighbour is a1/q1: it is the
// largest number <= Q that is -q1 modulo q0.
HD u64 left_denominator(u64 q0, u64 q1, u64 order) {
    return quotient(order + q1, q0) * q0 - q1;
}
