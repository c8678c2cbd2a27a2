// Where near_class holds, does the quick look say so (lemma 12 of docs/farey.md)? Classes are made at
// random, with the slack set so that near_class holds by the last bits; they need not belong to a run.
#include <cmath>

#include "farey.cuh"

namespace {

struct Random {
    u64 state;
    u64 bits() {
        state += 0x9e3779b97f4a7c15;
        u64 z = state;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
        return z ^ (z >> 31);
    }
    double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }
    double sign() { return (bits() & 1) != 0 ? 1 : -1; }
    // From 2^lo to 2^hi, each exponent as often.
    double magnitude(double lo, double hi) { return exp2(lo + (hi - lo) * uniform()); }
    double integer(double lo, double hi) { return floor(magnitude(lo, hi)); }
};

// Makes the slack such that the mm is near its class by no more than the last bits; false if no
// slack below the height does.
bool set_slack(const FareyRun<double>& run, const FareyWalk<double>& walk, double mm,
               Crossing<double>& at) {
    const double height = mm - at.value;
    if (height <= 0) return false;
    at.slack = 0;
    const Images<double> images = images_of(walk, roots_of(run, walk, at, mm), mm);
    const double off = smaller(fabs(images.up - nearest(images.up)),
                               fabs(images.down - nearest(images.down)));
    const Crossing<double> unit = {at.value, height, 0, 0};
    at.slack = off / (roots_of(run, walk, unit, mm).width * walk.r) * height;
    for (int i = 0; i < 100 && near_class(walk, roots_of(run, walk, at, mm), mm) == 0; ++i)
        at.slack *= 1 + 0x1p-50;
    return at.slack <= height;
}

}  // namespace

// Of `count` tries: how many mm are near, how many of these the quick look misses, and how many it
// takes for near that are not.
extern "C" void count_quick_looks(u64 seed, u64 count, u64* counts) {
    Random random = {seed};
    for (u64 i = 0; i < count; ++i) {
        const double order = random.integer(0, 30);
        const double c = random.magnitude(-2, 3);
        FareyRun<double> run = {};
        run.a2 = smaller(0.5, 1 / (c * order * order * order));
        run.half_inverse = 0.5 / run.a2;
        FareyWalk<double> walk = {};
        const double share = (random.bits() & 1) != 0 ? 1 : random.magnitude(-12, 0);
        walk.q = larger(1, floor(order * share));
        walk.left = larger(1, floor(order * random.uniform()));
        walk.r = reciprocal(walk.q);
        walk.x = random.sign() * random.magnitude(0, 31);
        Crossing<double> at = {random.sign() * random.magnitude(-4, 37), 0, 0, 0};
        at.first = ceil(at.value) + floor(2 * random.uniform()) - 1;
        const int most = (random.bits() & 1) != 0 ? LEMMA_12_MOST : 1;
        const int place = static_cast<int>(random.bits() % static_cast<u64>(most));
        const double mm = at.first + place;
        const bool is_planted = set_slack(run, walk, mm, at);
        if (!is_planted) at.slack = larger(at.first, at.value) - at.value + random.magnitude(-30, 0);
        if (at.first < at.value - at.slack) at.first = ceil(at.value - at.slack);
        at.last = at.first + LEMMA_12_MOST * random.uniform();
        if ((random.bits() & 1) != 0) at.last = floor(at.last);
        const QuickLook look(walk, at, static_cast<float>(run.half_inverse));
        for (int j = 0; j < LEMMA_12_MOST; ++j) {
            const double it = at.first + j;
            const bool near =
                it <= at.last && near_class(walk, roots_of(run, walk, at, it), it) != 0;
            const bool quick = look.may_be_near(j);
            counts[0] += near ? 1 : 0;
            counts[1] += near && !quick ? 1 : 0;
            counts[2] += quick && !near ? 1 : 0;
        }
    }
}
