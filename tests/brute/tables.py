"""Lines of the certified exp tables, made and scanned in ways of their own."""

from __future__ import annotations

import random
from fractions import Fraction
from math import comb, factorial
from math import ulp as ulp_of

import gmpy2

CONSTANT = 0x600000


def text_of(x0: float, n: int, words: int, values: list[int]) -> str:
    """The line with these values P(0), P(1), ..., any integers, modulo 2^(64 words)."""
    whole = [value >> 64 * place & (1 << 64) - 1 for value in values for place in range(words)]
    return " ".join([x0.hex(), str(n), str(len(values)), str(words), *map(hex, whole)])


def exp_line(x0: float, n: int, k: int, words: int) -> str:
    """exp's Taylor polynomial at x0 for binary64; breakpoints, numbers and midpoints, are integers.

    Its error for j < n is that of the series and of rounding each of the k values to 2^-(64 words).
    """
    with gmpy2.context(precision=64 * words + 256):
        start = gmpy2.exp(gmpy2.mpfr(x0))
    value = Fraction(*map(int, start.as_integer_ratio()))
    spacing = Fraction(2) ** (gmpy2.get_exp(start) - 54)
    unit = Fraction(2) ** -(64 * words)
    ulp = Fraction(ulp_of(x0))
    values = []
    for j in range(k):
        series = sum((j * ulp) ** m / factorial(m) for m in range(k))
        values.append(round(value * series / spacing / unit))
    return text_of(x0, n, words, values)


def lively_line(generator: random.Random, n: int) -> str:
    """A line of a wide window's worth of candidates: a slope near a small fraction, little bend."""
    words = generator.randint(1, 4)
    one = 1 << 64 * words
    q = generator.randint(1, 50)
    near = generator.randrange(q) * one // q
    differences = [generator.choice((0, near, generator.randrange(one)))]
    differences.append(near + generator.randrange(one) // n)
    shrinks = generator.uniform(1.0, 3.0)
    for i in range(2, generator.randint(2, 9)):
        size = one // round(n ** min(shrinks * (i - 1), 12))
        differences.append(generator.randint(-size, size))
    values = [
        sum(d * comb(i, m) for m, d in enumerate(differences)) for i in range(len(differences))
    ]
    return text_of(1.0 + generator.randrange(1000) / 1024, n, words, values)


def scanned(line: str, constant: int = CONSTANT) -> list[int]:
    """The j that a direct scan of a line reports: its difference table, stepped."""
    _, n, k, words, *rest = line.split()
    count, size = int(k), int(words)
    table = [
        sum(int(word, 0) << 64 * place for place, word in enumerate(rest[i : i + size]))
        for i in range(0, count * size, size)
    ]
    modulus, top_word = 1 << 64 * size, 1 << 64 * (size - 1)
    for level in range(1, count):
        for i in range(count - 1, level - 1, -1):
            table[i] = (table[i] - table[i - 1]) % modulus
    table[0] += constant * top_word
    found = []
    for j in range(int(n)):
        if table[0] % modulus // top_word <= 2 * constant:
            found.append(j)
        table = [a + b for a, b in zip(table, [*table[1:], 0], strict=True)]
        table = [entry % modulus for entry in table]
    return found
