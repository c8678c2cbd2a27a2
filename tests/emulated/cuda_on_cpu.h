// CUDA's words for g++: the device's kernels run on the CPU, one warp after the other.
//
// The lanes of a warp are 32 contexts (ucontext) of one thread. A lane runs until it comes to an
// operation of the whole warp; when all lanes that have not ended are there, they go on. So the
// order is fixed, atomics need no care, and a lane that misses such an operation is found out:
// all lanes must then have ended. __activemask() gives the calling lane alone, which CUDA allows.
#pragma once

#define CUDA_ON_CPU  // the choices that cuda/ makes for a device

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <tuple>
#include <ucontext.h>
#include <utility>
#include <vector>

#include <cstdint>

#define __global__
#define __device__
#define __shared__ static
#define __grid_constant__
#define __launch_bounds__(...)

struct Index3 {
    unsigned x;
};
inline Index3 threadIdx, blockIdx, blockDim, gridDim;

struct double2 {
    double x, y;
};
inline double2 make_double2(double x, double y) { return {x, y}; }

namespace emulated {

constexpr int LANES = 32;
constexpr size_t STACK = size_t{1} << 17;

struct Warp {
    ucontext_t scheduler, lane[LANES];
    std::vector<char> stack = std::vector<char>(LANES * STACK);
    bool ended[LANES];
    int current;
    std::uint64_t slot[LANES];
};
inline Warp warp;

// Lets the other lanes come to the same point.
inline void wait_for_all() { swapcontext(&warp.lane[warp.current], &warp.scheduler); }

// What every lane of the warp says; a lane that has ended says nothing.
template <class Value, class Use>
inline auto exchange(Value value, const Use& use) {
    static_assert(sizeof(Value) <= sizeof(std::uint64_t));
    std::memcpy(&warp.slot[warp.current], &value, sizeof value);
    wait_for_all();
    const auto result = use();
    wait_for_all();
    return result;
}

template <class Value>
inline Value slot_of(int lane) {
    Value value;
    std::memcpy(&value, &warp.slot[lane], sizeof value);
    return value;
}

struct Kernel {
    void (*call)(void*);
    void* arguments;
};
inline Kernel kernel;

inline void run_lane() {
    kernel.call(kernel.arguments);
    warp.ended[warp.current] = true;
    wait_for_all();
}

inline void run_warp(unsigned first_thread) {
    for (int lane = 0; lane < LANES; ++lane) {
        warp.ended[lane] = false, warp.slot[lane] = 0;
        getcontext(&warp.lane[lane]);
        warp.lane[lane].uc_stack.ss_sp = warp.stack.data() + static_cast<size_t>(lane) * STACK;
        warp.lane[lane].uc_stack.ss_size = STACK;
        warp.lane[lane].uc_link = nullptr;
        makecontext(&warp.lane[lane], run_lane, 0);
    }
    for (int left = LANES; left > 0;) {
        int ended = 0;
        for (int lane = 0; lane < LANES; ++lane) {
            if (warp.ended[lane]) continue;
            warp.current = lane, threadIdx.x = first_thread + static_cast<unsigned>(lane);
            swapcontext(&warp.scheduler, &warp.lane[lane]);
            ended += warp.ended[lane];
        }
        if (ended != 0 && ended != left) {
            std::fprintf(stderr, "a lane ended while others wait for the whole warp\n");
            std::abort();
        }
        left -= ended;
    }
}

template <class... A, size_t... I>
void launch(void (*function)(A...), unsigned grid, unsigned block, void** pointers,
            std::index_sequence<I...>) {
    using All = std::tuple<void (*)(A...), void**>;
    All all = {function, pointers};
    kernel.arguments = &all;
    kernel.call = [](void* raw) {
        auto& [target, given] = *static_cast<All*>(raw);
        target(*static_cast<std::remove_cv_t<std::remove_reference_t<A>>*>(given[I])...);
    };
    gridDim.x = grid, blockDim.x = block;
    for (blockIdx.x = 0; blockIdx.x < grid; ++blockIdx.x)
        for (unsigned first = 0; first < block; first += LANES) run_warp(first);
}

// Runs a kernel; pointers[i] points to its i-th argument. `block` is a multiple of 32, or 1.
template <class... A>
void launch(void (*function)(A...), unsigned grid, unsigned block, void** pointers) {
    launch(function, grid, block, pointers, std::index_sequence_for<A...>{});
}

}  // namespace emulated

inline unsigned __activemask() { return 1u << emulated::warp.current; }
inline int __popc(unsigned value) { return __builtin_popcount(value); }
inline int __ffs(int value) { return __builtin_ffs(value); }
inline void __syncwarp() { emulated::wait_for_all(); }

template <class Value>
inline Value __shfl_sync(unsigned mask, Value value, int lane) {
    if (mask == __activemask()) return value;
    return emulated::exchange(value, [&] { return emulated::slot_of<Value>(lane); });
}
inline unsigned __ballot_sync(unsigned, bool value) {
    return emulated::exchange(value, [] {
        unsigned all = 0;
        for (int lane = 0; lane < emulated::LANES; ++lane)
            all |= static_cast<unsigned>(emulated::slot_of<bool>(lane)) << lane;
        return all;
    });
}
inline bool __any_sync(unsigned mask, bool value) { return __ballot_sync(mask, value) != 0; }
inline unsigned __reduce_add_sync(unsigned mask, unsigned value) {
    if (mask == __activemask()) return value;
    return emulated::exchange(value, [] {
        unsigned sum = 0;
        for (int lane = 0; lane < emulated::LANES; ++lane)
            sum += emulated::slot_of<unsigned>(lane);
        return sum;
    });
}

inline unsigned long long atomicAdd(unsigned long long* at, unsigned long long value) {
    const unsigned long long before = *at;
    *at += value;
    return before;
}
inline long long __double_as_longlong(double value) {
    long long bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}
inline double __dadd_rn(double a, double b) { return a + b; }
inline float __fadd_rn(float a, float b) { return a + b; }
// Rounded upwards. The error of a + b in double is a double (Knuth's two sums).
inline double __dadd_ru(double a, double b) {
    const double sum = a + b, part = sum - a;
    const double error = (a - (sum - part)) + (b - part);
    return error > 0 ? std::nextafter(sum, INFINITY) : sum;
}
inline size_t __cvta_generic_to_shared(const void* pointer) {
    return reinterpret_cast<size_t>(pointer);
}
inline void* __cvta_shared_to_generic(size_t address) { return reinterpret_cast<void*>(address); }
