// The device's entry points, one kernel a phase. The host launches all of them on one stream, one
// after the other, and waits once at the end: each reads on the device how many entries the one
// before it left.
//
//   clear               zeroes the counters
//   expand              one thread a run:       cubics[i] of run i
//   expand_groups       one thread a group:     groups[i] of 2^group_log2 runs (walks.cu goes on)
//   domains_METHOD      one thread a packet:    appends the failing domains
//   subdomains_METHOD   one thread a subdomain: appends the failing subdomains
//   scan_subdomains     one warp a subdomain:   appends the hits
//   scan_runs           one warp a stretch:     method "scan": appends the hits of whole runs
//   decide              one thread a hit:       appends the candidates
//   expand_planted      one thread:             the cubic of a sentinel, behind those of the runs
//   check_seams         one thread a run:       does its cubic agree with the next one, and with P?
//
// Contract. The compiler is given
//   -DDEGREE=D   degree of the polynomial, 1 <= D
//   -DLIMBS=L    64-bit limbs of a coefficient, 2 <= L
// the block is a Block<DEGREE, LIMBS> passed by value, as in host.cpp, and the block size is a
// multiple of 32 threads. A packet is 2^packet_log2 consecutive domains of one run. A domain is
// named by run 2^(run_log2 - domain_log2) + k, a subdomain by 8 domain + j; a hit is u - lo, and a
// candidate u - lo + 1, so that no entry of the buffer that goes to the host is 0. Hits at or beyond
// run_count 2^run_log2 are those of the sentinel, a run of the planted block. Lists are in no
// order. A list goes on counting beyond its capacity while nothing is written there, and the later
// phases then see `capacity` entries: the host finds out and runs the unit again with more room.
// Nothing is truncated.
#include "device.cuh"
#include "search.cuh"

using Polynomial = Block<DEGREE, LIMBS>;

namespace {

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
__device__ void domains(const Polynomial& block, const Cubic* cubics, u64 run_count,
                        int packet_log2, u64* failing, u64 capacity, Counters* counters) {
    const int run_log2 = static_cast<int>(block.run_log2);
    const int domain_log2 = static_cast<int>(block.domain_log2);
    const int packets_log2 = run_log2 - domain_log2 - packet_log2;
    const u64 packet = thread_index(), run = packet >> packets_log2;
    unsigned tested = 0;
    bool holds = run < run_count;
    if (holds) {
        const u64 first = (packet & ((u64{1} << packets_log2) - 1)) << packet_log2;
        const i64 start = domain_start(block, first);
        const i64 length = block.hi - (run_centre(block, run) + start);  // left in the block
        DomainTable table =
            domain_table(cubics[run], start + (i64{1} << (domain_log2 - 1)), domain_log2);
        NoCounter counter;
        for (unsigned k = 0; k < 1u << packet_log2; ++k, table.step()) {
            if (static_cast<i64>(u64{k} << domain_log2) >= length) break;
            ++tested;
            if (!domain_is_empty<Method>(block, table, counter))
                pass_on(failing, &counters->failing, capacity,
                       (run << (run_log2 - domain_log2)) + first + k, &counters->written);
        }
        const i64 end = start + (static_cast<i64>(tested) << domain_log2);
        holds = is_value_at(table, cubics[run], end + (i64{1} << (domain_log2 - 1)), domain_log2);
    }
    __syncwarp();
    add_by_warp(&counters->domains, tested);
    add_by_warp(&counters->sound, holds);
}

template <class Method>
__device__ void subdomains(const Polynomial& block, const Cubic* cubics,
                           const u64* failing_domains, u64 domain_capacity, u64* failing,
                           u64 capacity, Counters* counters) {
    const u64 count = at_most(counters->failing, domain_capacity) << SUBDOMAINS_LOG2;
    const u64 rounds = (count + thread_count() - 1) / thread_count();
    unsigned tested = 0, taken = 0;
    for (u64 round = 0; round < rounds; ++round) {
        const u64 i = round * thread_count() + thread_index();
        if (i >= count) continue;
        const u64 domain = failing_domains[i >> SUBDOMAINS_LOG2];
        const u64 name = (domain << SUBDOMAINS_LOG2) | (i & (SUBDOMAINS - 1));
        if ((i & (SUBDOMAINS - 1)) == 0) taken += signature(domain);
        const Place place = place_of_subdomain(block, name);
        ++tested;
        if (place.run >= block.run_count()) continue;  // a fault
        if (run_centre(block, place.run) + place.t >= block.hi) continue;
        NoCounter counter;
        if (!subdomain_is_empty<Method>(block, cubics[place.run], place.t, counter))
            pass_on(failing, &counters->subfailing, capacity, name, &counters->written);
    }
    __syncwarp();
    add_by_warp(&counters->taken, taken);
    add_by_warp(&counters->subdomains, tested);
}

// The lanes of the calling warp take consecutive slices of the 2^length_log2 arguments from t on.
// Returns how many arguments this lane scanned.
__device__ unsigned scan_by_warp(const Polynomial& block, const Cubic& cubic, i64 centre, i64 t,
                                 int length_log2, u64* hits, u64 capacity, Counters* counters) {
    const int slice_log2 = length_log2 > 5 ? length_log2 - 5 : 0;
    const i64 offset = static_cast<i64>(threadIdx.x & 31) << slice_log2;
    if (offset >= i64{1} << length_log2) return 0;
    const u64 length = clipped_length(centre + t + offset, u64{1} << slice_log2, block.hi);
    scan(cubic, block.run_window_value(), t + offset, length, [&](i64 at) {
        pass_on(hits, &counters->hits, capacity, static_cast<u64>(centre + at - block.lo),
               &counters->written);
    });
    return static_cast<unsigned>(length);
}

}  // namespace

