// The Farey walk on the device. These kernels do not depend on the shape of the polynomial: the
// kernels of kernels.cu make the runs' cubics, or the polynomials of groups of runs, before them
// (expand, expand_groups) and decide the hits after them.
//
//   expand_runs   one thread a run:      cubics[i] of run i, from the polynomial of its group
//   start_walks   one thread a run:      writes starts[i] of run i, or appends the hits of a line;
//                                        appends classes with many members
//   walk          one thread a run:      appends the roots that may be near a class, and the
//                                        fractions with many mm
//   cross_wide    one warp a fraction:   appends the roots near a class of its mm
//   take_near     one thread a root:     appends the hits, or a class with many members
//   take_crowds   a warp or all of them: appends the hits of the classes with many members
//   check_walks   one thread a run:      is starts[i] where the walk must be when it ends?
//
// Behind the block's runs comes one more, the sentinel's (kernels.cu). The proof is docs/farey.md. A hit is u - lo as in kernels.cu, and may come more than once.
#include "device.cuh"
#include "farey_run.cuh"

constexpr int THREADS = 128;  // of a block of `walk`

// Runs of 2^run_log2 consecutive u from lo on, lo <= u < hi, and the window of their cubics.
struct Runs {
    i64 lo, hi;
    u64 run_log2, count;  // without the sentinel's
    u64 window_limbs[2];

    HD u128 window() const { return (static_cast<u128>(window_limbs[1]) << 64) | window_limbs[0]; }
    // Of `walk`, which has one for each run and for the sentinel's; each has a place in the list of
    // roots near a class.
    HD u64 threads() const { return (count / THREADS + 1) * THREADS; }
    HD i64 half() const { return i64{1} << (run_log2 - 1); }
    HD i64 centre(u64 run) const {
        return static_cast<i64>(static_cast<u64>(lo) + (run << run_log2)) + half();
    }
    HD i64 last(u64 run) const {
        if (run == count) return half() - 1;
        const i64 left = hi - 1 - centre(run);
        return left < half() - 1 ? left : half() - 1;
    }
};

// A run as it is walked; q = 0 where it is not. `walk` is where it begins, later where it stands when all of its
// warp are done, with the number of steps for `left`.
struct Start {
    FareyRun<double> run;
    FareyWalk<double> walk;
};

// Members of a run's class that are looked at by many lanes.
struct Crowd {
    u64 run;
    Members members;
};

// A fraction with many mm, of which those before `first` are done; `walk` has no right neighbour.
struct Wide {
    u64 run;
    double first;
    FareyWalk<double> walk;
};

constexpr unsigned NO_RUN = ~0u;

// What is left of a list's capacity behind the places of the walk's threads; the host sees to it that
// they fit.
__device__ inline u64 beyond(u64 own, u64 capacity) { return capacity > own ? capacity - own : 0; }

// A root of one mm that may be near a class; run = NO_RUN where a place of the list was left over.
struct Near {
    unsigned run, fold;  // fold: all halves of left, q, r, x, mm, added without carry
    double left, q, r, x, value, slack, mm;
};

