// The Farey walk: every t of a run at which a parabola comes near an integer, in a number of steps
// that is the number of fractions its slope passes. The proof is docs/farey.md; "lemma N" is there.
//
//     F(t) = a0 + A1' t + a2 t^2,  -H <= t <= last,  |F - Q cmod 1| <= eta, Q the cubic.
//
// The slope of F passes the fractions r = a/q of the Farey sequence of some order; x is the point
// where it is r, V = q (a0 - a2 x^2), and for integers k, t and mm = q k - a t
//
//     q (F(t) - k) = V + q a2 (t - x)^2 - mm,    t = -mm q_left  (mod q).
//
// On the arc of r, where r is the fraction for t, q a2 (t - x)^2 <= T. So t can only matter if an
// integer mm lies in [V - slack, V + T + slack] (a crossing), and only within a tolerance of the
// roots x +- w, w^2 = (mm - V)/(q a2), in one residue class of q. The cubic decides about those.
// The slack holds the error of x and V; lemmas 7 to 10 show that it covers all later roundings.
//
// Everything here is a template over the type of a real number: double, or several doubles in a
// vector register, which walk as many runs at once (lanes.h). Masks have a bit for each lane.
#pragma once

#include <cmath>

#include "descent.cuh"
#include "polynomial.cuh"

// c = 1/(a2 Q^3) trades steps of the walk for crossings.
#ifndef FAREY_C
#if defined(__CUDACC__) || defined(CUDA_ON_CPU)
#define FAREY_C 8.0
#else
#define FAREY_C 1.0
#endif
#endif
static_assert(FAREY_C >= 0.25 && FAREY_C <= 8, "lemmas 7 and 9 take 1/4 <= c <= 8");
// The tests spoil the arithmetic: approximate reciprocals are off by FAREY_SPOIL, at most 2^-19
// (lemma 3), those of floats by 2^-22 (lemma 12), and each addition to x by 6 2^-52 H to the same
// side, which is as much as the N/3 additions of a long walk may be off by (lemma 5).
#ifndef FAREY_SPOIL
#define FAREY_SPOIL 0.0
#endif
constexpr float SPOILED_ROOT = FAREY_SPOIL > 0 ? 1 + 0x1p-22f : FAREY_SPOIL < 0 ? 1 - 0x1p-22f : 1;
constexpr double SPOILED_ADDITION = FAREY_SPOIL > 0 ? 0x1.8p-50 : FAREY_SPOIL < 0 ? -0x1.8p-50 : 0;

constexpr double LEMMA_5_STEP = 0x1.5p-37;    // relative error of a step of x
constexpr double LEMMA_5_ADDITION = 0x1p-52;  // relative error of an addition to x
constexpr double LEMMA_6_FACTOR = 16;         // from the error of x to kappa
constexpr double LEMMA_8_FACTOR = 1.5;        // width of a root: slack/(q a2 w) times this
constexpr double LEMMA_9_RUN = 0x1.1p-38;     // relative error of the run's ends among the images

// --- One real number a lane: double.

// On a device two additions are faster than the instruction that rounds. They are exact for |a| < 2^51,
// and off by at most 2^-51 |a| beyond (docs/farey.md, "On a device").
HD double nearest(double a) {
#if defined(__CUDA_ARCH__) || defined(CUDA_ON_CPU)
    return __dadd_rn(__dadd_rn(a, 0x1.8p52), -0x1.8p52);
#else
    return rint(a);
#endif
}
HD double ceiling(double a) {
#if defined(__CUDA_ARCH__) || defined(CUDA_ON_CPU)
    return __dadd_rn(__dadd_ru(a, 0x1.8p52), -0x1.8p52);
#else
    return ceil(a);
#endif
}
HD double magnitude(double a) { return fabs(a); }
HD double negative(double a) { return -a; }
HD double larger(double a, double b) { return a > b ? a : b; }
HD double smaller(double a, double b) { return a < b ? a : b; }
HD unsigned less_equal(double a, double b) { return a <= b ? 1u : 0u; }