#define BLOCK const __grid_constant__ Polynomial block

extern "C" {

__global__ void clear(Counters* counters) { *counters = {}; }

__global__ void expand(BLOCK, u64 run_count, Cubic* cubics) {
    const u64 i = thread_index();
    if (i < run_count) cubics[i] = cubic_of_run(block, i);
}

__global__ void expand_groups(BLOCK, u64 group_count, int group_log2, Group* groups) {
    const u64 i = thread_index();
    if (i < group_count) groups[i] = group_of_runs(block, i, group_log2);
}

__global__ void domains_lefevre(BLOCK, const Cubic* cubics, u64 run_count, int packet_log2,
                                u64* failing, u64 capacity, Counters* counters) {
    domains<Lefevre<Doubles>>(block, cubics, run_count, packet_log2, failing, capacity, counters);
}

__global__ void domains_regular(BLOCK, const Cubic* cubics, u64 run_count, int packet_log2,
                                u64* failing, u64 capacity, Counters* counters) {
    domains<Regular<Doubles>>(block, cubics, run_count, packet_log2, failing, capacity, counters);
}

__global__ void subdomains_lefevre(BLOCK, const Cubic* cubics, const u64* failing_domains,
                                   u64 domain_capacity, u64* failing, u64 capacity,
                                   Counters* counters) {
    subdomains<Lefevre<Doubles>>(block, cubics, failing_domains, domain_capacity, failing,
                                 capacity, counters);
}

__global__ void subdomains_regular(BLOCK, const Cubic* cubics, const u64* failing_domains,
                                   u64 domain_capacity, u64* failing, u64 capacity,
                                   Counters* counters) {
    subdomains<Regular<Doubles>>(block, cubics, failing_domains, domain_capacity, failing,
                                 capacity, counters);
}

__global__ void scan_subdomains(BLOCK, const Cubic* cubics, const u64* failing,
                                u64 failing_capacity, u64* hits, u64 capacity,
                                Counters* counters) {
    const u64 count = at_most(counters->subfailing, failing_capacity);
    for (u64 warp = thread_index() >> 5; warp < count; warp += thread_count() >> 5) {
        const u64 name = failing[warp];
        const Place place = place_of_subdomain(block, name);
        if (place.run >= block.run_count()) continue;  // a fault
        const unsigned scanned = scan_by_warp(
            block, cubics[place.run], run_centre(block, place.run), place.t,
            static_cast<int>(block.domain_log2) - SUBDOMAINS_LOG2, hits, capacity, counters);
        __syncwarp();
        add_by_warp(&counters->scanned, scanned);
        add_by_warp(&counters->taken, (threadIdx.x & 31) == 0 ? signature(name) : 0);
    }
}

// Each run is cut into stretches of 2^stretch_log2 <= 2^run_log2 arguments, one a warp.
__global__ void scan_runs(BLOCK, const Cubic* cubics, u64 run_count, u64 stretch_log2, u64* hits,
                          u64 capacity, Counters* counters) {
    const u64 warp = thread_index() >> 5, per_run_log2 = block.run_log2 - stretch_log2;
    const u64 run = warp >> per_run_log2;
    if (run >= run_count) return;
    const u64 stretch = warp & ((u64{1} << per_run_log2) - 1);
    const i64 t = -(i64{1} << (block.run_log2 - 1)) + static_cast<i64>(stretch << stretch_log2);
    const unsigned scanned =
        scan_by_warp(block, cubics[run], run_centre(block, run), t,
                     static_cast<int>(stretch_log2), hits, capacity, counters);
    __syncwarp();
    add_by_warp(&counters->scanned, scanned);
}

// `planted` is the block of the sentinel, and `wanted` the candidate u of it.
__global__ void decide(BLOCK, const __grid_constant__ Polynomial planted, i64 wanted,
                       const u64* hits, u64 hit_capacity, u64* candidates, u64 capacity,
                       Counters* counters) {
    const u64 count = at_most(counters->hits, hit_capacity);
    const u64 end = block.run_count() << block.run_log2;
    unsigned taken = 0;
    for (u64 i = thread_index(); i < count; i += thread_count()) {
        const u64 hit = hits[i];
        taken += signature(hit);
        if (hit >= end) {
            const i64 u = planted.lo + static_cast<i64>(hit - end);
            if (u == wanted && is_candidate(planted, u)) atomicAdd(&counters->sentinels, 1ull);
            continue;
        }
        if (!is_candidate(block, block.lo + static_cast<i64>(hit))) continue;
        const u64 entry = hit + 1;
        append(candidates, &counters->candidates, capacity, entry);
        atomicAdd(&counters->sum, static_cast<unsigned long long>(entry));
    }
    __syncwarp();
    add_by_warp(&counters->taken, taken);
    if (thread_index() == 0) atomicAdd(&counters->echo, word_sum(block));
}

__global__ void expand_planted(const __grid_constant__ Polynomial planted, u64 place,
                               Cubic* cubics) {
    cubics[place] = cubic_of_run(planted, 0);
}

__global__ void check_seams(BLOCK, const Cubic* cubics, u64 run_count, Counters* counters) {
    const u64 run = thread_index();
    bool holds = run < run_count;
    if (holds) {
        const i64 half = i64{1} << (block.run_log2 - 1), start = block.run_start(run);
        const Cubic cubic = cubics[run];
        const u128 seam = seam_of(block);
        if (run + 1 < run_count)
            holds = agree(cubic.value(half - 1), cubics[run + 1].value(-half - 1), widened(seam, 1));
        // With P at an odd u, where no bit of its coefficients vanishes modulo 1.
        const auto anchored = [&](i64 t) {
            return agree(cubic.value(t), value_at(block, start + half + t), seam);
        };
        if (run == 0) holds = holds && anchored(-half - 1 + (start & 1));
        if (run + 1 == run_count) holds = holds && anchored(half - 1 - (start & 1));
    }
    __syncwarp();
    add_by_warp(&counters->sound, holds);
}

}  // extern "C"
