// What all kernels share: the counters, lists that threads append to, the runs of a unit.
//
// A list goes on counting beyond its capacity while nothing is written there, and later phases then
// see `capacity` entries: the host finds out and runs the unit again with more room. Nothing is
// truncated. Lists are in no order.
#pragma once

#include "checks.cuh"

constexpr unsigned ALL_LANES = ~0u;

// What the host reads back; hrcase/engine/cuda.py has the same order.
struct Counters {
    unsigned long long domains;     // domains tested; runs, for the Farey walk
    unsigned long long failing;     // domains appended, capacity or not
    unsigned long long subdomains;  // subdomains tested
    unsigned long long subfailing;  // subdomains appended, capacity or not
    unsigned long long fractions;   // steps of the walk, while a lane of the warp has some
    unsigned long long wide;        // fractions with many mm appended, capacity or not
    unsigned long long crowds;      // classes with many members appended, capacity or not
    unsigned long long near;        // places for roots near a class beyond those of the walk's
                                    // threads, capacity or not
    unsigned long long scanned;     // arguments that a cubic looked at
    unsigned long long hits;        // hits appended, capacity or not
    unsigned long long candidates;  // candidates appended, capacity or not
    unsigned long long sum;         // sum of the candidates' entries modulo 2^64
    unsigned long long written;     // signatures of what goes from one kernel to another, as written
    unsigned long long taken;       // and as read; for a root near a class 1, as read also for each
                                    // place of the walk's threads
    unsigned long long sound;       // runs whose checks hold
    unsigned long long sentinels;   // planted candidates that were found
    unsigned long long echo;        // word_sum of the block
};

// Changes with every single bit of an entry.
template <class Entry>
__device__ unsigned signature(const Entry& entry) {
    const u64 sum = word_sum(entry);
    return static_cast<unsigned>(sum) + 3 * static_cast<unsigned>(sum >> 32);
}

// One atomic for all lanes of the warp that arrive here together.
template <class Entry>
__device__ void append(Entry* entries, unsigned long long* count, u64 capacity,
                       const Entry& entry) {
    const unsigned together = __activemask();
    const int lane = static_cast<int>(threadIdx.x & 31);
    const int leader = __ffs(static_cast<int>(together)) - 1;
    unsigned long long place = 0;
    if (lane == leader)
        place = atomicAdd(count, static_cast<unsigned long long>(__popc(together)));
    place = __shfl_sync(together, place, leader) + __popc(together & ((1u << lane) - 1));
    if (place < capacity) entries[place] = entry;
}

// The same for a list that a later kernel takes: its signatures are added to `written`.
template <class Entry>
__device__ void pass_on(Entry* entries, unsigned long long* count, u64 capacity,
                        const Entry& entry, unsigned long long* written) {
    append(entries, count, capacity, entry);
    const unsigned together = __activemask();
    const unsigned sum = __reduce_add_sync(together, signature(entry));
    if ((threadIdx.x & 31) + 1 == static_cast<unsigned>(__ffs(static_cast<int>(together))))
        atomicAdd(written, static_cast<unsigned long long>(sum));
}

// Adds the values of all lanes of a warp; every lane must come here.
__device__ inline void add_by_warp(unsigned long long* total, unsigned value) {
    const unsigned sum = __reduce_add_sync(ALL_LANES, value);
    if ((threadIdx.x & 31) == 0 && sum != 0) atomicAdd(total, static_cast<unsigned long long>(sum));
}

__device__ inline u64 thread_index() {
    return static_cast<u64>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ inline u64 thread_count() { return static_cast<u64>(gridDim.x) * blockDim.x; }

__device__ inline u64 at_most(unsigned long long count, u64 capacity) {
    return count < capacity ? count : capacity;
}