// Lemma 3: one Newton step each; the relative errors are below 1.001 2^-38 and 1.501 2^-38.
template <class Real>
HD Real reciprocal(Real a) {
    Real y = approximate_reciprocal(a);
    if constexpr (FAREY_SPOIL != 0) y = y * Real(1 + FAREY_SPOIL);
    return fused(y, fused(negative(a), y, Real(1)), y);
}
template <class Real>
HD Real reciprocal_root(Real a) {
    Real y = approximate_reciprocal_root(a);
    if constexpr (FAREY_SPOIL != 0) y = y * Real(1 + FAREY_SPOIL);
    return fused(Real(0.5) * y, fused(negative(a * y), y, Real(1)), y);
}

// --- The walk.

// What stays the same along a run.
template <class Real>
struct FareyRun {
    Real a0, a2;        // of F
    Real half_inverse;  // 1/(2 a2)
    Real order;         // Q + 1/2
    Real reach;         // q T, the same for every fraction: 1/(4 a2 (Q + 1)^2)
    Real window;        // E + kappa (1/2 + a2 H^2), E the window of F
    Real drift;         // kappa, lemma 6
    Real half;          // H
    Real end;           // the first fraction with x >= end is the last one, lemma 7
};

// A fraction, its neighbours' denominators, and what is known of the next one. Denominators are
// exact integers; r and r_right are reciprocals of q and right.
template <class Real>
struct FareyWalk {
    Real left, q, right;
    Real r, r_right;
    Real x, x_right;

    // To the next fraction; k is exact by lemma 4.
    HD void step(const FareyRun<Real>& run) {
        const Real k = nearest(fused(run.order + q, r_right, Real(-0.5)));
        const Real next = fused(k, right, negative(q));
        const Real r_next = reciprocal(next);
        Real x_next = fused(run.half_inverse * r_right, r_next, x_right);
        if constexpr (FAREY_SPOIL != 0) x_next = fused(Real(SPOILED_ADDITION), run.half, x_next);
        left = q, q = right, right = next;
        r = r_right, r_right = r_next;
        x = x_right, x_right = x_next;
    }
};

// Where integers mm can be: first <= mm <= last.
template <class Real>
struct Crossing {
    Real value;  // V
    Real slack;
    Real first, last;  // first is an integer; no crossing if first > last
};

template <class Real>
HD Crossing<Real> crossing_of(const FareyRun<Real>& run, const FareyWalk<Real>& walk) {
    const Real value = walk.q * fused(negative(run.a2 * walk.x), walk.x, run.a0);
    const Real slack = fused(run.drift, magnitude(value), walk.q * run.window);
    return {value, slack, ceiling(value - slack), fused(run.reach, walk.r, value + slack)};
}

// The roots x +- w for one mm: every t wanted is within `width` of one of them (lemma 8).
template <class Real>
struct Roots {
    Real w, width;
};

template <class Real>
HD Roots<Real> roots_of(const FareyRun<Real>& run, const FareyWalk<Real>& walk,
                        const Crossing<Real>& at, Real mm) {
    const Real inverse = Real(2) * run.half_inverse * walk.r;  // 1/(q a2)
    const Real height = larger(mm - at.value, at.slack);
    const Real scale = inverse * reciprocal_root(inverse * height);
    return {height * scale, Real(LEMMA_8_FACTOR) * at.slack * scale};
}

// Where the roots lie in the class of mm: t of the class is t = j q - mm left, j an integer, and a
// wanted t has j within the tolerance of `up` or of `down` (lemma 9).
template <class Real>
struct Images {
    Real up, down, tolerance;
};

template <class Real>
HD Images<Real> images_of(const FareyWalk<Real>& walk, const Roots<Real>& roots, Real mm) {
    const Real z = fused(mm, walk.left * walk.r, walk.x * walk.r), w = roots.w * walk.r;
    return {z + w, z - w, roots.width * walk.r};
}

// The lanes in which the class of mm has a member within the width of a root.
template <class Real>
HD unsigned near_class(const FareyWalk<Real>& walk, const Roots<Real>& roots, Real mm) {
    const Images<Real> at = images_of(walk, roots, mm);
    return less_equal(magnitude(at.up - nearest(at.up)), at.tolerance) |
           less_equal(magnitude(at.down - nearest(at.down)), at.tolerance);
}

