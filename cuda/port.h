// What differs between nvcc and g++. Every other header of this directory is plain C++17.
//
//   HD                    marks a function that both the CPU and the device run
//   UNROLL, NO_UNROLL     before a loop of constant length: unroll it whole, or not at all
//   u64, i64, u128, i128  the integer types of all kernels
//   approximate_reciprocal(p)       1 / p to a relative error of 2^-19
//   approximate_reciprocal_root(p)  1 / sqrt(p) to a relative error of 2^-19
//                                   (the device reads and writes 20 bits after the leading one);
//                                   of a float, to 2^-22
//   fused(x, y, z)        x y + z with one rounding
//   multiply_add, add_carry, subtract_borrow   one limb of a multi-limb operation
//   INJECT(place, object)  nothing; a test build flips a bit of the object there
//                          (tests/faults/inject.h)
#pragma once

#include <cstdint>

#ifdef __CUDACC__
#define HD __host__ __device__ __forceinline__
#define UNROLL _Pragma("unroll")
#define NO_UNROLL _Pragma("unroll 1")
#else
#define HD inline __attribute__((always_inline))
#define UNROLL _Pragma("GCC unroll 16")
#define NO_UNROLL _Pragma("GCC unroll 1")
#endif

#ifndef INJECT
#define INJECT(place, object)
#endif

using u64 = std::uint64_t;
using i64 = std::int64_t;
using u128 = unsigned __int128;
using i128 = __int128;

HD double approximate_reciprocal(double p) {
#ifdef __CUDA_ARCH__
    double r;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(p));
    return r;
#else
    return 1.0 / p;
#endif
}

HD double approximate_reciprocal_root(double p) {
#ifdef __CUDA_ARCH__
    double r;
    asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(p));
    return r;
#else
    return 1.0 / __builtin_sqrt(p);
#endif
}

HD float approximate_reciprocal_root(float p) {
#ifdef __CUDA_ARCH__
    float r;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(p));
    return r;
#else
    return 1.0f / __builtin_sqrtf(p);
#endif
}

HD double fused(double x, double y, double z) {
#ifdef __CUDA_ARCH__
    return __fma_rn(x, y, z);
#else
    return __builtin_fma(x, y, z);
#endif
}

// Low limb of a b + c + carry; the high limb becomes the new carry. The sum is at most
// (2^64 - 1)^2 + 2 (2^64 - 1) = 2^128 - 1, so nothing is lost.
HD u64 multiply_add(u64 a, u64 b, u64 c, u64& carry) {
#ifdef __CUDA_ARCH__
    // One statement: the carry flag does not survive between two asm statements.
    u64 low, high;
    asm("{\n\t"
        "mad.lo.cc.u64 %0, %2, %3, %4;\n\t"
        "madc.hi.u64 %1, %2, %3, 0;\n\t"
        "add.cc.u64 %0, %0, %5;\n\t"
        "addc.u64 %1, %1, 0;\n\t"
        "}"
        : "=&l"(low), "=&l"(high)
        : "l"(a), "l"(b), "l"(c), "l"(carry));
    carry = high;
    return low;
#else
    const u128 sum = static_cast<u128>(a) * b + c + carry;
    carry = static_cast<u64>(sum >> 64);
    return static_cast<u64>(sum);
#endif
}

// a + b + carry modulo 2^64; carry (0 or 1) becomes the carry out.
HD u64 add_carry(u64 a, u64 b, u64& carry) {
#ifdef __CUDA_ARCH__
    u64 sum, out;
    asm("{\n\t"
        "add.cc.u64 %0, %2, %3;\n\t"
        "addc.u64 %1, 0, 0;\n\t"
        "add.cc.u64 %0, %0, %4;\n\t"
        "addc.u64 %1, %1, 0;\n\t"
        "}"
        : "=&l"(sum), "=&l"(out)
        : "l"(a), "l"(b), "l"(carry));
    carry = out;
    return sum;
#else
    const u128 sum = static_cast<u128>(a) + b + carry;
    carry = static_cast<u64>(sum >> 64);
    return static_cast<u64>(sum);
#endif
}

// a - b - borrow modulo 2^64; borrow (0 or 1) becomes the borrow out.
HD u64 subtract_borrow(u64 a, u64 b, u64& borrow) {
    const u128 difference = static_cast<u128>(a) - b - borrow;
    borrow = static_cast<u64>(difference >> 64) & 1;
    return static_cast<u64>(difference);
}
