// The CPU's entry points: a search of one block, and the parts of it that tests look at.
//
// Contract. The compiler is given
//   -DDEGREE=D   degree of the polynomial, 1 <= D
//   -DLIMBS=L    64-bit limbs of a coefficient, 2 <= L
// and the caller passes a Block<DEGREE, LIMBS> as its 64-bit words (polynomial.cuh) that satisfies
//   lo < hi, |lo|, |hi| <= 2^62; 1 <= run_log2 <= 60; windows as said in polynomial.cuh;
//   6 <= domain_log2 <= min(run_log2, 30), unless the method is SCAN.
// Nothing is global: calls from several threads do not meet. What checks.cuh finds is counted; the
// caller compares.
#include "farey_batch.h"
#include "search.cuh"

namespace {

using Polynomial = Block<DEGREE, LIMBS>;

// hrcase/engine/__init__.py has the same numbers and the same order.
enum Method : int { SCAN = 0, LEFEVRE = 1, REGULAR = 2, FAREY = 3 };

struct Counts {
    u64 domains, subdomains, scanned, hits, candidates;
    u64 sum;     // of u - lo + 1 over the candidates
    u64 sound;   // runs whose checks hold, and one for the end of the last run
    u64 checks;  // how many there were
    u64 echo;    // word_sum of the block, when all is done
};

// Candidates go here while there is room; `counts.candidates` counts all.
struct Output {
    i64* arguments;
    u64 capacity;
    Counts counts;

    void decide(const Polynomial& block, i64 u) {
        ++counts.hits;
        if (!is_candidate(block, u)) return;
        if (counts.candidates < capacity) arguments[counts.candidates] = u;
        ++counts.candidates;
        counts.sum += static_cast<u64>(u - block.lo) + 1;
    }

    void check(bool holds) {
        ++counts.checks;
        counts.sound += holds;
    }
};

void scan_stretch(const Polynomial& block, const Cubic& cubic, i64 centre, i64 t, u64 length,
                  Output& output) {
    length = clipped_length(centre + t, length, block.hi);
    output.counts.scanned += length;
    scan(cubic, block.run_window_value(), t, length,
         [&](i64 at) { output.decide(block, centre + at); });
}

template <class Test>
void search_domain(const Polynomial& block, const Cubic& cubic, i64 centre, i64 t,
                   Output& output) {
    const u64 length = u64{1} << (block.domain_log2 - SUBDOMAINS_LOG2);
    NoCounter counter;
    for (int j = 0; j < SUBDOMAINS; ++j, t += static_cast<i64>(length)) {
        if (centre + t >= block.hi) return;
        ++output.counts.subdomains;
        if (!subdomain_is_empty<Test>(block, cubic, t, counter))
            scan_stretch(block, cubic, centre, t, length, output);
    }
}

template <class Test>
bool search_run(const Polynomial& block, u64 run, const Cubic& cubic, Output& output) {
    const int run_log2 = static_cast<int>(block.run_log2);
    const int domain_log2 = static_cast<int>(block.domain_log2);
    const i64 half = i64{1} << (run_log2 - 1);
    const i64 centre = block.run_start(run) + half;
    DomainTable table = table_of_run(cubic, run_log2, domain_log2);
    NoCounter counter;
    i64 t = -half;
    for (; t < half && centre + t < block.hi; t += i64{1} << domain_log2) {
        INJECT(TABLE, table);
        ++output.counts.domains;
        if (!domain_is_empty<Test>(block, table, counter))
            search_domain<Test>(block, cubic, centre, t, output);
        table.step();
    }
    return is_table_at(table, cubic, t + (i64{1} << (domain_log2 - 1)), domain_log2);
}

bool scan_run(const Polynomial& block, u64 run, const Cubic& cubic, Output& output) {
    const i64 half = i64{1} << (block.run_log2 - 1);
    scan_stretch(block, cubic, block.run_start(run) + half, -half, u64{1} << block.run_log2, output);
    return true;
}

// Searches the runs one by one: search(run, cubic) tells whether its own checks hold.
template <class Search>
void each_run(const Polynomial& block, Output& output, const Search& search) {
    const u64 runs = block.run_count();
    Seams seams(block, block.lo);
    for (u64 run = 0; run < runs; ++run) {
        INJECT(BLOCK, block);
        Cubic cubic = cubic_of_run(block, run);
        INJECT(CUBIC, cubic);
        const bool sound = search(run, cubic);
        output.check(seams.join(cubic) && sound);
    }
    output.check(seams.close(block, block.run_start(runs)));
}

// `domains` counts runs here, `scanned` the arguments that were decided one by one.
void search_by_walks(const Polynomial& block, Output& output) {
    const u128 window = block.run_window_value();
    const int run_log2 = static_cast<int>(block.run_log2);
    const i64 half = i64{1} << (run_log2 - 1);
    const auto decide = [&](const Cubic& cubic, i64 centre, i64 t) {
        ++output.counts.scanned;
        if (is_hit(cubic, window, t)) output.decide(block, centre + t);
    };
    const auto walked = [&](const FareyTask& task, i64 t) { decide(task.cubic, task.centre, t); };
    FareyBatch<WidestReal, decltype(walked)> walks(walked);
    u64 added = 0;
    const auto search = [&](u64 run, const Cubic& cubic) {
        const i64 centre = block.run_start(run) + half, left = block.hi - 1 - centre;
        const i64 last = left < half - 1 ? left : half - 1;
        const auto sink = [&](i64 t) { decide(cubic, centre, t); };
        const auto on_line = [&](const Members& members) { each_of(members, sink); };
        ++output.counts.domains;
        const auto scan_whole = [&] {
            scan_stretch(block, cubic, centre, -half, u64{1} << run_log2, output);
        };
        added += each_of_run(cubic, window, run_log2, centre, last, on_line, scan_whole, walks);
        return true;
    };
    each_run(block, output, search);
    walks.finish();
    output.counts.checks += added;
    output.counts.sound += walks.sound;
}

template <class Test>
void test_lines_with(const u64* a, const u64* b, u64 W, u64 N, u64 count, u64* none,
                     u64* rounds) {
    using Number = typename Test::Number;
    for (u64 i = 0; i < count; ++i) {
        RoundCounter counter;
        none[i] = Test::none(static_cast<Number>(a[i]), static_cast<Number>(b[i]),
                             static_cast<Number>(W), static_cast<Number>(N), counter);
        rounds[i] = counter.rounds;
    }
}

template <class A>
void test_lines_in(int method, const u64* a, const u64* b, u64 W, u64 N, u64 count, u64* none,
                   u64* rounds) {
    if (method == LEFEVRE)
        test_lines_with<Lefevre<A>>(a, b, W, N, count, none, rounds);
    else
        test_lines_with<Regular<A>>(a, b, W, N, count, none, rounds);
}

void split(u128 value, u64* limbs) {
    limbs[0] = static_cast<u64>(value);
    limbs[1] = static_cast<u64>(value >> 64);
}

}  // namespace

