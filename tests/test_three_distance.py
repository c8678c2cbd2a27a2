"""The two three-distance tests against direct enumeration of all points."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from hrcase.engine import cpu

WORD = 1 << 64
TESTS = ("lefevre", "regular")
ARITHMETICS = {"words": 64, "doubles": 52}  # bits of the circle

Words = NDArray[np.uint64]


def words(values: list[int]) -> Words:
    return np.array([value % WORD for value in values], dtype=np.uint64)


def distance_below(a: int, b: int, length: int, bits: int = 64) -> int:
    """min over 0 <= x < length of (b - a x) mod 2^bits, by trying every x."""
    points = np.arange(length, dtype=np.uint64) * np.uint64(a)
    return int(((np.uint64(b) - points) & np.uint64((1 << bits) - 1)).min())


def proves_none(
    method: str, a: int, b: int, window: int, length: int, doubles: bool = False
) -> bool:
    none, _ = cpu.run_lines(method, words([a]), words([b]), window, length, doubles)
    return bool(none[0])


def dyadic(log2: int, numerator: int) -> int:
    return (numerator << (64 - log2)) % WORD


def near_fraction(denominator: int, numerator: int, offset: int) -> int:
    return ((2 * numerator * WORD + denominator) // (2 * denominator) + offset) % WORD


anything = st.integers(0, WORD - 1)
slopes = st.one_of(
    anything,
    st.integers(0, 64).map(lambda shift: (WORD - 1) >> shift),
    st.builds(dyadic, st.integers(0, 14), st.integers(0, 1 << 14)),
    st.builds(near_fraction, st.integers(1, 300), st.integers(0, 300), st.integers(-2, 2)),
)
lengths = st.one_of(st.integers(1, 12), st.integers(1, 4096))
windows = st.one_of(st.just(0), anything, st.integers(0, 63).map(lambda bits: 1 << bits))


@st.composite
def lines(draw: st.DrawFn) -> tuple[int, int, int, int]:
    """a, b, window, length; half of the b stand at a point or at a window's edge beside one."""
    a, window, length = draw(slopes), draw(windows), draw(lengths)
    point = a * draw(st.integers(0, 2 * length))
    beside = point + draw(st.sampled_from((0, window))) + draw(st.integers(-2, 2))
    b = draw(st.one_of(anything, st.just(beside % WORD)))
    return a, b, window, length


@pytest.mark.parametrize("method", TESTS)
@pytest.mark.parametrize("arithmetic", ARITHMETICS)
@settings(max_examples=400)
@given(line=lines())
def test_no_point_is_missed_and_alarms_have_a_cause(
    method: str, arithmetic: str, line: tuple[int, int, int, int]
) -> None:
    bits = ARITHMETICS[arithmetic]
    a, b, window = (value >> (64 - bits) for value in line[:3])
    length = line[3]
    none = proves_none(method, a, b, window, length, arithmetic == "doubles")
    if distance_below(a, b, length, bits) <= window:
        assert not none, "a point in the window was missed"
    if distance_below(a, b, 2 * length, bits) > window:
        assert none, "an alarm without a point among twice as many"


@pytest.mark.parametrize("method", TESTS)
def test_doubles_and_words_walk_alike(method: str) -> None:
    """The same lines, exact in both: the answers and the loop counts are the same."""
    generator = np.random.default_rng(7)
    a, b = (generator.integers(0, 1 << 52, 20000, dtype=np.uint64) for _ in range(2))
    if method == "regular":  # on tiny slopes Lefevre's test walks point by point
        a[:5000] >>= generator.integers(0, 50, 5000, dtype=np.uint64)
    shift = np.uint64(12)
    for length in (2, 33, 1 << 10, 1 << 17, 1 << 24):
        window = (1 << 52) // (8 * length)
        in_doubles = cpu.run_lines(method, a, b, window, length, doubles=True)
        in_words = cpu.run_lines(method, a << shift, b << shift, window << 12, length)
        assert (in_doubles[0] == in_words[0]).all()
        assert (in_doubles[1] == in_words[1]).all()


