// Several doubles at once, for the Farey walk on the CPU (farey.cuh says what a `Real` must do).
//
//   Lanes<double>      1, everywhere
//   Avx2, Avx512       4 and 8, where the compiler's target has them (AVX2 with FMA, AVX-512F)
//   Twin<Real>         two of a kind side by side: the one computes while the other waits
//   WidestReal         the best of them for this target
//
// A mask has bit i for lane i. LANES, lane_of and set_lane serve what is done lane by lane.
#pragma once

#if defined(__AVX2__) || defined(__AVX512F__)
#include <immintrin.h>
#endif

#include "farey.cuh"

template <class Real>
constexpr int LANES = Real::LANES;
template <>
inline constexpr int LANES<double> = 1;

HD double lane_of(double value, int) { return value; }
HD void set_lane(double& value, int, double one) { value = one; }

#ifdef __AVX512F__
struct Avx512 {
    static constexpr int LANES = 8;
    __m512d v;
    Avx512() = default;
    explicit Avx512(__m512d value) : v(value) {}
    explicit Avx512(double value) : v(_mm512_set1_pd(value)) {}
};

HD Avx512 operator+(Avx512 a, Avx512 b) { return Avx512(_mm512_add_pd(a.v, b.v)); }
HD Avx512 operator-(Avx512 a, Avx512 b) { return Avx512(_mm512_sub_pd(a.v, b.v)); }
HD Avx512 operator*(Avx512 a, Avx512 b) { return Avx512(_mm512_mul_pd(a.v, b.v)); }
HD Avx512 fused(Avx512 a, Avx512 b, Avx512 c) { return Avx512(_mm512_fmadd_pd(a.v, b.v, c.v)); }
HD Avx512 nearest(Avx512 a) { return Avx512(_mm512_roundscale_pd(a.v, 8)); }
HD Avx512 ceiling(Avx512 a) { return Avx512(_mm512_roundscale_pd(a.v, 10)); }
HD Avx512 magnitude(Avx512 a) { return Avx512(_mm512_abs_pd(a.v)); }
HD Avx512 negative(Avx512 a) {
    return Avx512(_mm512_xor_pd(a.v, _mm512_set1_pd(-0.0)));
}
HD Avx512 larger(Avx512 a, Avx512 b) { return Avx512(_mm512_max_pd(a.v, b.v)); }
HD Avx512 smaller(Avx512 a, Avx512 b) { return Avx512(_mm512_min_pd(a.v, b.v)); }
HD unsigned less_equal(Avx512 a, Avx512 b) { return _mm512_cmp_pd_mask(a.v, b.v, _CMP_LE_OQ); }
// The instructions are good to 2^-14; a Newton step makes that 2^-28 (1.5 times that for the root).
HD Avx512 approximate_reciprocal(Avx512 a) {
    const Avx512 y(_mm512_rcp14_pd(a.v));
    return fused(y, Avx512(_mm512_fnmadd_pd(a.v, y.v, _mm512_set1_pd(1))), y);
}
HD Avx512 approximate_reciprocal_root(Avx512 a) {
    const Avx512 y(_mm512_rsqrt14_pd(a.v));
    const Avx512 error(_mm512_fnmadd_pd((a * y).v, y.v, _mm512_set1_pd(1)));
    return fused(Avx512(0.5) * y, error, y);
}
HD double lane_of(Avx512 value, int lane) { return value.v[lane]; }
HD void set_lane(Avx512& value, int lane, double one) { value.v[lane] = one; }
#endif

#if defined(__AVX2__) && defined(__FMA__)
struct Avx2 {
    static constexpr int LANES = 4;
    __m256d v;
    Avx2() = default;
    explicit Avx2(__m256d value) : v(value) {}
    explicit Avx2(double value) : v(_mm256_set1_pd(value)) {}
};

