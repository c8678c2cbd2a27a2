// The device's entry points, one kernel a phase. The host launches them in this order and reads
// the counter of one phase before it launches the next:
//
//   expand              one thread a run:       cubics[i] of runs run_first + i
//   domains_METHOD      one thread a run:       appends the failing domains
//   subdomains_METHOD   one thread a subdomain: appends the failing subdomains
//   scan_subdomains     one warp a subdomain:   appends the hits
//   scan_runs           one warp a stretch:     method "scan": appends the hits of whole runs
//   decide              one thread a hit:       appends the candidates
//
// Contract. The compiler is given
//   -DDEGREE=D   degree of the polynomial, 1 <= D
//   -DLIMBS=L    64-bit limbs of a coefficient, 2 <= L
// the block is a Block<DEGREE, LIMBS> passed by value, as in host.cpp, and the block size is a
// multiple of 32 threads. A domain is named by (run - run_first) 2^(run_log2 - domain_log2) + k,
// a subdomain by 8 domain + j; hits and candidates are u. Lists are in no order.
// A list of `capacity` entries comes with a counter that the host has set to 0. The counter goes on
// beyond the capacity while nothing is written there: if it exceeds the capacity, the host
// launches again with more room. Nothing is truncated.
#include "search.cuh"

using Polynomial = Block<DEGREE, LIMBS>;

namespace {

struct List {
    u64* entries;
    unsigned long long* count;
    u64 capacity;

    // One atomic for all lanes of the warp that arrive here together.
    __device__ void append(u64 value) const {
        const unsigned together = __activemask();
        const int lane = static_cast<int>(threadIdx.x & 31);
        const int leader = __ffs(static_cast<int>(together)) - 1;
        unsigned long long place = 0;
        if (lane == leader)
            place = atomicAdd(count, static_cast<unsigned long long>(__popc(together)));
        place = __shfl_sync(together, place, leader) + __popc(together & ((1u << lane) - 1));
        if (place < capacity) entries[place] = value;
    }
};

__device__ u64 thread_index() { return static_cast<u64>(blockIdx.x) * blockDim.x + threadIdx.x; }

// t at which domain `k` of a run begins, seen from the run's centre.
__device__ i64 domain_start(const Polynomial& block, u64 k) {
    return -(i64{1} << (block.run_log2 - 1)) + static_cast<i64>(k << block.domain_log2);
}

__device__ i64 run_centre(const Polynomial& block, u64 run) {
    return block.run_start(run) + (i64{1} << (block.run_log2 - 1));
}

// Run and t of a subdomain from its name.
struct Place {
    u64 run;
    i64 t;
};

__device__ Place place_of_subdomain(const Polynomial& block, u64 subdomain) {
    const u64 domain = subdomain >> SUBDOMAINS_LOG2, j = subdomain & (SUBDOMAINS - 1);
    const u64 domains_log2 = block.run_log2 - block.domain_log2;
    const u64 k = domain & ((u64{1} << domains_log2) - 1);
    const i64 offset = static_cast<i64>(j << (block.domain_log2 - SUBDOMAINS_LOG2));
    return {domain >> domains_log2, domain_start(block, k) + offset};
}

template <class Method>
__device__ void domains(const Polynomial& block, const Cubic* cubics, u64 run_first,
                        u64 run_count, const List& failing) {
    const u64 i = thread_index();
    if (i >= run_count) return;
    const int run_log2 = static_cast<int>(block.run_log2);
    const int domain_log2 = static_cast<int>(block.domain_log2);
    const u64 count = u64{1} << (run_log2 - domain_log2);
    const i64 centre = run_centre(block, run_first + i);
    DomainTable table = table_of_run(cubics[i], run_log2, domain_log2);
    NoCounter counter;
    for (u64 k = 0; k < count && centre + domain_start(block, k) < block.hi; ++k) {
        if (!domain_is_empty<Method>(block, table, counter)) failing.append(i * count + k);
        table.step();
    }
}

template <class Method>
__device__ void subdomains(const Polynomial& block, const Cubic* cubics, u64 run_first,
                           const u64* failing_domains, u64 domain_count, const List& failing) {
    const u64 i = thread_index();
    if (i >= domain_count << SUBDOMAINS_LOG2) return;
    const u64 name = (failing_domains[i >> SUBDOMAINS_LOG2] << SUBDOMAINS_LOG2) |
                     (i & (SUBDOMAINS - 1));
    const Place place = place_of_subdomain(block, name);
    if (run_centre(block, run_first + place.run) + place.t >= block.hi) return;
    NoCounter counter;
    if (!subdomain_is_empty<Method>(block, cubics[place.run], place.t, counter))
        failing.append(name);
}

// The lanes of the calling warp take consecutive slices of the 2^length_log2 arguments from t on.
__device__ void scan_by_warp(const Polynomial& block, const Cubic& cubic, i64 centre, i64 t,
                             int length_log2, const List& hits) {
    const int slice_log2 = length_log2 > 5 ? length_log2 - 5 : 0;
    const i64 offset = static_cast<i64>(threadIdx.x & 31) << slice_log2;
    if (offset >= i64{1} << length_log2) return;
    const u64 length = clipped_length(centre + t + offset, u64{1} << slice_log2, block.hi);
    scan(cubic, block.run_window_value(), t + offset, length,
         [&](i64 at) { hits.append(static_cast<u64>(centre + at)); });
}

}  // namespace

