// From the cubic of a run to the lines of its domains.
//
// Domain k of a run covers t_k - N/2 <= t < t_k + N/2 with t_k = -2^(R-1) + k N + N/2. With
// s = t - t_k and a_2 = Q''(t_k)/2,
//
//     Q(t) = Q(t_k) + Q'(t_k) s + a_2 s^2 + A_3 s^3.
//
// a_2 s^2 runs through [0, a_2 N^2/4]; its middle a_2 N^2/8 is folded into the constant:
//
//     c_k = Q(t_k) + a_2(t_k) N^2/8,    s_k = Q'(t_k),
//     |Q(t) - c_k - s_k s| <= |a_2| N^2/8 + |A_3| N^3/8.
//
// c_k and s_k are polynomials in k of degree 3 and 2: they are stepped by forward differences,
// additions only.
//
// Lemma (the line in fixed point). Let x = t - (t_k - N/2), b0 = c_k - s_k N/2 modulo 1, a = -s_k
// rounded to the nearest multiple of 2^-B, b = floor(b0 to 2^-B) + E, B = Arithmetic::BITS. If
//
//     E >= |window of Q| + |a_2| N^2/8 + |A_3| N^3/8 + N 2^-(B+1) + 2^-B,
//
// then every t of the domain with |Q(t) cmod 1| <= window of Q has (b - a x) mod 1 <= 2 E.
// Proof. b0 + s_k x = c_k + s_k s modulo 1 and differs from Q(t) by at most the two middle terms.
// Rounding a moves a x by at most 2^-(B+1) x < N 2^-(B+1); the truncation of b0 moves it by less
// than 2^-B. Hence b - E - a x lies, modulo 1, within E of 0. QED
// The rounding of a, not a truncation, is what makes the third term N 2^-(B+1). The host plans with
// B = 52, the coarsest arithmetic there is (hrcase/budget.py), so that a window serves all.
#pragma once

#include "arithmetic.cuh"
#include "polynomial.cuh"

// Forward differences of a polynomial of degree ORDER at consecutive integers, modulo 2^128.
template <int ORDER>
struct Differences {
    u128 entry[ORDER + 1];

    HD u128 value() const { return entry[0]; }
    HD void step() {
UNROLL
        for (int j = 0; j < ORDER; ++j) entry[j] += entry[j + 1];
    }
};

// The differences at 0 of the polynomial k -> value(k).
template <int ORDER, class Function>
HD Differences<ORDER> tabulate(const Function& value) {
    Differences<ORDER> table;
UNROLL
    for (int k = 0; k <= ORDER; ++k) table.entry[k] = value(k);
UNROLL
    for (int level = 1; level <= ORDER; ++level) {
UNROLL
        for (int k = ORDER; k >= level; --k) table.entry[k] -= table.entry[k - 1];
    }
    return table;
}

// c of the domain of 2^log2_n arguments (log2_n >= 2) centred at t.
HD u128 folded_value(const Cubic& cubic, i64 t, int log2_n) {
    return cubic.value(t) + (cubic.half_curvature(t) << (2 * log2_n - 3));
}

// Is there an x in [0, n) with (b - a x) mod 1 <= 2 E? Unit 2^-BITS.
template <class A>
struct Line {
    typename A::Number a, b;
};

// The line of a domain of 2^log2_n arguments from its c and s; E is the window of the lemma.
template <class A>
HD Line<A> line_of(u128 c, u128 s, int log2_n, typename A::Number window) {
    const u128 start = c - (s << (log2_n - 1));
    const u128 half = static_cast<u128>(1) << (127 - A::BITS);
    return {A::fraction(half - s), A::add(A::fraction(start), window)};
}

// c_k and s_k of consecutive domains of one length.
struct DomainTable {
    Differences<3> c;
    Differences<2> s;

    HD void step() {
        c.step();
        s.step();
    }
};

// The table at the domain of 2^log2_n arguments centred at `first`.
HD DomainTable domain_table(const Cubic& cubic, i64 first, int log2_n) {
    const auto centre = [=](int k) { return first + (static_cast<i64>(k) << log2_n); };
    return {tabulate<3>([&](int k) { return folded_value(cubic, centre(k), log2_n); }),
            tabulate<2>([&](int k) { return cubic.slope(centre(k)); })};
}

// The table of a run of 2^run_log2 arguments, at its first domain.
HD DomainTable table_of_run(const Cubic& cubic, int run_log2, int domain_log2) {
    return domain_table(cubic, (i64{1} << (domain_log2 - 1)) - (i64{1} << (run_log2 - 1)),
                        domain_log2);
}
