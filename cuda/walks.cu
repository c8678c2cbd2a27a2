// The Farey walk on the device. These kernels do not depend on the shape of the polynomial: the
// kernels of kernels.cu make the runs' cubics, or the polynomials of groups of runs, before them
// (expand, expand_groups) and decide the hits after them.
//
//   expand_runs   one thread a run:      cubics[i] of run i, from the polynomial of its group
//   start_walks   one thread a run:      writes starts[i] of run i, or appends the hits of a line;
//                                        appends the stretches that must be scanned
//   walk          one thread a run:      appends the roots near a class, and the fractions with
//                                        many mm
//   cross_wide    one warp a fraction:   appends the roots near a class of its mm
//   take_near     one thread a root:     appends the hits, or a stretch that must be scanned
//   scan_crowded  all of them:           appends the hits of the stretches
//
// The proof is docs/farey.md. A hit is u - lo as in kernels.cu, and may come more than once.
#include "device.cuh"
#include "farey_run.cuh"

// Runs of 2^run_log2 consecutive u from lo on, lo <= u < hi, and the window of their cubics.
struct Runs {
    i64 lo, hi;
    u64 run_log2, count;
    u64 window_limbs[2];

    HD u128 window() const { return (static_cast<u128>(window_limbs[1]) << 64) | window_limbs[0]; }
    HD i64 half() const { return i64{1} << (run_log2 - 1); }
    HD i64 centre(u64 run) const {
        return static_cast<i64>(static_cast<u64>(lo) + (run << run_log2)) + half();
    }
    HD i64 last(u64 run) const {
        const i64 left = hi - 1 - centre(run);
        return left < half() - 1 ? left : half() - 1;
    }
};

// A run as it is walked; q = 0 where it is not.
struct Start {
    FareyRun<double> run;
    FareyWalk<double> walk;
};

// Arguments first <= t <= last of a run, all of which are looked at.
struct Stretch {
    u64 run;
    i64 first, last;
};

// A fraction with many mm, of which those before `first` are done; `walk` has no right neighbour.
struct Wide {
    u64 run;
    double first;
    FareyWalk<double> walk;
};

constexpr u64 NO_RUN = ~u64{0};

// A root of one mm near a class; run = NO_RUN where a place of the list was left over.
struct Near {
    u64 run;
    double left, q, r, x, value, slack, mm;
};

namespace {

constexpr int WARPS = 4;  // of a block of `walk`
constexpr int STEPS = 2;  // between two looks at the queue
// A fraction with more mm than this after the first leaves its lane.
constexpr double FEW = 31;
// A class with more members than this in a span leaves its lane: the span is scanned.
constexpr double MANY_MEMBERS = 1024;

__device__ bool is_crowded(const Span& span, double q) {
    return span.hi - span.lo > MANY_MEMBERS * q;
}

__device__ void take(const Runs& runs, const Cubic& cubic, u64 run, i64 t, u64* hits,
                     u64 capacity, Counters* counters) {
    if (!is_hit(cubic, runs.window(), t)) return;
    append(hits, &counters->hits, capacity, static_cast<u64>(runs.centre(run) + t - runs.lo));
}

// Lists that `walk` and `cross_wide` append to.
struct Lists {
    Near* near;
    u64 near_capacity;
    Wide* wide;
    u64 wide_capacity;
    Counters* counters;
    double half;  // H, the same for all runs
};

__device__ Near near_of(u64 run, const FareyWalk<double>& walk, const Crossing<double>& at,
                        double mm) {
    return {run, walk.left, walk.q, walk.r, walk.x, at.value, at.slack, mm};
}

// A warp's part of the list of roots near a class: it takes CHUNK places at a time, since one
// atomic for each root would hold it up.
struct NearChunk {
    static constexpr u64 CHUNK = 32;
    u64 place, end;  // of the next root, of the chunk

