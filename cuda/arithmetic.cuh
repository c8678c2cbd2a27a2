// The numbers of the three-distance tests: lengths on a circle of 2^BITS units, and counts.
//
//   Words    64-bit integers, BITS = 64: what a CPU divides fast.
//   Doubles  integers below 2^53 held in doubles, BITS = 52: a GPU has no 64-bit divider, but
//            fused multiply-adds. Every operation on them is exact (below).
//
// A test takes either as a template argument: one text, one proof.
//
//   Divisor(p)       p > 0, prepared for several divisions
//   divide(n, p)     floor(n / p); n becomes n mod p
//   complement(a)    2^BITS - a, for a > 0
//   fraction(x)      a 128-bit fraction rounded down to BITS bits
//   window(E)        a window of unit 2^-64, rounded up to BITS bits
#pragma once

#include "port.h"

struct Words {
    using Number = u64;
    static constexpr int BITS = 64;

    struct Divisor {
        u64 value;
        HD explicit Divisor(u64 p) : value(p) {}
    };

    static HD u64 divide(u64& n, const Divisor& p) {
        const u64 k = n / p.value;
        n -= k * p.value;
        return k;
    }
    static HD u64 complement(u64 a) { return 0 - a; }
    static HD u64 fraction(u128 x) { return static_cast<u64>(x >> 64); }
    static HD u64 window(u64 E) { return E; }
    // x + y modulo the circle.
    static HD u64 add(u64 x, u64 y) { return x + y; }
};

struct Doubles {
    using Number = double;
    static constexpr int BITS = 52;
    static constexpr double CIRCLE = 4503599627370496.0;        // 2^52
    static constexpr double ROUNDER = 1.5 * 4503599627370496.0;  // adding it rounds to an integer

    struct Divisor {
        double value, reciprocal;
        HD explicit Divisor(double p) : value(p), reciprocal(approximate_reciprocal(p)) {}
    };

    // Exact for integers 0 <= n < 2^53, 0 < p < 2^53, however rough the reciprocal is: n - k p is
    // one rounding of an integer, so what lies in [0, p) is exact and k is right. The nearest
    // integer to n / p is floor or floor + 1: one correction, unless the quotient is beyond what
    // the reciprocal tells (about 2^20), which is rare and divided as integers.
    static HD double divide(double& n, const Divisor& p) {
        double k = (fused(n, p.reciprocal, ROUNDER)) - ROUNDER;
        double rest = fused(-k, p.value, n);
        if (rest < 0) {
            rest += p.value;
            k -= 1;
        }
        if (!(rest >= 0 && rest < p.value)) {
            const u64 whole = static_cast<u64>(n), by = static_cast<u64>(p.value);
            k = static_cast<double>(whole / by);
            rest = static_cast<double>(whole % by);
        }
        n = rest;
        return k;
    }
    static HD double complement(double a) { return CIRCLE - a; }
    static HD double fraction(u128 x) { return static_cast<double>(static_cast<u64>(x >> 76)); }
    static HD double window(u64 E) { return static_cast<double>((E >> 12) + 1); }
    static HD double add(double x, double y) {
        const double sum = x + y;
        return sum < CIRCLE ? sum : sum - CIRCLE;
    }
};

// ceil(missing / per_round) for counts below 2^31: the device divides 32 bits faster.
template <class Number>
HD Number rounds_to(Number missing, Number per_round) {
    const auto m = static_cast<std::uint32_t>(missing);
    const auto r = static_cast<std::uint32_t>(per_round);
    return static_cast<Number>((m + r - 1) / r);
}
