// From the cubic of a run to its walk, or to its one line: the start of a run, and the two regimes.
// "Lemma N" is docs/farey.md.
#pragma once

#include "farey.cuh"
#include "search.cuh"

// Below this a2 H^3 the parabola of a run is a line and its window (lemma 11).
constexpr double LINEAR_REGIME = 0.125;
// With a wider window a walk would look at most arguments anyway: they are scanned instead.
constexpr double WIDEST_WINDOW = 0.125;
// A walk never has a larger order: denominators and residues fit 64-bit integers (lemma 4).
constexpr double MOST_ORDER = 1073741824.0;  // 2^30

constexpr double LEMMA_11_ROUNDING = 0x1p-50;  // of q (F - k), relative to 1 + q

// A 128-bit fraction modulo 1 in [-1/2, 1/2), as a double: off by at most 2^-52 of itself where it
// is not negative, by 2^-117 more where it is (lemma 1).
HD double signed_fraction(u128 value) {
    const i128 whole = static_cast<i128>(value);
    const double high = static_cast<double>(static_cast<i64>(whole >> 64));
    const double low = static_cast<double>(static_cast<u64>(value));
    return fused(low, 0x1p-64, high) * 0x1p-64;
}

// The line of a run in the linear regime (lemma 11): with q, d = q slope - a, g = q (constant),
//     q (F(t) - k) = g + d t - mm,  |.| <= slack,  t = -mm left  (mod q).
struct FareyLine {
    u64 q, left;
    double g, d, slack;
};

// The parabola of a run (lemma 1).
struct Parabola {
    double a0, a2;  // a2 >= 0
    u128 slope;     // A1', unit 2^-128
    double window;  // E: the cubic's window, and what the parabola leaves of its last term
};

// Where Q turns downwards, F stands for -Q: |Q cmod 1| is the same.
HD Parabola parabola_of(const Cubic& cubic, u128 window, int run_log2) {
    u128 a0 = cubic.coefficient[0], a1 = cubic.coefficient[1];
    u128 a2 = cubic.coefficient[2], a3 = cubic.coefficient[3];
    if (static_cast<i128>(a2) < 0) a0 = 0 - a0, a1 = 0 - a1, a2 = 0 - a2, a3 = 0 - a3;
    const double half = static_cast<double>(u64{1} << (run_log2 - 1));
    const double cubic_term = fabs(signed_fraction(magnitude(a3))) * half * half * half * 0.25;
    // 3/4 H^2 = 3 2^(2R - 4), an integer for R >= 2.
    const u128 economised = a1 + ((3 * a3) << (2 * run_log2 - 4));
    return {signed_fraction(a0), fabs(signed_fraction(a2)), economised,
            signed_fraction(window) + cubic_term};
}

// Is there a walk for this run? Otherwise it is a line.
HD bool is_walked(const Parabola& f, int run_log2) {
    const double half = static_cast<double>(u64{1} << (run_log2 - 1));
    return f.a2 * half * half * half >= LINEAR_REGIME;
}

// Q = (c a2)^(-1/3), 1 <= Q <= MOST_ORDER: any order is right.
HD u64 order_of(double a2) {
    const float order = exp2f(log2f(static_cast<float>(FAREY_C * a2)) / -3);
    return static_cast<u64>(larger(1, smaller(order, MOST_ORDER)));
}

// What stays the same along the walk of a run whose last argument is `last`.
HD FareyRun<double> run_of(const Parabola& f, u64 order, int run_log2, i64 last) {
    const double half = static_cast<double>(u64{1} << (run_log2 - 1));
    const double q = static_cast<double>(order), half_inverse = 0.5 / f.a2;
    // Lemma 5: the fractions from -H to H, as far as they can be counted beforehand.
    // One rounding, whatever the compiler contracts: check_walks compares with what start_walks made.
    const double steps = fused(4 * f.a2 * half * q, q, 2);
    const double drift = LEMMA_6_FACTOR * (LEMMA_5_STEP + LEMMA_5_ADDITION * steps);

    FareyRun<double> run;
    run.a0 = f.a0, run.a2 = f.a2, run.half_inverse = half_inverse;
    run.order = q + 0.5;
    run.reach = 0.5 * half_inverse / ((q + 1) * (q + 1));
    run.drift = drift;
    run.window = fused(drift, 0.5 + f.a2 * half * half, f.window);
    run.half = half;
    run.end = static_cast<double>(last);
    return run;
}