namespace {

constexpr int STEPS = 2;    // between two looks at the queue
constexpr int AT_ONCE = 4;  // mm of a crossing that are looked at together
constexpr int MOST_TURNS = (1 << 23) / STEPS;  // n < (9/8) 2^22 + 2: lemmas 5 and 7
// A fraction with more mm than this after its first AT_ONCE leaves its lane.
constexpr double FEW = 127;
// A class with more members than this leaves its lane.
constexpr i64 MANY_MEMBERS = 256;
// With more than this it is shared by all warps, otherwise one warp takes it.
constexpr i64 MEMBERS_OF_A_WARP = i64{1} << 16;

__device__ void take(const Runs& runs, const Cubic& cubic, u64 run, i64 t, u64* hits,
                     u64 capacity, Counters* counters) {
    if (!is_hit(cubic, runs.window(), t)) return;
    pass_on(hits, &counters->hits, capacity, static_cast<u64>(runs.centre(run) + t - runs.lo),
            &counters->written);
}

// Lists that `walk` appends to.
struct Lists {
    Near* near;
    u64 near_capacity;
    Wide* wide;
    u64 wide_capacity;
    Counters* counters;
};

__device__ unsigned fold_of(double left, double q, double r, double x, double mm) {
    const auto halves = [](double value) {
        const auto bits = static_cast<u64>(__double_as_longlong(value));
        return static_cast<unsigned>(bits) ^ static_cast<unsigned>(bits >> 32);
    };
    return halves(left) ^ halves(q) ^ halves(r) ^ halves(x) ^ halves(mm);
}

__device__ Near near_of(u64 run, const FareyWalk<double>& walk, const Crossing<double>& at,
                        double mm) {
    return {static_cast<unsigned>(run), fold_of(walk.left, walk.q, walk.r, walk.x, mm),
            walk.left, walk.q, walk.r, walk.x, at.value, at.slack, mm};
}

// Is the entry as it was written? V and the slack are worked out anew, from its run.
__device__ bool is_whole(const Near& entry, const FareyRun<double>& run) {
    FareyWalk<double> walk = {};
    walk.q = entry.q, walk.x = entry.x;
    const Crossing<double> at = crossing_of(run, walk);
    return entry.fold == fold_of(entry.left, entry.q, entry.r, entry.x, entry.mm) &&
           entry.value == at.value && entry.slack == at.slack;
}

// A warp's part of the list of roots near a class. It begins with the warp's own places; further ones
// come CHUNK at a time. Atomics on one counter would hold all warps up.
struct NearChunk {
    static constexpr unsigned CHUNK = 32;
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
            first = thread_count() + atomicAdd(&lists.counters->near, CHUNK);
            end = first + CHUNK;
            atomicAdd(&lists.counters->written, CHUNK);
        }
        return __shfl_sync(ALL_LANES, first, 0);
    }
};

// Crossings of the lanes of a warp with more than AT_ONCE mm, until there is one for each lane.
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

// A bit for each lane below this one, kept in a register too.
__device__ unsigned lanes_below() {
    unsigned mask = (1u << (threadIdx.x & 31)) - 1;
    asm volatile("" : "+r"(mask));
    return mask;
}

// Takes the first AT_ONCE mm of the lanes' crossings: appends those that may be near, and leaves the
// rest in `at`. All lanes come here; `counts` says which of them have a crossing.
__device__ void take_first(bool counts, u64 run, float half_inverse,
                           const FareyWalk<double>& walk, Crossing<double>& at, NearChunk& chunk,
                           int lane, unsigned below, const Lists& lists) {
    static_assert(AT_ONCE <= LEMMA_12_MOST);
    const QuickLook look(walk, at, half_inverse);
    unsigned near = 0;  // a bit for each mm
UNROLL
    for (int i = 0; i < AT_ONCE; ++i) near |= look.may_be_near(i) ? 1u << i : 0u;
    if (!counts) near = 0;
    for (; __any_sync(ALL_LANES, near != 0); near &= near - 1) {
        const double mm = at.first + (__ffs(static_cast<int>(near)) - 1);
        chunk.append(near != 0, near_of(run, walk, at, mm), lane, below, lists);
    }
    at.first += AT_ONCE;
}

// The lanes take the last `count` crossings off the queue, one each, and their next mm; a crossing
// that has more goes back. Returns how many went back. All lanes come here.
__device__ int drain(Queue& queue, int waiting, int count, unsigned own_index, int lane,
                     unsigned below, float own_half_inverse, const Lists& lists) {
    const int base = waiting - count;
    const int place = base + (lane < count ? lane : 0), owner = queue.owner[place];
    const float half_inverse = __shfl_sync(ALL_LANES, own_half_inverse, owner);
    const FareyWalk<double> walk = queue.walk(place);
    Crossing<double> at = queue.crossing(place);
    const u64 index = (own_index & ~31u) + static_cast<unsigned>(owner);
    const bool wide = lane < count && at.last > at.first + FEW;
    if (wide)
        pass_on(lists.wide, &lists.counters->wide, lists.wide_capacity,
                Wide{index, at.first, walk}, &lists.counters->written);
    __syncwarp();
    const bool counts = lane < count && !wide;
    take_first(counts, index, half_inverse, walk, at, queue.chunk, lane, below, lists);
    const bool again = counts && at.first <= at.last;
    const unsigned back = __ballot_sync(ALL_LANES, again);
    __syncwarp();  // votes order no memory: all lanes have read their place
    if (again) queue.put(base + __popc(back & below), walk, at, owner);
    __syncwarp();
    return __popc(back);
}

