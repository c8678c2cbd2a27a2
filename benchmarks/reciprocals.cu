// What approximate_reciprocal and approximate_reciprocal_root of a device are good to, by trying all:
// of a double they read the upper 32 bits. reciprocals.py says more.
#include "port.h"

constexpr int LEAST_EXPONENT = -70, MOST_EXPONENT = 140;  // of what lemma 3 of docs/farey.md needs
constexpr int LEAST_FLOAT = -125, MOST_FLOAT = 127;
constexpr u64 MANTISSAS = 1 << 20;

__device__ double positive_double(int exponent, u64 mantissa, u64 low) {
    return __longlong_as_double(
        static_cast<long long>(static_cast<u64>(exponent + 1023) << 52 | mantissa << 32 | low));
}

__device__ float positive_float(int exponent, u64 mantissa) {
    return __uint_as_float(static_cast<unsigned>(exponent + 127) << 23 | static_cast<unsigned>(mantissa));
}

// Of 1/sqrt(a) of floats, all but the least: the greatest relative error for eight mantissas.
__device__ double worst_of_floats(u64 eighth) {
    double worst = 0;
    for (u64 mantissa = 8 * eighth; mantissa < 8 * (eighth + 1); ++mantissa)
        for (int exponent = LEAST_FLOAT; exponent <= MOST_FLOAT; ++exponent) {
            const double a = positive_float(exponent, mantissa);
            const double z = approximate_reciprocal_root(static_cast<float>(a));
            worst = fmax(worst, fabs(fused(-(a * z), z, 1)) / 2);
        }
    return worst;
}

// Of 1/a, of 1/sqrt(a), and of that of floats: the greatest relative error for one mantissa and all exponents. Where the
// result is the same for the least and the greatest lower half, the error between is no worse; where
// it is not, 1 stands for it.
extern "C" __global__ void worst_errors(double* errors) {
    const u64 mantissa = static_cast<u64>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (mantissa >= MANTISSAS) return;
    double reciprocal = 0, root = 0;
    for (int exponent = LEAST_EXPONENT; exponent <= MOST_EXPONENT; ++exponent) {
        const double least = positive_double(exponent, mantissa, 0);
        const double most = positive_double(exponent, mantissa, 0xffffffff);
        const double y = approximate_reciprocal(least), z = approximate_reciprocal_root(least);
        reciprocal = fmax(reciprocal, y == approximate_reciprocal(most) ? 0.0 : 1.0);
        root = fmax(root, z == approximate_reciprocal_root(most) ? 0.0 : 1.0);
        for (const double a : {least, most}) {
            reciprocal = fmax(reciprocal, fabs(fused(-a, y, 1)));
            // With z = (1 + d)/sqrt(a), 1 - a z^2 = -2 d - d^2.
            root = fmax(root, fabs(fused(-(a * z), z, 1)) / 2);
        }
    }
    errors[mantissa] = reciprocal;
    errors[MANTISSAS + mantissa] = root;
    errors[2 * MANTISSAS + mantissa] = worst_of_floats(mantissa);
}