// The task of a run of 2^run_log2 arguments around `centre`, of which those with t <= last count.
HD FareyTask task_of(const Cubic& cubic, u128 window, int run_log2, i64 centre, i64 last,
                     const Parabola& f) {
    const u64 order = order_of(f.a2);
    FareyTask task;
    task.run = run_of(f, order, run_log2, last);
    const double half = task.run.half, half_inverse = task.run.half_inverse;

    // The slope at the left end: 2 a2 H is a double, cut to 128 bits without another rounding.
    const double fall = 2 * f.a2 * half;
    const double whole = floor(fall);
    const double fraction = (fall - whole) * 0x1p64;
    const u64 high = static_cast<u64>(fraction);
    const u64 low = static_cast<u64>((fraction - static_cast<double>(high)) * 0x1p64);
    const u128 start = f.slope - ((static_cast<u128>(high) << 64) | low);
    const Neighbours at = farey_neighbours(start, order);

    FareyWalk<double>& walk = task.walk;
    walk.left = static_cast<double>(left_denominator(at.q0, at.q1, order));
    walk.q = static_cast<double>(at.q0), walk.right = static_cast<double>(at.q1);
    walk.r = reciprocal(walk.q), walk.r_right = reciprocal(walk.right);
    walk.x = -half - at.below * walk.r * half_inverse;
    walk.x_right = -half + at.above * walk.r_right * half_inverse;
    task.cubic = cubic, task.window = window, task.slope = f.slope;
    task.centre = centre, task.last = last;
    return task;
}

HD FareyLine line_of_run(const Parabola& f, int run_log2) {
    const u64 half = u64{1} << (run_log2 - 1);
    const double h = static_cast<double>(half), bend = f.a2 * h * h * 0.5;
    const u64 order = 2 * half + 1;
    const Neighbours at = farey_neighbours(f.slope, order);
    // The fraction on whose side of the mediant the slope lies: |d| <= 1/(order + 1).
    const bool lower = at.below <= at.above;
    const u64 q = lower ? at.q0 : at.q1;
    const u64 left = lower ? left_denominator(at.q0, at.q1, order) : at.q0;
    const double qd = static_cast<double>(q), d = lower ? at.below : -at.above;
    return {q, left, qd * (f.a0 + bend), d, qd * (f.window + bend) + LEMMA_11_ROUNDING * (1 + qd)};
}

// Gives the members of every class of a linear run that may matter to sink.
template <class Sink>
HD void each_on_line(const FareyLine& line, double first, double last, const Sink& sink) {
    const double at_first = fused(line.d, first, line.g), at_last = fused(line.d, last, line.g);
    const double low = smaller(at_first, at_last) - line.slack;
    const double high = larger(at_first, at_last) + line.slack;
    for (double mm = ceil(low); mm <= high; mm += 1) {
        Span span = {first, last};
        if (fabs(line.d) * (last - first) > line.slack) {
            const double inverse = 1 / line.d, middle = (mm - line.g) * inverse;
            const double width = line.slack * fabs(inverse);
            span = {larger(first, middle - width), smaller(last, middle + width)};
        }
        sink(members_of(line.q, line.left, static_cast<i64>(mm), span));
    }
}

// --- One run.

// Finds what may matter in a run, -H <= t <= last: gives the members of a line's classes to sink, or
// the walk that finds the t to walks.add(task), or calls scan_whole() where all of them must be
// looked at. Whether there is a walk.
template <class Sink, class Scan, class Walks>
HD bool each_of_run(const Cubic& cubic, u128 window, int run_log2, i64 centre, i64 last,
                    const Sink& sink, const Scan& scan_whole, Walks& walks) {
    const Parabola f = parabola_of(cubic, window, run_log2);
    const bool walked = f.window <= WIDEST_WINDOW && is_walked(f, run_log2);
    if (walked) {
        const FareyTask task = task_of(cubic, window, run_log2, centre, last, f);
        if (task.run.window <= WIDEST_WINDOW) {
            walks.add(task);
            return true;
        }
    }
    if (walked || f.window > WIDEST_WINDOW) {
        scan_whole();
        return false;
    }
    const double half = static_cast<double>(u64{1} << (run_log2 - 1));
    each_on_line(line_of_run(f, run_log2), -half, static_cast<double>(last), sink);
    return false;
}