// The lanes from `lane` on, `lanes` of them, share the members of a crowd.
__device__ i64 take_share(const Runs& runs, const Cubic* cubics, const Crowd& crowd, u64 lane,
                          u64 lanes, u64* hits, u64 capacity, Counters* counters) {
    if (crowd.run > runs.count || crowd.members.count > 2 * runs.half()) return 0;  // a fault
    const Cubic cubic = cubics[crowd.run];
    i64 taken = 0;
    for (i64 i = static_cast<i64>(lane); i < crowd.members.count; i += static_cast<i64>(lanes)) {
        ++taken;
        take(runs, cubic, crowd.run, crowd.members.first + i * crowd.members.q, hits, capacity,
             counters);
    }
    return taken;
}

// Is there a walk for this parabola? As each_of_run decides.
__device__ bool is_to_walk(const Parabola& f, const FareyRun<double>& run, int run_log2) {
    return f.window <= WIDEST_WINDOW && is_walked(f, run_log2) && run.window <= WIDEST_WINDOW;
}

// Keeps the start of a run's walk.
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
                            u64 hit_capacity, Crowd* crowds, u64 crowd_capacity,
                            Counters* counters) {
    const u64 run = thread_index();
    unsigned scanned = 0;
    if (run <= runs.count) {
        const Cubic cubic = cubics[run];
        const i64 last = runs.last(run);
        starts[run].walk.q = 0;
        StoredStart walks = {starts + run};
        const auto leave = [&](const Members& members) {
            pass_on(crowds, &counters->crowds, crowd_capacity, Crowd{run, members},
                    &counters->written);
        };
        const auto on_line = [&](const Members& members) {
            if (members.count > MANY_MEMBERS) return leave(members);
            each_of(members, [&](i64 t) {
                ++scanned;
                take(runs, cubic, run, t, hits, hit_capacity, counters);
            });
        };
        each_of_run(cubic, runs.window(), static_cast<int>(runs.run_log2), runs.centre(run), last,
                    on_line, [&] { leave({-runs.half(), 1, last + runs.half() + 1}); }, walks);
    }
    __syncwarp();
    add_by_warp(&counters->domains, run < runs.count);
    add_by_warp(&counters->scanned, scanned);
}

// Lanes that are done walk on until all of the warp are, but are not looked at.
__global__ void __launch_bounds__(THREADS, 6)
    walk(Start* starts, u64 run_count, Near* near, u64 near_capacity, Wide* wide,
         u64 wide_capacity, Counters* counters) {
    __shared__ Queue queues[THREADS / 32];
    Queue& queue = at_fixed_address(queues[threadIdx.x >> 5]);
    const Lists lists = {near, near_capacity, wide, wide_capacity, counters};
    const int lane = static_cast<int>(threadIdx.x & 31);
    const unsigned below = lanes_below();
    const unsigned index = static_cast<unsigned>(thread_index());
    const Start start = starts[index < run_count ? index : 0];
    const FareyRun<double> run = start.run;
    const auto half_inverse = static_cast<float>(run.half_inverse);
    FareyWalk<double> walk = start.walk;
    if (lane == 0) queue.chunk = {thread_index(), thread_index() + 32};
    __syncwarp();
    bool walking = index < run_count && walk.q > 0;
    int waiting = 0, turns = 0;
    for (; __any_sync(ALL_LANES, walking) && turns < MOST_TURNS; ++turns) {
UNROLL
        for (int step = 0; step < STEPS; ++step) {
            Crossing<double> at = crossing_of(run, walk);
            take_first(walking, index, half_inverse, walk, at, queue.chunk, lane, below, lists);
            const bool crossed = walking && at.first <= at.last;
            const unsigned together = __ballot_sync(ALL_LANES, crossed);
            if (crossed) queue.put(waiting + __popc(together & below), walk, at, lane);
            waiting += __popc(together);
            walking = walking && walk.x < run.end;
            walk.step(run);
        }
        __syncwarp();
        while (waiting >= 32)
            waiting += drain(queue, waiting, 32, index, lane, below, half_inverse, lists) - 32;
    }
    __syncwarp();
    while (waiting > 0)
        waiting = drain(queue, waiting, waiting, index, lane, below, half_inverse, lists);
    queue.chunk.close(lane, lists);
    const bool walked = index < run_count && starts[index].walk.q > 0;
    walk.left = turns * STEPS;  // for check_walks, which does not need it otherwise
    if (walked) starts[index] = {run, walk};
    add_by_warp(&counters->fractions, walked ? static_cast<unsigned>(turns * STEPS) : 0);
}

