/* A direct scan of a line of the certified exp tables: its difference table, stepped n times.
 * gcc -O3 -march=native -DWORDS=4 -DVALUES=6 table_scan.c; one line "x0 n k l words..." on stdin, the
 * window constant as the argument; prints each j whose top word is at most twice the constant.
 * Written for benchmarks/table_lines.py: a stopwatch and an oracle, sharing nothing with hrcase. */
#include <immintrin.h>
#include <stdio.h>
#include <stdlib.h>

typedef unsigned long long word;
typedef struct { word w[WORDS]; } number;

static inline void add(number *a, const number *b) {
    unsigned char carry = 0;
    for (int i = 0; i < WORDS; ++i) carry = _addcarry_u64(carry, a->w[i], b->w[i], &a->w[i]);
}

static inline void subtract(number *a, const number *b) {
    unsigned char borrow = 0;
    for (int i = 0; i < WORDS; ++i) borrow = _subborrow_u64(borrow, a->w[i], b->w[i], &a->w[i]);
}

int main(int argc, char **argv) {
    number table[VALUES];
    char x0[64];
    word n;
    int k, l;
    if (argc != 2 || scanf("%63s %llu %d %d", x0, &n, &k, &l) != 4 || k != VALUES || l != WORDS) return 2;
    for (int i = 0; i < VALUES; ++i)
        for (int j = 0; j < WORDS; ++j)
            if (scanf("%llx", &table[i].w[j]) != 1) return 2;
    const word constant = strtoull(argv[1], NULL, 0);
    for (int level = 1; level < VALUES; ++level)
        for (int i = VALUES - 1; i >= level; --i) subtract(&table[i], &table[i - 1]);
    table[0].w[WORDS - 1] += constant;
    for (word j = 0; j < n; ++j) {
        if (table[0].w[WORDS - 1] <= 2 * constant) printf("%llu\n", j);
        for (int i = 0; i + 1 < VALUES; ++i) add(&table[i], &table[i + 1]);
    }
    return 0;
}
