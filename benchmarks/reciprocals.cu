// What approximate_reciprocal and approximate_reciprocal_root of a device are good to, by trying all:
// they read the upper 32 bits of a double. reciprocals.py says more.
#include "port.h"

constexpr int LEAST_EXPONENT = -70, MOST_EXPONENT = 140;  // of what lemma 3 of docs/farey.md needs
constexpr u64 MANTISSAS = 1 << 20;

__device__ double positive_double(int exponent, u64 mantissa, u64 low) {
    return __longlong_as_double(
        static_cast<long long>(static_cast<u64>(exponent + 1023) << 52 | mantissa << 32 | low));
}

// Of 1/a, and of 1/sqrt(a): the greatest relative error for one mantissa and all exponents. Where the
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
}