__global__ void cross_wide(const Runs runs, const Start* starts, const Wide* wide,
                           u64 wide_capacity, Near* near, u64 near_capacity,
                           Counters* counters) {
    const u64 count = at_most(counters->wide, wide_capacity), own = runs.threads();
    const double lane = threadIdx.x & 31;
    unsigned taken = 0;
    for (u64 i = thread_index() >> 5; i < count; i += thread_count() >> 5) {
        const Wide entry = wide[i];
        const FareyWalk<double> walk = entry.walk;
        if (lane == 0) taken += signature(entry);
        if (entry.run > runs.count) continue;  // a fault
        FareyTask task = {};
        task.run = starts[entry.run].run, task.last = runs.last(entry.run);
        Crossing<double> at = crossing_of(task.run, walk);
        at.first = larger(at.first, entry.first);
        narrow(task, walk, arc_of(task, walk), at);
        if (!(at.last - at.first <= most_crossed(task.run))) continue;  // a fault
        for (double mm = at.first + lane; mm <= at.last; mm += 32)
            if (near_class(walk, roots_of(task.run, walk, at, mm), mm))
            {
                append(near + own, &counters->near, beyond(own, near_capacity),
                       near_of(entry.run, walk, at, mm));
                atomicAdd(&counters->written, 1ull);
            }
        __syncwarp();
    }
    __syncwarp();
    add_by_warp(&counters->taken, taken);
}

__global__ void take_near(const Runs runs, const Cubic* cubics, const Start* starts,
                          const Near* near, u64 near_capacity, u64* hits, u64 hit_capacity,
                          Crowd* crowds, u64 crowd_capacity, Counters* counters) {
    const u64 own = runs.threads();
    const u64 count = own + at_most(counters->near, beyond(own, near_capacity));
    unsigned scanned = 0, taken = 0;
    for (u64 i = thread_index(); i < count; i += thread_count()) {
        const Near entry = near[i];
        const u64 run = entry.run;
        const bool is_left_over = entry.run == NO_RUN;
        if (!is_left_over && (run > runs.count || !is_whole(entry, starts[run].run))) continue;
        ++taken;
        if (is_left_over) continue;
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
            if (span.hi - span.lo > static_cast<double>(MANY_MEMBERS) * walk.q) {
                const Members members =
                    members_of(static_cast<u64>(walk.q), static_cast<u64>(walk.left),
                               static_cast<i64>(entry.mm), span);
                pass_on(crowds, &counters->crowds, crowd_capacity, Crowd{run, members},
                        &counters->written);
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
    add_by_warp(&counters->taken, taken);
}

__global__ void take_crowds(const Runs runs, const Cubic* cubics, const Crowd* crowds,
                            u64 crowd_capacity, u64* hits, u64 hit_capacity,
                            Counters* counters) {
    const u64 count = at_most(counters->crowds, crowd_capacity);
    i64 looked_at = 0;
    unsigned taken = 0;
    for (u64 i = thread_index(); i < count; i += thread_count()) taken += signature(crowds[i]);
    for (u64 i = thread_index() >> 5; i < count; i += thread_count() >> 5)
        if (crowds[i].members.count <= MEMBERS_OF_A_WARP)
            looked_at += take_share(runs, cubics, crowds[i], threadIdx.x & 31, 32, hits,
                                    hit_capacity, counters);
    for (u64 i = 0; i < count; ++i)
        if (crowds[i].members.count > MEMBERS_OF_A_WARP)
            looked_at += take_share(runs, cubics, crowds[i], thread_index(), thread_count(), hits,
                                    hit_capacity, counters);
    if (looked_at > 0)
        atomicAdd(&counters->scanned, static_cast<unsigned long long>(looked_at));
    __syncwarp();
    add_by_warp(&counters->taken, taken);
}

__global__ void check_walks(const Runs runs, const Cubic* cubics, const Start* starts,
                            Counters* counters) {
    const u64 run = thread_index();
    bool holds = run <= runs.count;
    if (holds) {
        const int run_log2 = static_cast<int>(runs.run_log2);
        const Parabola f = parabola_of(cubics[run], runs.window(), run_log2);
        const FareyRun<double> right = run_of(f, order_of(f.a2), run_log2, runs.last(run));
        const Start end = starts[run];
        holds = is_to_walk(f, right, run_log2)
                    ? is_same(end.run, right) &&
                          is_on_walk(right, f.slope, end.walk, end.walk.left)
                    : end.walk.q == 0;
    }
    __syncwarp();
    add_by_warp(&counters->sound, holds);
}

}  // extern "C"