extern "C" {

// Words of a block, so that a test can hold the packing of the Python side against it.
u64 block_words() { return sizeof(Polynomial) / sizeof(u64); }

// Searches the block. The first `capacity` candidates go to `arguments`, in increasing order but
// for FAREY, which may give one more than once; if there are more, call again with more room.
void search_block(const Polynomial* given, int method, i64* arguments, u64 capacity,
                  Counts* counts) {
    Polynomial block = *given;
    Output output = {arguments, capacity, {}};
    if (method == FAREY)
        search_by_walks(block, output);
    else
        each_run(block, output, [&](u64 run, const Cubic& cubic) {
            if (method == LEFEVRE) return search_run<Lefevre<Words>>(block, run, cubic, output);
            if (method == REGULAR) return search_run<Regular<Words>>(block, run, cubic, output);
            return scan_run(block, run, cubic, output);
        });
    output.counts.echo = word_sum(block);
    *counts = output.counts;
    INJECT(COUNTS, *counts);
    INJECT(CANDIDATES, *arguments);
}

// The bare tests: none[i] = 1 if it is proved that no x in [0, N) has (b[i] - a[i] x) mod 1 <= W,
// unit 2^-52 in doubles, else 2^-64; rounds[i] counts the main loop.
void test_lines(int method, int doubles, const u64* a, const u64* b, u64 W, u64 N, u64 count,
                u64* none, u64* rounds) {
    if (doubles)
        test_lines_in<Doubles>(method, a, b, W, N, count, none, rounds);
    else
        test_lines_in<Words>(method, a, b, W, N, count, none, rounds);
}

// The cubic of a run: four coefficients of two limbs.
void run_cubic(const Polynomial* block, u64 run, u64* coefficients) {
    const Cubic cubic = cubic_of_run(*block, run);
    for (int j = 0; j < 4; ++j) split(cubic.coefficient[j], coefficients + 2 * j);
}

// The same from the polynomial of the run's group of 2^group_log2 runs.
void run_cubic_of_group(const Polynomial* block, u64 run, int group_log2, u64* coefficients) {
    const Group group = group_of_runs(*block, run >> group_log2, group_log2);
    const u64 place = run & ((u64{1} << group_log2) - 1);
    const Cubic cubic =
        group.cubic_of_run(place, static_cast<int>(block->run_log2), group_log2);
    for (int j = 0; j < 4; ++j) split(cubic.coefficient[j], coefficients + 2 * j);
}

// quotient(a[i], b[i]) of the descent.
void quotients(const u64* a, const u64* b, u64 count, u64* quotient_of) {
    for (u64 i = 0; i < count; ++i) quotient_of[i] = quotient(a[i], b[i]);
}

// c_k and s_k of the first `count` domains of a run, two limbs each.
void run_table(const Polynomial* block, u64 run, u64 count, u64* c, u64* s) {
    DomainTable table =
        table_of_run(cubic_of_run(*block, run), static_cast<int>(block->run_log2),
                     static_cast<int>(block->domain_log2));
    for (u64 k = 0; k < count; ++k, table.step()) {
        split(table.c.value(), c + 2 * k);
        split(table.s.value(), s + 2 * k);
    }
}

}  // extern "C"
