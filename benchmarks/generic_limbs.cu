// The expansion of a block to the cubics of its runs, with degree and limb count at run time: what
// `expand` of cuda/kernels.cu would be if it were not compiled for one shape. The same arithmetic
// (cuda/polynomial.cuh, cuda/limbs.cuh), the same layout of a block and of the cubics; only the
// trip counts are arguments, so that the limbs live in local memory. generic_limbs.py times both.
#include "port.h"

constexpr int MOST_DEGREE = 8;
constexpr int MOST_LIMBS = 7;

// result = x t + c, two's complement; `result` may be c. See horner_step of cuda/limbs.cuh.
__device__ void horner_step(const u64* x, i64 t, const u64* c, u64* result, int limbs) {
    const u64 negative = t < 0 ? ~u64{0} : u64{0};
    u64 carry = 0, borrow = 0;
    for (int i = 0; i < limbs; ++i) {
        const u64 product = multiply_add(x[i], static_cast<u64>(t), c[i], carry);
        const u64 excess = i == 0 ? u64{0} : (x[i - 1] & negative);
        result[i] = subtract_borrow(product, excess, borrow);
    }
}

// `block`: the words of a Block<degree, limbs>. Run i is centred at lo + i 2^run_log2 + half.
extern "C" __global__ void expand_generic(const u64* block, int degree, int limbs, u64 run_count,
                                          u64* cubics) {
    const u64 run = static_cast<u64>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (run >= run_count) return;
    const u64* after_window = block + (degree + 2) * limbs;
    const u64 lo = after_window[4], run_log2 = after_window[6];
    const i64 centre = static_cast<i64>(lo + (run << run_log2)) + (i64{1} << (run_log2 - 1));
    u64 shifted[(MOST_DEGREE + 1) * MOST_LIMBS];
    for (int i = 0; i < (degree + 1) * limbs; ++i) shifted[i] = block[i];
    for (int i = 0; i < 4; ++i) {
        u64* low = cubics + 8 * run + 2 * i;
        low[0] = low[1] = 0;
        if (i > degree) continue;
        for (int j = degree - 1; j >= i; --j)
            horner_step(shifted + (j + 1) * limbs, centre, shifted + j * limbs,
                        shifted + j * limbs, limbs);
        low[0] = shifted[i * limbs + limbs - 2];
        low[1] = shifted[i * limbs + limbs - 1];
    }
}