// --- A quick look, in single precision, at mm after mm of one crossing: may a root be near its class?

constexpr float LEMMA_12_BLUR = 0x1p-16f;       // of z, modulo 1
constexpr float LEMMA_12_ROOT = 0x1p-19f;       // relative error of w/q
constexpr float LEMMA_12_FACTOR = 1.0001f;      // for the tolerance
constexpr double LEMMA_12_FARTHEST = 0x1p31;    // a larger z is not looked at
constexpr int LEMMA_12_MOST = 8;                // so many mm, from the first on

// The fraction of a, |a| <= 2^31, to within 2^-21 modulo 1.
HD float fraction_of(double a) {
    const double shifted = a + 0x1.8p32;  // in [2^32, 2^33): the last bit is 2^-20
    u64 bits;
    __builtin_memcpy(&bits, &shifted, sizeof bits);
    const unsigned mantissa = (static_cast<unsigned>(bits) << 3 & 0x7ffff8u) | 0x3f800000u;
    float one_and_fraction;
    __builtin_memcpy(&one_and_fraction, &mantissa, sizeof mantissa);
    return one_and_fraction - 1;
}

// How far a is from an integer.
HD float off_integer(float a) {
#if defined(__CUDA_ARCH__) || defined(CUDA_ON_CPU)
    return fabsf(a - __fadd_rn(__fadd_rn(a, 0x1.8p23f), -0x1.8p23f));
#else
    return fabsf(a - rintf(a));
#endif
}

struct QuickLook {
    float z, turn;        // z of the first mm, and what each mm adds to it; modulo 1
    float height, least;  // mm - V of the first mm; the slack, which no height is below
    float scale;          // 1/(q^3 a2)
    float spread;         // tolerance times w/q
    float blur;           // of z
    float more;           // mm after the first

    HD QuickLook(const FareyWalk<double>& walk, const Crossing<double>& at, float half_inverse) {
        const double share = walk.left * walk.r;
        const double first = fused(at.first, share, walk.x * walk.r);
        z = fraction_of(first), turn = fraction_of(share);
        blur = fabs(first) <= LEMMA_12_FARTHEST ? LEMMA_12_BLUR : 1.0f;
        height = static_cast<float>(at.first - at.value), least = static_cast<float>(at.slack);
        const float r = static_cast<float>(walk.r);
        scale = 2 * half_inverse * r * r * r;
        spread = static_cast<float>(LEMMA_8_FACTOR) * LEMMA_12_FACTOR * least * scale;
        more = static_cast<float>(at.last - at.first);
    }

    // May the i-th mm after the first have a root near its class? Lemma 12; i < LEMMA_12_MOST.
    HD bool may_be_near(int i) const {
        const float count = static_cast<float>(i);
        const float square = fmaxf(height + count, least) * scale;
        const float inverse = approximate_reciprocal_root(square) * SPOILED_ROOT;
        const float w = square * inverse;
        const float tolerance = fmaf(spread, inverse, fmaf(w, LEMMA_12_ROOT, blur));
        const float at = fmaf(count, turn, z);
        const bool is_far = off_integer(at + w) > tolerance && off_integer(at - w) > tolerance;
        return count <= more && !is_far;  // where w or the tolerance is no number it is near
    }
};

// --- What is done for few fractions, one at a time.

// A run as it is searched: its walk, and the cubic that decides.
struct FareyTask {
    FareyRun<double> run;
    FareyWalk<double> walk;
    Cubic cubic;
    u128 window;  // of the cubic, unit 2^-128
    u128 slope;   // A1' of the parabola, unit 2^-128
    i64 centre;   // what t counts from
    i64 last;     // -H <= t <= last
};

// A closed interval of t, empty if lo > hi.
struct Span {
    double lo, hi;
};