HD Avx2 operator+(Avx2 a, Avx2 b) { return Avx2(_mm256_add_pd(a.v, b.v)); }
HD Avx2 operator-(Avx2 a, Avx2 b) { return Avx2(_mm256_sub_pd(a.v, b.v)); }
HD Avx2 operator*(Avx2 a, Avx2 b) { return Avx2(_mm256_mul_pd(a.v, b.v)); }
HD Avx2 fused(Avx2 a, Avx2 b, Avx2 c) { return Avx2(_mm256_fmadd_pd(a.v, b.v, c.v)); }
HD Avx2 nearest(Avx2 a) { return Avx2(_mm256_round_pd(a.v, 8)); }
HD Avx2 ceiling(Avx2 a) { return Avx2(_mm256_round_pd(a.v, 10)); }
HD Avx2 magnitude(Avx2 a) { return Avx2(_mm256_andnot_pd(_mm256_set1_pd(-0.0), a.v)); }
HD Avx2 negative(Avx2 a) { return Avx2(_mm256_xor_pd(a.v, _mm256_set1_pd(-0.0))); }
HD Avx2 larger(Avx2 a, Avx2 b) { return Avx2(_mm256_max_pd(a.v, b.v)); }
HD Avx2 smaller(Avx2 a, Avx2 b) { return Avx2(_mm256_min_pd(a.v, b.v)); }
HD unsigned less_equal(Avx2 a, Avx2 b) {
    return static_cast<unsigned>(_mm256_movemask_pd(_mm256_cmp_pd(a.v, b.v, _CMP_LE_OQ)));
}
// The divider works beside the multipliers.
HD Avx2 approximate_reciprocal(Avx2 a) {
    return Avx2(_mm256_div_pd(_mm256_set1_pd(1), a.v));
}
HD Avx2 approximate_reciprocal_root(Avx2 a) {
    return Avx2(_mm256_div_pd(_mm256_set1_pd(1), _mm256_sqrt_pd(a.v)));
}
HD double lane_of(Avx2 value, int lane) { return value.v[lane]; }
HD void set_lane(Avx2& value, int lane, double one) { value.v[lane] = one; }
#endif

template <class Real>
struct Twin {
    static constexpr int LANES = 2 * ::LANES<Real>;
    Real a, b;
    Twin() = default;
    Twin(Real first, Real second) : a(first), b(second) {}
    explicit Twin(double value) : a(value), b(value) {}
};

template <class R>
HD Twin<R> operator+(Twin<R> x, Twin<R> y) { return {x.a + y.a, x.b + y.b}; }
template <class R>
HD Twin<R> operator-(Twin<R> x, Twin<R> y) { return {x.a - y.a, x.b - y.b}; }
template <class R>
HD Twin<R> operator*(Twin<R> x, Twin<R> y) { return {x.a * y.a, x.b * y.b}; }
template <class R>
HD Twin<R> fused(Twin<R> x, Twin<R> y, Twin<R> z) {
    return {fused(x.a, y.a, z.a), fused(x.b, y.b, z.b)};
}
template <class R>
HD Twin<R> nearest(Twin<R> x) { return {nearest(x.a), nearest(x.b)}; }
template <class R>
HD Twin<R> ceiling(Twin<R> x) { return {ceiling(x.a), ceiling(x.b)}; }
template <class R>
HD Twin<R> magnitude(Twin<R> x) { return {magnitude(x.a), magnitude(x.b)}; }
template <class R>
HD Twin<R> negative(Twin<R> x) { return {negative(x.a), negative(x.b)}; }
template <class R>
HD Twin<R> larger(Twin<R> x, Twin<R> y) { return {larger(x.a, y.a), larger(x.b, y.b)}; }
template <class R>
HD Twin<R> smaller(Twin<R> x, Twin<R> y) { return {smaller(x.a, y.a), smaller(x.b, y.b)}; }
template <class R>
HD unsigned less_equal(Twin<R> x, Twin<R> y) {
    return less_equal(x.a, y.a) | less_equal(x.b, y.b) << LANES<R>;
}
template <class R>
HD Twin<R> approximate_reciprocal(Twin<R> x) {
    return {approximate_reciprocal(x.a), approximate_reciprocal(x.b)};
}
template <class R>
HD Twin<R> approximate_reciprocal_root(Twin<R> x) {
    return {approximate_reciprocal_root(x.a), approximate_reciprocal_root(x.b)};
}
template <class R>
HD double lane_of(Twin<R> x, int lane) {
    return lane < LANES<R> ? lane_of(x.a, lane) : lane_of(x.b, lane - LANES<R>);
}
template <class R>
HD void set_lane(Twin<R>& x, int lane, double one) {
    if (lane < LANES<R>)
        set_lane(x.a, lane, one);
    else
        set_lane(x.b, lane - LANES<R>, one);
}

#if defined(__AVX512F__)
using WidestReal = Twin<Avx512>;
#elif defined(__AVX2__) && defined(__FMA__)
using WidestReal = Twin<Avx2>;
#else
using WidestReal = double;
#endif
