// Farey walks of several runs at once, one a lane of a vector register (lanes.h), on the CPU.
//
// The walk and its crossings are those of farey.cuh, lane by lane: the proof is the same. Lanes that
// are done walk on until all are, but are not looked at. A lane is checked when it
// is done (checks.cuh).
#pragma once

#include "checks.cuh"
#include "lanes.h"

// One lane of a run, of a walk, of a crossing.
template <class Real>
HD void set_lane(FareyRun<Real>& all, int lane, const FareyRun<double>& one) {
    set_lane(all.a0, lane, one.a0);
    set_lane(all.a2, lane, one.a2);
    set_lane(all.half_inverse, lane, one.half_inverse);
    set_lane(all.order, lane, one.order);
    set_lane(all.reach, lane, one.reach);
    set_lane(all.window, lane, one.window);
    set_lane(all.drift, lane, one.drift);
    set_lane(all.half, lane, one.half);
    set_lane(all.end, lane, one.end);
}
template <class Real>
HD void set_lane(FareyWalk<Real>& all, int lane, const FareyWalk<double>& one) {
    set_lane(all.left, lane, one.left);
    set_lane(all.q, lane, one.q);
    set_lane(all.right, lane, one.right);
    set_lane(all.r, lane, one.r);
    set_lane(all.r_right, lane, one.r_right);
    set_lane(all.x, lane, one.x);
    set_lane(all.x_right, lane, one.x_right);
}
template <class Real>
HD FareyRun<double> lane_of(const FareyRun<Real>& all, int lane) {
    return {lane_of(all.a0, lane),     lane_of(all.a2, lane),    lane_of(all.half_inverse, lane),
            lane_of(all.order, lane),  lane_of(all.reach, lane), lane_of(all.window, lane),
            lane_of(all.drift, lane),  lane_of(all.half, lane),  lane_of(all.end, lane)};
}
template <class Real>
HD FareyWalk<double> lane_of(const FareyWalk<Real>& all, int lane) {
    return {lane_of(all.left, lane), lane_of(all.q, lane),       lane_of(all.right, lane),
            lane_of(all.r, lane),    lane_of(all.r_right, lane), lane_of(all.x, lane),
            lane_of(all.x_right, lane)};
}
template <class Real>
HD Crossing<double> lane_of(const Crossing<Real>& all, int lane) {
    return {lane_of(all.value, lane), lane_of(all.slack, lane), lane_of(all.first, lane),
            lane_of(all.last, lane)};
}

// Collects walks and takes them LANES at a time; sink(task, t) is called for every t of a task that
// may matter, for some more than once. What was added last is walked by finish().
template <class Real, class Sink>
class FareyBatch {
  public:
    explicit FareyBatch(const Sink& sink) : sink_(sink) {}

    // Walks that were found to be sound at their end.
    u64 sound = 0;

    void add(const FareyTask& task) {
        seals_[waiting_] = word_sum(task);
        most_steps_ = larger(most_steps_, most_steps(task.run));
        most_crossed_ = larger(most_crossed_, most_crossed(task.run));
        tasks_[waiting_++] = task;
        if (waiting_ == LANES<Real>) finish();
    }

    void finish() {
        if (waiting_ == 0) return;
        INJECT(TASK, tasks_);
        FareyRun<Real> run;
        FareyWalk<Real> walk;
        unsigned whole = 0;  // a task with a fault could keep us busy for long
        for (int lane = 0; lane < LANES<Real>; ++lane) {
            const FareyTask& task = tasks_[lane < waiting_ ? lane : 0];
            set_lane(run, lane, task.run);
            set_lane(walk, lane, task.walk);
            whole |= (lane < waiting_ && word_sum(task) == seals_[lane]) * (1u << lane);
        }
        walk_all(run, walk, whole);
        waiting_ = 0, most_steps_ = most_crossed_ = 0;
    }

  private:
    // So many mm after the first are taken in all lanes at once; a fraction with more of them has a
    // small q or is far from the run, and is narrowed to the run first.
    static constexpr int FEW = 3;

    void walk_all(const FareyRun<Real>& run, FareyWalk<Real> walk, const unsigned all) {
        unsigned steps = 0, active = all;
        for (const unsigned most = static_cast<unsigned>(most_steps_); steps < most; ++steps) {
            INJECT(TASK, tasks_);
            INJECT(RUN, run);
            INJECT(WALK, walk);
            const Crossing<Real> at = crossing_of(run, walk);
            const unsigned crossed = less_equal(at.first, at.last) & active;
            if (crossed) cross(run, walk, at, crossed);
            unsigned ended = active & less_equal(run.end, walk.x);
            active &= ~ended;
            for (; ended; ended &= ended - 1) {
                const int lane = __builtin_ctz(ended);
                ends_[lane] = lane_of(walk, lane), steps_[lane] = steps;
            }
            if (!active) break;
            walk.step(run);
        }
        for (unsigned lanes = all & ~active; lanes; lanes &= lanes - 1) {
            const int lane = __builtin_ctz(lanes);
            sound += is_sound(lane, lane_of(run, lane));
        }
    }

    // Is everything as it must be when a walk is done: task, run, and where it stands?
    HD bool is_sound(int lane, const FareyRun<double>& run) const {
        const FareyTask& task = tasks_[lane];
        return word_sum(task) == seals_[lane] && is_same(task.run, run) &&
               task.walk.x <= -run.half &&
               is_on_walk(run, task.slope, ends_[lane], steps_[lane]);
    }

    HD void cross(const FareyRun<Real>& run, const FareyWalk<Real>& walk,
                  const Crossing<Real>& at, unsigned crossed) const {
        const unsigned few = crossed & less_equal(at.last, at.first + Real(FEW));
        Real mm = at.first;
        unsigned lanes = few;
        for (int i = 0; i <= FEW && lanes; ++i, lanes &= less_equal(mm, at.last)) {
            unsigned near = lanes & near_class(walk, roots_of(run, walk, at, mm), mm);
            for (; near; near &= near - 1) {
                const int lane = __builtin_ctz(near);
                propose(tasks_[lane], lane_of(walk, lane), lane_of(at, lane), lane_of(mm, lane));
            }
            mm = mm + Real(1);
        }
        for (unsigned many = crossed & ~few; many; many &= many - 1) {
            const int lane = __builtin_ctz(many);
            cross_often(tasks_[lane], lane_of(walk, lane), lane_of(at, lane));
        }
    }

    __attribute__((noinline)) void cross_often(const FareyTask& task,
                                               const FareyWalk<double>& walk,
                                               Crossing<double> at) const {
        narrow(task, walk, arc_of(task, walk), at);
        if (!(at.last - at.first <= most_crossed_)) return;  // a fault: is_sound sees it
        for (double mm = at.first; mm <= at.last; mm += 1)
            if (near_class(walk, roots_of(task.run, walk, at, mm), mm)) propose(task, walk, at, mm);
    }

    __attribute__((noinline)) void propose(const FareyTask& task, const FareyWalk<double>& walk,
                                           const Crossing<double>& at, double mm) const {
        each_near_root(task.run, walk, at, mm, -static_cast<i64>(task.run.half), task.last,
                       [&](i64 t) { sink_(task, t); });
    }

    const Sink& sink_;
    FareyTask tasks_[LANES<Real>];
    u64 seals_[LANES<Real>];
    FareyWalk<double> ends_[LANES<Real>];  // where walks were done, and after how many steps
    unsigned steps_[LANES<Real>];
    int waiting_ = 0;
    double most_steps_ = 0, most_crossed_ = 0;  // of those that wait
};
