// The regular test: a proof that no x in [0, N) has (b - a x) mod 1 <= W, whose branches do not
// depend on b, so that neighbouring lines walk in step.
//
// p, q, u, v, D and the two kinds of cut are those of lefevre.cuh. Two kinds of step alternate.
//
//   A (p < q), k = floor(q / p), q' = q - k p, u' = u + k v. Every q-interval is cut into k pieces
//     of length p from its left end and a rest q'. If b lies in a q-interval, j = floor(D / p) <= k
//     pieces lie left of it and D' = D - j p; if in a p-interval, j = 0 and the formula holds too.
//   B (q < p), k = floor(p / q), p' = p - k q, v' = v + k u. Every p-interval is cut into a rest p'
//     and k pieces of length q up to its right end. In a p-interval D' = D if D < p', else
//     (D - p') mod q; in a q-interval D' = D.
//
// A needs no more than D. B must know the kind of interval, and gets it by the encoding of
// lefevre.cuh: e = D in a p-interval, e = D + p in a q-interval. Then
//     B: D' = e if e < p', else (e - p') mod q
// is right in both: in a q-interval e - p' = D + k q with 0 <= D < q.
// A can hand over e without asking: b ends in the rest q' iff j = k, so e = D - min(j, k - 1) p,
// which is D' for j < k (k >= 1) and D' + p for j = k.
// At the start e = b; if the first step is A, it is given D = b or b - a.
//
// End. Only the k' <= k rounds with u + v >= N that are needed are taken of the last step: the
// formulas hold for any number of rounds, A with D' = D - min(j, k') p, B with p' = p - k' q. Full
// steps would overshoot, and with a tiny slope (huge k) every line would raise an alarm. The n
// reached lies in [N, 2 N), so D is a lower bound over x < N, and an alarm means a point of
// x < 2 N is in the window.
// If p or q becomes 0 the orbit is closed and D is final: every step leaves D exact.
#pragma once

#include "lefevre.cuh"

template <class A>
struct Regular {
    using Arithmetic = A;
    using Number = typename A::Number;
    using Divisor = typename A::Divisor;

    // a, b, W in 2^-BITS; 1 <= N <= 2^31. True: proved that no x exists. False: there may be one.
    template <class Counter>
    static HD bool none(Number a, Number b, Number W, Number N, Counter& counter) {
        if (a == 0) return b > W;  // one point only, 0
        Number p = a, q = A::complement(a), u = 1, v = 1;
        Number d = b < p ? b : b - p;
        if (N <= 2) return d > W;
        if (p >= q) {
            d = b;
            if (step_b(p, q, u, v, d, N, counter)) return d > W;
        }
        while (true) {
            if (step_a(p, q, u, v, d, N, counter)) return d > W;
            if (step_b(p, q, u, v, d, N, counter)) return d > W;
        }
    }

private:
    // Takes D, leaves e; or returns true and leaves the final D.
    template <class Counter>
    static HD bool step_a(Number p, Number& q, Number& u, Number v, Number& d, Number N,
                          Counter& counter) {
        counter.round();
        const Divisor by_p(p);
        Number rest = d;
        const Number k = A::divide(q, by_p), j = A::divide(rest, by_p), missing = N - u - v;
        if (reaches(k, v, missing)) {
            const Number rounds = rounds_to(missing, v);
            d -= (j < rounds ? j : rounds) * p;
            return true;
        }
        u += k * v;
        d = j < k ? rest : rest + p;
        return q == 0;
    }

    // Takes e, leaves D; returns true when it is final.
    template <class Counter>
    static HD bool step_b(Number& p, Number q, Number u, Number& v, Number& d, Number N,
                          Counter& counter) {
        counter.round();
        const Divisor by_q(q);
        const Number before = p;
        Number k = A::divide(p, by_q);
        const Number missing = N - u - v;
        const bool last = reaches(k, u, missing);
        if (last) {
            k = rounds_to(missing, u);
            p = before - k * q;
        }
        v += k * u;
        if (d >= p) {
            d -= p;
            A::divide(d, by_q);
        }
        return last || p == 0;
    }
};