@pytest.mark.parametrize("method", TESTS)
def test_dyadic_slopes_are_decided_exactly(method: str) -> None:
    """A closed orbit has no further points, so the answer is that of the whole orbit."""
    for log2 in range(7):
        for numerator in range(1 << log2):
            a = dyadic(log2, numerator)
            for b in (0, 1, 5 << 56, (1 << 58) - 1, 1 << 58, WORD - 1):
                for window in (0, 1, (1 << 57) - 1, 1 << 57):
                    expected = distance_below(a, b, 128) > window
                    assert proves_none(method, a, b, window, 128) == expected


@pytest.mark.parametrize("method", TESTS)
def test_every_line_of_a_coarse_grid(method: str) -> None:
    """Slopes and offsets over all of [0, 1): no point missed, no alarm without a cause."""
    grid = [step * (WORD // 61) + 12345 for step in range(61)]
    a = np.repeat(words(grid), len(grid))
    b = np.tile(words(grid), len(grid))
    for length in (1, 2, 3, 7, 40, 200):
        for window in (0, WORD // 1000, WORD // 17):
            none, _ = cpu.run_lines(method, a, b, window, length)
            points = np.arange(2 * length, dtype=np.uint64)
            below = b[:, None] - a[:, None] * points[None, :]
            found = (below <= np.uint64(window)).cumsum(axis=1)
            assert not none[found[:, length - 1] > 0].any()
            assert none[found[:, -1] == 0].all()


@pytest.mark.parametrize("method", TESTS)
@pytest.mark.parametrize("slope_bits", [64, 50, 40])
def test_false_alarms_are_few(method: str, slope_bits: int) -> None:
    """With the last step clipped, also for slopes so small that one step would overshoot."""
    generator = np.random.default_rng(slope_bits)
    length, count = 1024, 4000
    window = WORD // (8 * length)
    a = generator.integers(0, 1 << slope_bits, count, dtype=np.uint64)
    b = generator.integers(0, WORD, count, dtype=np.uint64)
    # A slope that sweeps little of the circle needs an offset near it to be a question at all.
    if slope_bits < 54:
        b >>= np.uint64(53 - slope_bits)
    below = b[:, None] - a[:, None] * np.arange(length, dtype=np.uint64)[None, :]
    true_share = (below.min(axis=1) <= np.uint64(window)).mean()
    none, _ = cpu.run_lines(method, a, b, window, length)
    assert true_share > 0.05
    assert true_share <= (~none).mean() <= 1.6 * true_share


def test_regular_raises_no_more_alarms_than_lefevre() -> None:
    """It knows the kind of b's interval at every step, as Lefevre's test does."""
    generator = np.random.default_rng(11)
    a = generator.integers(0, WORD, 20000, dtype=np.uint64)
    b = generator.integers(0, WORD, 20000, dtype=np.uint64)
    for length in (1000, 1 << 15):
        lefevre, _ = cpu.run_lines("lefevre", a, b, WORD // (8 * length), length)
        regular, _ = cpu.run_lines("regular", a, b, WORD // (8 * length), length)
        assert (~regular).sum() <= (~lefevre).sum()


def test_regular_takes_few_rounds_whatever_the_line() -> None:
    """Its rounds are those of a continued fraction: at most about 1.44 log2 of the length."""
    generator = np.random.default_rng(7)
    a = generator.integers(0, WORD, 5000, dtype=np.uint64)
    b = generator.integers(0, WORD, 5000, dtype=np.uint64)
    _, rounds = cpu.run_lines("regular", a, b, WORD >> 20, 1 << 15)
    assert rounds.min() >= 1 and rounds.max() <= 23
    golden = words([round(WORD * (5**0.5 - 1) / 2)])
    _, rounds = cpu.run_lines("regular", golden, golden, 0, 1 << 15)
    assert 19 <= rounds[0] <= 23


def test_lines_the_tests_cannot_take_are_refused() -> None:
    one = words([1])
    for method, b, window, length in (
        ("scan", one, 0, 8),
        ("farthest", one, 0, 8),
        ("regular", words([1, 2]), 0, 8),
        ("regular", one, -1, 8),
        ("regular", one, 0, 0),
        ("regular", one, 0, (1 << 31) + 1),
    ):
        with pytest.raises(ValueError):
            cpu.run_lines(method, one, b, window, length)