// The arc of the fraction, where it meets the run (lemma 10).
HD Span arc_of(const FareyTask& task, const FareyWalk<double>& walk) {
    const FareyRun<double>& run = task.run;
    const double before = run.half_inverse * walk.r / (walk.q + walk.left);
    const double after = run.half_inverse * walk.r / (walk.q + walk.right);
    const double blur = fabs(walk.x) + run.half;
    return {larger(-run.half, walk.x - before - run.drift * (blur + before)),
            smaller(static_cast<double>(task.last),
                    walk.x + after + run.drift * (blur + after))};
}

// The crossing narrowed to the arc: a fraction with a small q meets many mm, the run few of them.
HD void narrow(const FareyTask& task, const FareyWalk<double>& walk, const Span& arc,
               Crossing<double>& at) {
    if (arc.lo > arc.hi) {  // V may be so large that first - 1 is first
        at.first = 1, at.last = 0;
        return;
    }
    const double before = walk.x - arc.lo, after = arc.hi - walk.x;
    const double least = larger(0, larger(-before, -after)), most = larger(before, after);
    const double scale = walk.q * task.run.a2;
    at.first = larger(at.first, ceil(at.value + scale * least * least - at.slack));
    at.last = smaller(at.last, at.value + scale * most * most + at.slack);
}

// The members of the class of mm modulo q in a span: first, first + q, ..., `count` of them.
struct Members {
    i64 first, q, count;
};

HD Members members_of(u64 q, u64 left, i64 mm, const Span& span) {
    const i64 modulus = static_cast<i64>(q);
    if (span.lo > span.hi) return {0, modulus, 0};
    const i64 last = static_cast<i64>(floor(span.hi));
    const i64 residue = mm % modulus * static_cast<i64>(left) % modulus;  // of -t
    i64 t = static_cast<i64>(ceil(span.lo));
    const i64 behind = (t % modulus + residue) % modulus;  // t + residue, up to a multiple
    if (behind > 0) t += modulus - behind;
    if (behind < 0) t -= behind;
    return {t, modulus, t > last ? 0 : (last - t) / modulus + 1};
}

// Gives every member to sink.
template <class Sink>
HD void each_of(const Members& members, const Sink& sink) {
    i64 t = members.first;
    for (i64 i = 0; i < members.count; ++i, t += members.q) sink(t);
}

// Gives every t = j q - mm left, first <= t <= last, with j within the tolerance of an image to sink.
// |j| may exceed 2^53 where q is 1 or so, but not 2^63 (lemma 9); t is exact modulo 2^64.
template <class Sink>
HD void each_near_image(const FareyWalk<double>& walk, double image, double tolerance, double mm,
                        i64 first, i64 last, const Sink& sink) {
    const u64 q = static_cast<u64>(walk.q);
    const u64 offset = static_cast<u64>(static_cast<i64>(mm)) * static_cast<u64>(walk.left);
    // The tolerance may reach far beyond the run.
    const double shift = mm * walk.left;
    const double from = (static_cast<double>(first) + shift) * walk.r;
    const double to = (static_cast<double>(last) + shift) * walk.r;
    if (!(to - from <= static_cast<double>(last - first) + 1)) return;  // r is wrong (lemma 9): do not hang
    const double least = larger(image - tolerance, from - LEMMA_9_RUN * magnitude(from));
    const double most = smaller(image + tolerance, to + LEMMA_9_RUN * magnitude(to));
    const i64 end = static_cast<i64>(floor(most));
    for (i64 j = static_cast<i64>(ceil(least)); j <= end; ++j) {
        const i64 t = static_cast<i64>(static_cast<u64>(j) * q - offset);
        if (first <= t && t <= last) sink(t);
    }
}

// Gives every t of the class of mm that lies near a root and in the run to sink; some come twice.
template <class Sink>
HD void each_near_root(const FareyRun<double>& run, const FareyWalk<double>& walk,
                       const Crossing<double>& at, double mm, i64 first, i64 last,
                       const Sink& sink) {
    const Images<double> images = images_of(walk, roots_of(run, walk, at, mm), mm);
    each_near_image(walk, images.up, images.tolerance, mm, first, last, sink);
    each_near_image(walk, images.down, images.tolerance, mm, first, last, sink);
}