    // Appends the entries of the lanes that have one. All lanes come here.
    __device__ void append(bool has_one, const Near& entry, int lane, unsigned below,
                           const Lists& lists) {
        const unsigned together = __ballot_sync(ALL_LANES, has_one);
        if (together == 0) return;
        const unsigned count = __popc(together);
        u64 first = place;
        __syncwarp();
        if (first + count > end) {
            close(lane, lists);
            first = take_chunk(lane, lists);
        }
        const u64 mine = first + __popc(together & below);
        if (has_one && mine < lists.near_capacity) lists.near[mine] = entry;
        if (lane == 0) place = first + count;
        __syncwarp();
    }

    // Marks the places that are left over.
    __device__ void close(int lane, const Lists& lists) const {
        const u64 mine = place + static_cast<u64>(lane);
        if (mine < end && mine < lists.near_capacity) lists.near[mine].run = NO_RUN;
        __syncwarp();
    }

    __device__ u64 take_chunk(int lane, const Lists& lists) {
        unsigned long long first = 0;
        if (lane == 0) {
            first = atomicAdd(&lists.counters->near, static_cast<unsigned long long>(CHUNK));
            end = first + CHUNK;
        }
        return __shfl_sync(ALL_LANES, first, 0);
    }
};

// The crossings that lanes of a warp have met, until there is one for each lane.
struct Queue {
    static constexpr int SIZE = 32 * (STEPS + 1);
    NearChunk chunk;
    double2 left_q[SIZE], r_x[SIZE], value_slack[SIZE], first_last[SIZE];
    int owner[SIZE];

    __device__ void put(int place, const FareyWalk<double>& walk, const Crossing<double>& at,
                        int lane) {
        left_q[place] = make_double2(walk.left, walk.q);
        r_x[place] = make_double2(walk.r, walk.x);
        value_slack[place] = make_double2(at.value, at.slack);
        first_last[place] = make_double2(at.first, at.last);
        owner[place] = lane;
    }
    __device__ FareyWalk<double> walk(int place) const {
        const double2 a = left_q[place], b = r_x[place];
        return {a.x, a.y, 0, b.x, 0, b.y, 0};
    }
    __device__ Crossing<double> crossing(int place) const {
        const double2 a = value_slack[place], b = first_last[place];
        return {a.x, a.y, b.x, b.y};
    }
};

// The same queue, at an address that the compiler keeps in a register: left alone it works the
// address out anew for every crossing.
__device__ Queue& at_fixed_address(Queue& queue) {
    size_t address = __cvta_generic_to_shared(&queue);
    asm volatile("" : "+l"(address));
    return *static_cast<Queue*>(__cvta_shared_to_generic(address));
}

// A bit for each lane below this one.
__device__ unsigned lanes_below() {
    unsigned mask;
    asm volatile("mov.u32 %0, %%lanemask_lt;" : "=r"(mask));
    return mask;
}

// The lanes take the last `count` crossings off the queue, one each, and test its first mm; where
// that is not the last, the crossing goes back. Returns how many went back. All lanes come here.
__device__ int drain(Queue& queue, int waiting, int count, unsigned own_index, int lane,
                     unsigned below, const FareyRun<double>& own, const Lists& lists) {
    const int base = waiting - count;
    const int place = base + (lane < count ? lane : 0), owner = queue.owner[place];
    FareyRun<double> run = own;  // of the owner, as far as it is read
    run.half = lists.half;
    run.half_inverse = __shfl_sync(ALL_LANES, own.half_inverse, owner);
    run.drift = __shfl_sync(ALL_LANES, own.drift, owner);
    const FareyWalk<double> walk = queue.walk(place);
    Crossing<double> at = queue.crossing(place);
    const u64 index = (own_index & ~31u) + static_cast<unsigned>(owner);
    const double mm = at.first;
    const bool wide = lane < count && at.last > mm + FEW;
    const bool is_near = lane < count && near_class(walk, roots_of(run, walk, at, mm), mm) != 0;
    queue.chunk.append(is_near, near_of(index, walk, at, mm), lane, below, lists);
    at.first = mm + 1;
    if (wide)
        append(lists.wide, &lists.counters->wide, lists.wide_capacity,
               Wide{index, at.first, walk});
    const bool again = lane < count && !wide && at.first <= at.last;
    const unsigned back = __ballot_sync(ALL_LANES, again);
    if (again) queue.put(base + __popc(back & below), walk, at, owner);
    __syncwarp();
    return __popc(back);
}

struct StoredStart {
    Start* start;
    HD void add(const FareyTask& task) { *start = {task.run, task.walk}; }
};

}  // namespace

