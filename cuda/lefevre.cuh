// Lefevre's test: a proof that no x in [0, N) has (b - a x) mod 1 <= W.
//
// Points and intervals. The points a x mod 1, 0 <= x < n = u + v, cut the circle into u intervals
// of length p and v of length q, so p u + q v = 1 (the three-distance theorem, at the n where
// only two lengths occur). At n = 2 the points are 0 and a: p = a, q = 1 - a, u = v = 1.
// The next points always cut the longer kind:
//   p < q: every q-interval loses a piece p at its left end (u += v, q -= p);
//   q < p: every p-interval loses a piece q at its right end (v += u, p -= q).
// k = floor(q / p) (or floor(p / q)) such rounds are taken at once. When p or q becomes 0 the
// points are the multiples of the other length, a is one of them, so the orbit is closed: no
// further point is new.
//
// D is the distance from b down to the nearest point at or below it: min over x < n of
// (b - a x) mod 1. It falls as n grows, so D > W at any n >= N proves the claim.
//
// Encoding. d = D when b lies in a p-interval, d = D + p when it lies in a q-interval; D is below
// the length of its interval, so d < p tells which. It holds at the start with d = b: b < a lies
// in [0, a), else D = b - a. It is kept by each round:
//   b in a p-interval. Cutting the q-intervals changes neither D nor p. One cut q off the right
//   end of the p-intervals: if D < p - q, b is still in a p-interval and D stays; else b is in the
//   new q-interval with D' = D - (p - q) = d - p'. Either way d, unchanged, encodes D'.
//   b in a q-interval, d made plain (d := D). Cutting the p-intervals changes nothing. One cut p
//   off the left end of the q-intervals: if D < p, b is in the new p-interval with D' = D; else it
//   is in the q-interval with D' = D - p. Either way d encodes D'.
// So D changes only when the second branch makes d plain: it is checked there, and where the first
// branch is entered D = d > W is already known.
#pragma once

#include "arithmetic.cuh"

// Counts main-loop rounds of a test; `NoCounter` costs nothing.
struct NoCounter {
    HD void round() {}
};
struct RoundCounter {
    u64 rounds = 0;
    HD void round() { ++rounds; }
};

// Do k rounds of `per_round` new points each make up what is missing to N? In Words the product
// does not overflow: k v <= (q / p) v < 2^64, as q v < 2^64; likewise k u <= (p / q) u < 2^64. In
// Doubles it is exact below 2^53, and beyond that it is beyond N. After a `no` u and v stay below N.
template <class Number>
HD bool reaches(Number k, Number per_round, Number missing) {
    return k * per_round >= missing;
}

template <class A>
struct Lefevre {
    using Arithmetic = A;
    using Number = typename A::Number;
    using Divisor = typename A::Divisor;

    // a, b, W in 2^-BITS; 1 <= N <= 2^31. True: proved that no x exists. False: there may be one.
    template <class Counter>
    static HD bool none(Number a, Number b, Number W, Number N, Counter& counter) {
        if (b <= W) return false;
        if (a == 0) return true;  // one point only, 0, and b > W
        Number p = a, q = A::complement(a), u = 1, v = 1, d = b;
        while (true) {
            counter.round();
            if (d < p) {
                if (u + v >= N) return true;
                const Number k = A::divide(q, Divisor(p));
                if (reaches(k, v, N - u - v)) return true;
                u += k * v;
                if (q == 0) return true;
                p -= q;
                v += u;
            } else {
                d -= p;
                if (d <= W) return false;
                if (u + v >= N) return true;
                const Number k = A::divide(p, Divisor(q));
                if (reaches(k, u, N - u - v)) return true;
                v += k * u;
                if (p == 0) return true;
                q -= p;
                u += v;
            }
        }
    }
};