#define BLOCK const __grid_constant__ Polynomial block

extern "C" {

__global__ void expand(BLOCK, u64 run_first, u64 run_count, Cubic* cubics) {
    const u64 i = thread_index();
    if (i < run_count) cubics[i] = cubic_of_run(block, run_first + i);
}

__global__ void domains_lefevre(BLOCK, const Cubic* cubics, u64 run_first, u64 run_count,
                                u64* failing, unsigned long long* count, u64 capacity) {
    domains<Lefevre>(block, cubics, run_first, run_count, {failing, count, capacity});
}

__global__ void domains_regular(BLOCK, const Cubic* cubics, u64 run_first, u64 run_count,
                                u64* failing, unsigned long long* count, u64 capacity) {
    domains<Regular>(block, cubics, run_first, run_count, {failing, count, capacity});
}

__global__ void subdomains_lefevre(BLOCK, const Cubic* cubics, u64 run_first,
                                   const u64* failing_domains, u64 domain_count, u64* failing,
                                   unsigned long long* count, u64 capacity) {
    subdomains<Lefevre>(block, cubics, run_first, failing_domains, domain_count,
                        {failing, count, capacity});
}

__global__ void subdomains_regular(BLOCK, const Cubic* cubics, u64 run_first,
                                   const u64* failing_domains, u64 domain_count, u64* failing,
                                   unsigned long long* count, u64 capacity) {
    subdomains<Regular>(block, cubics, run_first, failing_domains, domain_count,
                        {failing, count, capacity});
}

__global__ void scan_subdomains(BLOCK, const Cubic* cubics, u64 run_first, const u64* failing,
                                u64 subdomain_count, u64* hits, unsigned long long* count,
                                u64 capacity) {
    const u64 warp = thread_index() >> 5;
    if (warp >= subdomain_count) return;
    const Place place = place_of_subdomain(block, failing[warp]);
    scan_by_warp(block, cubics[place.run], run_centre(block, run_first + place.run), place.t,
                 static_cast<int>(block.domain_log2) - SUBDOMAINS_LOG2, {hits, count, capacity});
}

// Each run is cut into stretches of 2^stretch_log2 <= 2^run_log2 arguments, one a warp.
__global__ void scan_runs(BLOCK, const Cubic* cubics, u64 run_first, u64 run_count,
                          u64 stretch_log2, u64* hits, unsigned long long* count, u64 capacity) {
    const u64 warp = thread_index() >> 5, per_run_log2 = block.run_log2 - stretch_log2;
    const u64 i = warp >> per_run_log2;
    if (i >= run_count) return;
    const u64 stretch = warp & ((u64{1} << per_run_log2) - 1);
    const i64 t = -(i64{1} << (block.run_log2 - 1)) + static_cast<i64>(stretch << stretch_log2);
    scan_by_warp(block, cubics[i], run_centre(block, run_first + i), t,
                 static_cast<int>(stretch_log2), {hits, count, capacity});
}

__global__ void decide(BLOCK, const u64* hits, u64 hit_count, u64* candidates,
                       unsigned long long* count, u64 capacity) {
    const u64 i = thread_index();
    if (i < hit_count && is_candidate(block, static_cast<i64>(hits[i])))
        List{candidates, count, capacity}.append(hits[i]);
}

}  // extern "C"
