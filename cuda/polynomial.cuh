// The polynomial of a block and the cubic of a run.
//
// A block is P(u) = sum C_j u^j, j = 0..D, modulo 1 with a unit of 2^-(64 L): exact integers, no
// rounding anywhere. A run is 2^R consecutive u around a centre u_c; on it P is replaced by the
// integer cubic Q(t), t = u - u_c, with a unit of 2^-128. What the replacement drops (terms above
// the third, bits below 2^-128) is bounded by the host and lies inside the run's window.
#pragma once

#include "limbs.cuh"

// Everything a search of one block needs; the host fills it word by word in this order, so all
// members are 64 bits wide and there is no padding.
template <int D, int L>
struct Block {
    Limbs<L> coefficient[D + 1];
    Limbs<L> window;       // < 1/2, unit 2^-(64 L)
    u64 run_window[2];     // < 1/2, unit 2^-128, least significant limb first
    u64 domain_window[2];  // < 1/4, unit 2^-64: of a domain, of a subdomain
    i64 lo, hi;            // lo <= u < hi
    u64 run_log2;          // R
    u64 domain_log2;       // N = 2^domain_log2 arguments make a domain

    HD u128 run_window_value() const {
        return (static_cast<u128>(run_window[1]) << 64) | run_window[0];
    }
    HD i64 run_start(u64 run) const {
        return static_cast<i64>(static_cast<u64>(lo) + (run << run_log2));
    }
    HD u64 run_count() const {
        const u64 length = static_cast<u64>(hi) - static_cast<u64>(lo);
        return (length >> run_log2) + ((length & ((u64{1} << run_log2) - 1)) != 0);
    }
};

// Is |P(u) cmod 1| <= window? The definition of a candidate, in exact integers:
// P(u) + window modulo 1 lies in [0, 2 window], and 2 window < 1 does not wrap.
template <int D, int L>
HD bool is_candidate(const Block<D, L>& block, i64 u) {
    Limbs<L> value = block.coefficient[D];
NO_UNROLL
    for (int j = D - 1; j >= 0; --j) value = horner_step(value, u, block.coefficient[j]);
    value += block.window;
    Limbs<L> bound = block.window;
    bound += block.window;
    return value <= bound;
}

// Q(t) = A_0 + A_1 t + A_2 t^2 + A_3 t^3 modulo 2^128; the unit is 2^-128.
struct Cubic {
    u128 coefficient[4];

    HD u128 value(i64 t) const {
        const u128 x = static_cast<u128>(static_cast<i128>(t));
        return ((coefficient[3] * x + coefficient[2]) * x + coefficient[1]) * x + coefficient[0];
    }
    HD u128 slope(i64 t) const {
        const u128 x = static_cast<u128>(static_cast<i128>(t));
        return (3 * coefficient[3] * x + 2 * coefficient[2]) * x + coefficient[1];
    }
    // Q''(t) / 2, the coefficient of s^2 in Q(t + s).
    HD u128 half_curvature(i64 t) const {
        return coefficient[2] + 3 * coefficient[3] * static_cast<u128>(static_cast<i128>(t));
    }
};

// The first K coefficients of P(centre + t). Horner's scheme on polynomials in t: if S(t) is the
// shift of what was read so far, the next coefficient C makes it S(t) (centre + t) + C. What becomes
// of higher terms is never needed below, so K are kept whatever the degree.
template <int K, int N, int L>
HD void taylor_shift(const Limbs<L> (&coefficient)[N], i64 centre, Limbs<L> (&shifted)[K]) {
    shifted[0] = coefficient[N - 1];
UNROLL
    for (int i = 1; i < K; ++i) shifted[i] = {};
NO_UNROLL
    for (int j = N - 2; j >= 0; --j) {
UNROLL
        for (int i = K - 1; i > 0; --i)
            shifted[i] = horner_step(shifted[i], centre, shifted[i - 1]);
        shifted[0] = horner_step(shifted[0], centre, {});
        shifted[0] += coefficient[j];  // here, not in the step: 12 limbs just fit the registers
    }
}

// The Taylor shift of P to the centre of a run, cut to its four lowest coefficients and to
// 128 bits.
template <int D, int L>
HD Cubic cubic_of_run(const Block<D, L>& block, u64 run) {
    Limbs<L> shifted[4];
    taylor_shift(block.coefficient, block.run_start(run) + (i64{1} << (block.run_log2 - 1)),
                 shifted);
    return {{shifted[0].top(), shifted[1].top(), shifted[2].top(), shifted[3].top()}};
}

// P around the centre of 2^group_log2 consecutive runs, cut to six coefficients of 256 bits: what
// that drops is bounded by the host and lies inside the run's window. A run's cubic comes much
// cheaper from here than from P.
struct Group {
    Limbs<4> coefficient[6];

    // Of run `place` of the group.
    HD Cubic cubic_of_run(u64 place, int run_log2, int group_log2) const {
        const i64 centre = static_cast<i64>((2 * place + 1) << (run_log2 - 1)) -
                           (i64{1} << (run_log2 + group_log2 - 1));
        Limbs<4> shifted[4];
        taylor_shift(coefficient, centre, shifted);
        return {{shifted[0].top(), shifted[1].top(), shifted[2].top(), shifted[3].top()}};
    }
};

template <int D, int L>
HD Group group_of_runs(const Block<D, L>& block, u64 group, int group_log2) {
    const int length_log2 = static_cast<int>(block.run_log2) + group_log2;
    Limbs<L> shifted[6];
    taylor_shift(block.coefficient,
                 block.run_start(group << group_log2) + (i64{1} << (length_log2 - 1)), shifted);
    Group result;
UNROLL
    for (int i = 0; i < 6; ++i)
        for (int k = 0; k < 4; ++k)
            result.coefficient[i].limb[k] = L + k >= 4 ? shifted[i].limb[L + k - 4 > 0 ? L + k - 4 : 0] : 0;
    return result;
}