extern "C" {

__global__ void expand_runs(const Runs runs, const Group* groups, int group_log2, Cubic* cubics) {
    const u64 run = thread_index();
    if (run >= runs.count) return;
    const u64 place = run & ((u64{1} << group_log2) - 1);
    cubics[run] = groups[run >> group_log2].cubic_of_run(
        place, static_cast<int>(runs.run_log2), group_log2);
}

__global__ void start_walks(const Runs runs, const Cubic* cubics, Start* starts, u64* hits,
                            u64 hit_capacity, Stretch* crowded, u64 crowded_capacity,
                            Counters* counters) {
    const u64 run = thread_index();
    unsigned scanned = 0;
    if (run < runs.count) {
        const Cubic cubic = cubics[run];
        const i64 last = runs.last(run);
        starts[run].walk.q = 0;
        StoredStart walks = {starts + run};
        const auto scan_later = [&](i64 from, i64 to) {
            append(crowded, &counters->crowded, crowded_capacity, Stretch{run, from, to});
        };
        const auto on_class = [&](u64 q, u64 left, i64 mm, const Span& span) {
            if (is_crowded(span, static_cast<double>(q)))
                return scan_later(static_cast<i64>(ceil(span.lo)),
                                  static_cast<i64>(floor(span.hi)));
            each_of_class(q, left, mm, span, [&](i64 t) {
                ++scanned;
                take(runs, cubic, run, t, hits, hit_capacity, counters);
            });
        };
        each_of_run(cubic, runs.window(), static_cast<int>(runs.run_log2), runs.centre(run), last,
                    on_class, [&] { scan_later(-runs.half(), last); }, walks);
    }
    __syncwarp();
    add_by_warp(&counters->domains, run < runs.count);
    add_by_warp(&counters->scanned, scanned);
}

// Lanes that are done walk on until all of the warp are, but are not looked at.
__global__ void __launch_bounds__(32 * WARPS)
    walk(const Start* starts, u64 run_count, double half, Near* near, u64 near_capacity,
         Wide* wide, u64 wide_capacity, Counters* counters) {
    __shared__ Queue queues[WARPS];
    Queue& queue = at_fixed_address(queues[threadIdx.x >> 5]);
    const Lists lists = {near, near_capacity, wide, wide_capacity, counters, half};
    const int lane = static_cast<int>(threadIdx.x & 31);
    const unsigned below = lanes_below();
    const unsigned index = static_cast<unsigned>(thread_index());
    const Start start = starts[index < run_count ? index : 0];
    const FareyRun<double> run = start.run;
    FareyWalk<double> walk = start.walk;
    if (lane == 0) queue.chunk = {0, 0};
    bool walking = index < run_count && walk.q > 0;
    int waiting = 0, turns = 0;
    for (; __any_sync(ALL_LANES, walking); ++turns) {
UNROLL
        for (int step = 0; step < STEPS; ++step) {
            const Crossing<double> at = crossing_of(run, walk);
            const bool crossed = walking && at.first <= at.last;
            const unsigned together = __ballot_sync(ALL_LANES, crossed);
            if (crossed) queue.put(waiting + __popc(together & below), walk, at, lane);
            waiting += __popc(together);
            walking = walking && walk.x < run.end;
            walk.step(run);
        }
        __syncwarp();
        while (waiting >= 32)
            waiting += drain(queue, waiting, 32, index, lane, below, run, lists) - 32;
    }
    __syncwarp();
    while (waiting > 0)
        waiting = drain(queue, waiting, waiting, index, lane, below, run, lists);
    queue.chunk.close(lane, lists);
    const bool walked = index < run_count && starts[index].walk.q > 0;
    add_by_warp(&counters->fractions, walked ? static_cast<unsigned>(turns * STEPS) : 0);
}

__global__ void cross_wide(const Runs runs, const Start* starts, const Wide* wide,
                           u64 wide_capacity, Near* near, u64 near_capacity,
                           Counters* counters) {
    const u64 count = at_most(counters->wide, wide_capacity);
    const double lane = threadIdx.x & 31;
    for (u64 i = thread_index() >> 5; i < count; i += thread_count() >> 5) {
        const FareyWalk<double> walk = wide[i].walk;
        FareyTask task = {};
        task.run = starts[wide[i].run].run, task.last = runs.last(wide[i].run);
        Crossing<double> at = crossing_of(task.run, walk);
        at.first = larger(at.first, wide[i].first);
        narrow(task, walk, arc_of(task, walk), at);
        for (double mm = at.first + lane; mm <= at.last; mm += 32)
            if (near_class(walk, roots_of(task.run, walk, at, mm), mm))
                append(near, &counters->near, near_capacity,
                       near_of(wide[i].run, walk, at, mm));
        __syncwarp();
    }
}

__global__ void take_near(const Runs runs, const Cubic* cubics, const Start* starts,
                          const Near* near, u64 near_capacity, u64* hits, u64 hit_capacity,
                          Stretch* crowded, u64 crowded_capacity, Counters* counters) {
    const u64 count = at_most(counters->near, near_capacity);
    unsigned scanned = 0;
    for (u64 i = thread_index(); i < count; i += thread_count()) {
        const Near entry = near[i];
        const u64 run = entry.run;
        if (run == NO_RUN) continue;
        FareyWalk<double> walk = {};
        walk.left = entry.left, walk.q = entry.q, walk.r = entry.r, walk.x = entry.x;
        const Crossing<double> at = {entry.value, entry.slack, 0, 0};
        const Roots<double> roots = roots_of(starts[run].run, walk, at, entry.mm);
        const Images<double> images = images_of(walk, roots, entry.mm);
        const i64 first = -runs.half(), last = runs.last(run);
        for (int side = -1; side <= 1; side += 2) {
            const double root = walk.x + side * roots.w;
            const Span span = {larger(static_cast<double>(first), root - roots.width),
                               smaller(static_cast<double>(last), root + roots.width)};
            if (is_crowded(span, walk.q)) {
                append(crowded, &counters->crowded, crowded_capacity,
                       Stretch{run, static_cast<i64>(ceil(span.lo)),
                               static_cast<i64>(floor(span.hi))});
                continue;
            }
            each_near_image(walk, side < 0 ? images.down : images.up, images.tolerance, entry.mm,
                            first, last, [&](i64 t) {
                                ++scanned;
                                take(runs, cubics[run], run, t, hits, hit_capacity, counters);
                            });
        }
    }
    __syncwarp();
    add_by_warp(&counters->scanned, scanned);
}

// Each warp takes pieces of 2^piece_log2 >= 32 arguments of every listed stretch.
__global__ void scan_crowded(const Runs runs, const Cubic* cubics, const Stretch* crowded,
                             u64 crowded_capacity, int piece_log2, u64* hits, u64 hit_capacity,
                             Counters* counters) {
    const u64 count = at_most(counters->crowded, crowded_capacity);
    const i64 slice = i64{1} << (piece_log2 - 5);
    const i64 step = static_cast<i64>(thread_count() >> 5) << piece_log2;
    const i64 start = static_cast<i64>(thread_index() >> 5 << piece_log2) +
                      static_cast<i64>(threadIdx.x & 31) * slice;
    unsigned scanned = 0;
    for (u64 i = 0; i < count; ++i) {
        const Stretch stretch = crowded[i];
        const Cubic cubic = cubics[stretch.run];
        for (i64 t = stretch.first + start; t <= stretch.last; t += step) {
            const i64 left = stretch.last - t + 1, length = left < slice ? left : slice;
            scan(cubic, runs.window(), t, static_cast<u64>(length), [&](i64 hit) {
                append(hits, &counters->hits, hit_capacity,
                       static_cast<u64>(runs.centre(stretch.run) + hit - runs.lo));
            });
            scanned += static_cast<unsigned>(length);
        }
    }
    __syncwarp();
    add_by_warp(&counters->scanned, scanned);
}

}  // extern "C"
