// What the three phases of a search do with one domain, one subdomain, one stretch of arguments.
// The loops over them are in host.cpp (CPU) and kernels.cu (device).
//
//   Phase 1: a domain of N arguments is tested. Most have no candidate and are done.
//   Phase 2: one that fails is split into 8 subdomains, each tested with its own, narrower window.
//   Phase 3: all arguments of a failing subdomain are scanned: each with the line of its stretch
//            of 64 arguments, those near an integer with the cubic of the run (a *hit*), hits with
//            the exact decision on P (a *candidate*).
//
// No phase misses a candidate: the windows of the tests contain that of the cubic, which contains
// that of P; and only the last, exact decision says yes.
#pragma once

#include "polynomial.cuh"
#include "regular.cuh"
#include "tabulate.cuh"

constexpr int SUBDOMAINS_LOG2 = 3;
constexpr int SUBDOMAINS = 1 << SUBDOMAINS_LOG2;
constexpr int STRETCH_LOG2 = 6;
constexpr int STRETCH = 1 << STRETCH_LOG2;
constexpr u64 NO_LINE = u64{1} << 62;

// Does the test prove that the line c, s of 2^log2_n arguments stays out of its window?
template <class Method, class Counter>
HD bool line_is_empty(u128 c, u128 s, int log2_n, u64 fixed_point_window, Counter& counter) {
    using A = typename Method::Arithmetic;
    const auto window = A::window(fixed_point_window);
    const Line<A> line = line_of<A>(c, s, log2_n, window);
    const auto n = static_cast<typename A::Number>(u64{1} << log2_n);
    return Method::none(line.a, line.b, 2 * window, n, counter);
}

// Phase 1 for the domain the table stands at. True: it holds no candidate.
template <class Method, int D, int L, class Counter>
HD bool domain_is_empty(const Block<D, L>& block, const DomainTable& table, Counter& counter) {
    const int log2_n = static_cast<int>(block.domain_log2);
    return line_is_empty<Method>(table.c.value(), table.s.value(), log2_n,
                                 block.domain_window[0], counter);
}

// Phase 2 for the subdomain of 2^(domain_log2 - 3) arguments that begins at t.
template <class Method, int D, int L, class Counter>
HD bool subdomain_is_empty(const Block<D, L>& block, const Cubic& cubic, i64 t,
                           Counter& counter) {
    const int log2_n = static_cast<int>(block.domain_log2) - SUBDOMAINS_LOG2;
    const i64 centre = t + (i64{1} << (log2_n - 1));
    return line_is_empty<Method>(folded_value(cubic, centre, log2_n), cubic.slope(centre), log2_n,
                                 block.domain_window[1], counter);
}

// Is |Q(t) cmod 1| <= window, that is (Q(t) + window) mod 1 <= 2 window?
HD bool is_hit(const Cubic& cubic, u128 window, i64 t) {
    return cubic.value(t) + window <= 2 * window;
}

// |value cmod 1|, unit 2^-128.
HD u128 magnitude(u128 value) { return static_cast<i128>(value) < 0 ? 0 - value : value; }

// The window of the line of a stretch: the lemma of tabulate.cuh with n = 2^STRETCH_LOG2 and the
// actual a_2 and A_3. The value 2^62 stands for "no line": it would rule out too little. Below
// 2^110 each, the three terms sum to less than 2^126 and the window to less than 2^62.
HD u64 stretch_window(const Cubic& cubic, u128 run_window, i64 centre) {
    const u128 a2 = magnitude(cubic.half_curvature(centre));
    const u128 a3 = magnitude(cubic.coefficient[3]);
    if ((a2 | a3 | run_window) >> 110) return NO_LINE;
    const u128 sum = run_window + (a2 << (2 * STRETCH_LOG2 - 3)) + (a3 << (3 * STRETCH_LOG2 - 3));
    const u64 fixed_point = (u64{1} << (STRETCH_LOG2 - 1)) + 1;
    return static_cast<u64>(sum >> 64) + 1 + fixed_point;
}

// Does the line come within its window at one of the arguments of a stretch? No branch in the
// loop: the CPU takes eight arguments an instruction.
HD bool stretch_is_near(const Line<Words>& line, u64 window) {
    if (window == NO_LINE) return true;
    bool near = false;
    for (u64 x = 0; x < STRETCH; ++x) near |= line.b - line.a * x <= 2 * window;
    return near;
}

// Phase 3: calls hit(t) for each of the `count` arguments from t on with |Q(t) cmod 1| <= window.
// The arguments are taken by stretches, whose lines are tabulated like those of domains: most
// stretches come near no integer. In the others the cubic itself decides each argument.
template <class Sink>
HD void scan(const Cubic& cubic, u128 window, i64 t, u64 count, const Sink& hit) {
    const i64 end = t + static_cast<i64>(count), half = STRETCH / 2;
    DomainTable table = domain_table(cubic, t + half, STRETCH_LOG2);
    for (; t < end; t += STRETCH, table.step()) {
        const u64 near = stretch_window(cubic, window, t + half);
        if (!stretch_is_near(line_of<Words>(table.c.value(), table.s.value(), STRETCH_LOG2, near), near))
            continue;
        for (i64 at = t; at < t + STRETCH && at < end; ++at)
            if (is_hit(cubic, window, at)) hit(at);
    }
}

// How many of the `length` arguments from u on lie below hi.
HD u64 clipped_length(i64 u, u64 length, i64 hi) {
    if (u >= hi) return 0;
    const u64 left = static_cast<u64>(hi) - static_cast<u64>(u);
    return left < length ? left : length;
}
