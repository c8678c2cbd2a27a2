// Checks of what a search keeps for long, so that a fault of the machine is found out.
//
//   word_sum        changes with every single bit of an object
//   Seams           the cubics of neighbouring runs agree at their common end, those at the ends of
//                   the block with P itself
//   is_on_walk      q, x and their right neighbours are the walk's at that place
//   is_table_at     a table of differences against its closed form; is_value_at its values alone
//
// None of them can fail without a fault; docs/faults.md has the proofs, what the checks find, and
// what they do not.
#pragma once

#include "farey_run.cuh"

// No walk has more steps than this: n - 1 <= (9/8) N + 1, N = 4 a2 H Q^2 (lemma 5 of docs/farey.md).
HD double most_steps(const FareyRun<double>& run) {
    return 5 * run.a2 * run.half * run.order * run.order + 4;
}
// Nor has a narrowed crossing more mm: T <= 2 (Q + 1), or 2^31 where Q = 2^30, and slack <= q/8 + 2^11
// (lemma 7).
HD double most_crossed(const FareyRun<double>& run) { return 8 * run.order + 8192; }

// The sum of the object's 64-bit words. It must have no padding.
template <class Object>
HD u64 word_sum(const Object& object) {
    static_assert(sizeof(Object) % sizeof(u64) == 0);
    u64 sum = 0;
    for (unsigned i = 0; i < sizeof(Object) / sizeof(u64); ++i) {
        u64 word;
        __builtin_memcpy(&word, reinterpret_cast<const char*>(&object) + sizeof word * i,
                         sizeof word);
        sum += word;
    }
    return sum;
}

// P(u), cut to 128 bits.
template <int D, int L>
HD u128 value_at(const Block<D, L>& block, i64 u) {
    Limbs<L> value = block.coefficient[D];
NO_UNROLL
    for (int j = D - 1; j >= 0; --j) value = horner_step(value, u, block.coefficient[j]);
    return value.top();
}

// x 2^log2, but no more than 1/2: within that everything is.
HD u128 widened(u128 x, u64 log2) {
    const u128 half = static_cast<u128>(1) << 127;
    return log2 < 127 && x <= half >> log2 ? x << log2 : half;
}

// How far a run's cubic may be from P cut to 128 bits at |t| <= H + 1, unit 2^-128: the run's window
// holds that of P and D + T (lemma 12 of docs/method.md), which grow by (1 + 1/H)^D at most; 2 units
// for what is cut off.
template <int D, int L>
HD u128 seam_of(const Block<D, L>& block) {
    const u64 half = u64{1} << (block.run_log2 - 1);
    const u128 apart = block.run_window_value() - block.window.top() + 2;
    return widened(apart, 1 + 3 * D / (2 * half));
}

HD bool agree(u128 x, u128 y, u128 tolerance) { return magnitude(x - y) <= tolerance; }

// Consecutive runs, looked at one after the other: the cubics of two neighbours agree at the last
// argument of the left one. That is an odd t, so that no bit of a coefficient vanishes modulo 1.
struct Seams {
    u128 value, seam, tolerance;  // at the last argument of the run before; of this seam
    i64 half;

    // Before the first run, which begins at u.
    template <int D, int L>
    HD Seams(const Block<D, L>& block, i64 u)
        : value(value_at(block, u - 1)), seam(seam_of(block)), tolerance(seam),
          half(i64{1} << (block.run_log2 - 1)) {}

    HD bool join(const Cubic& cubic) {
        const bool holds = agree(value, cubic.value(-half - 1), tolerance);
        value = cubic.value(half - 1), tolerance = widened(seam, 1);
        return holds;
    }

    // After the last run, which ends before u.
    template <int D, int L>
    HD bool close(const Block<D, L>& block, i64 u) const {
        return agree(value, value_at(block, u - 1), seam);
    }
};

// Does x stand where the slope of the parabola is a fraction with denominator q? `error` bounds what
// x may be off by.
HD bool is_fraction_at(const FareyRun<double>& run, u128 slope, double q, double x, double error) {
    const double bend = 2 * run.a2 * q;
    const double y = fused(bend, x, signed_fraction(slope * static_cast<u64>(q)));
    return fabs(y - nearest(y)) <= fused(bend, error, 0x1p-50);
}

// Is the walk, after so many steps, where it must be? x and x_right stand at fractions with
// denominators q and right, which are neighbours in the Farey sequence of the run's order.
HD bool is_on_walk(const FareyRun<double>& run, u128 slope, const FareyWalk<double>& walk,
                   double steps) {
    const double q = walk.q, right = walk.right;
    if (!(q >= 1 && q <= run.order && right >= 1 && right <= run.order)) return false;
    const double share = run.drift / LEMMA_6_FACTOR + (steps + 1) * LEMMA_5_ADDITION;
    double error = share * (larger(fabs(walk.x), fabs(walk.x_right)) + run.half);
    if constexpr (FAREY_SPOIL != 0) error += steps * fabs(SPOILED_ADDITION) * run.half;
    const double apart = (walk.x_right - walk.x) * 2 * run.a2 * q * right;
    return q + right > run.order && fabs(apart - 1) <= 0.25 && walk.x >= run.end &&
           is_fraction_at(run, slope, q, walk.x, error) &&
           is_fraction_at(run, slope, right, walk.x_right, error);
}

HD bool is_same(const FareyRun<double>& a, const FareyRun<double>& b) {
    return a.a0 == b.a0 && a.a2 == b.a2 && a.half_inverse == b.half_inverse &&
           a.order == b.order && a.reach == b.reach && a.window == b.window &&
           a.drift == b.drift && a.half == b.half && a.end == b.end;
}

// Is this the table at the domain of 2^log2_n arguments centred at t?
HD bool is_table_at(const DomainTable& table, const Cubic& cubic, i64 t, int log2_n) {
    const DomainTable right = domain_table(cubic, t, log2_n);
    bool same = true;
    for (int j = 0; j <= 3; ++j) same = same && table.c.entry[j] == right.c.entry[j];
    for (int j = 0; j <= 2; ++j) same = same && table.s.entry[j] == right.s.entry[j];
    return same;
}

// Are its values? A difference that is wrong shows up in them one step later, though its top bits
// may cancel in pairs of steps.
HD bool is_value_at(const DomainTable& table, const Cubic& cubic, i64 t, int log2_n) {
    return table.c.value() == folded_value(cubic, t, log2_n) && table.s.value() == cubic.slope(t);
}
