// What the three phases of a search do with one domain, one subdomain, one stretch of arguments.
// The loops over them are in host.cpp (CPU) and kernels.cu (device).
//
//   Phase 1: a domain of N arguments is tested. Most have no candidate and are done.
//   Phase 2: one that fails is split into 8 subdomains, each tested with its own, narrower window.
//   Phase 3: the arguments of a failing subdomain are scanned one by one: first with the cubic of
//            the run (a *hit*), then with the exact decision on P (a *candidate*).
//
// No phase misses a candidate: the windows of the tests contain that of the cubic, which contains
// that of P; and only the last, exact decision says yes.
#pragma once

#include "polynomial.cuh"
#include "regular.cuh"
#include "tabulate.cuh"

constexpr int SUBDOMAINS_LOG2 = 3;
constexpr int SUBDOMAINS = 1 << SUBDOMAINS_LOG2;

// Phase 1 for the domain the table stands at. True: it holds no candidate.
template <class Method, int D, int L, class Counter>
HD bool domain_is_empty(const Block<D, L>& block, const DomainTable& table, Counter& counter) {
    const int log2_n = static_cast<int>(block.domain_log2);
    const u64 window = block.domain_window[0];
    const Line line = line_of(table.c.value(), table.s.value(), log2_n, window);
    return Method::none(line.a, line.b, 2 * window, u64{1} << log2_n, counter);
}

// Phase 2 for the subdomain of 2^(domain_log2 - 3) arguments that begins at t.
template <class Method, int D, int L, class Counter>
HD bool subdomain_is_empty(const Block<D, L>& block, const Cubic& cubic, i64 t,
                           Counter& counter) {
    const int log2_n = static_cast<int>(block.domain_log2) - SUBDOMAINS_LOG2;
    const u64 window = block.domain_window[1];
    const i64 centre = t + (i64{1} << (log2_n - 1));
    const Line line =
        line_of(folded_value(cubic, centre, log2_n), cubic.slope(centre), log2_n, window);
    return Method::none(line.a, line.b, 2 * window, u64{1} << log2_n, counter);
}

// Phase 3: calls hit(t) for each of the `count` arguments from t on with |Q(t) cmod 1| <= window,
// that is (Q(t) + window) mod 1 <= 2 window. The top limb is compared first: it decides all but
// about window of them, and floor keeps the order, so no hit is lost.
template <class Sink>
HD void scan(const Cubic& cubic, u128 window, i64 t, u64 count, Sink&& hit) {
    Differences<3> table = tabulate<3>([&](int k) { return cubic.value(t + k); });
    table.entry[0] += window;
    const u128 bound = 2 * window;
    const u64 top_bound = static_cast<u64>(bound >> 64);
    for (u64 i = 0; i < count; ++i) {
        if (static_cast<u64>(table.value() >> 64) <= top_bound && table.value() <= bound)
            hit(t + static_cast<i64>(i));
        table.step();
    }
}

// How many of the `length` arguments from u on lie below hi.
HD u64 clipped_length(i64 u, u64 length, i64 hi) {
    if (u >= hi) return 0;
    const u64 left = static_cast<u64>(hi) - static_cast<u64>(u);
    return left < length ? left : length;
}
