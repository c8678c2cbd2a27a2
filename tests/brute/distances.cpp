// The distance of f(x) to the nearest breakpoint, for consecutive x, by the C library's functions:
// of double for the first five, of long double for the others. Compiled and called by distances.py.
#include <cmath>

namespace {

using Real = long double;

constexpr Real pi = 3.141592653589793238462643383279502884L;
constexpr Real log_2 = 0.693147180559945309417232121458176568L;
constexpr Real log_10 = 2.302585092994045684017991454684364208L;

// sin(pi x): x is reduced without error, to [-1/2, 1/2].
Real sin_half_turns(Real x) {
    Real r = x - 2 * std::rint(x / 2);
    if (std::fabs(r) > 0.5L) r = std::copysign(1.0L, r) - r;
    return std::sin(pi * r);
}

Real cos_half_turns(Real x) { return sin_half_turns(0.5L - std::fabs(x - 2 * std::rint(x / 2))); }

// By the asymptotic series from 24 on: its next term is below 2^-70.
Real digamma(Real x) {
    if (x < 0) return digamma(1 - x) - pi * cos_half_turns(x) / sin_half_turns(x);
    Real sum = 0;
    for (; x < 24; ++x) sum -= 1 / x;
    const Real t = 1 / (x * x);
    const Real series =
        t * (1 / 12.0L -
             t * (1 / 120.0L -
                  t * (1 / 252.0L -
                       t * (1 / 240.0L -
                            t * (1 / 132.0L - t * (691 / 32760.0L - t / 12))))));
    return sum + (std::log(x) - 1 / (2 * x) - series);
}

template <int n>
Real power(Real x) {
    Real product = 1;
    for (int i = 0; i < (n < 0 ? -n : n); ++i) product *= x;
    return n < 0 ? 1 / product : product;
}

using Function = double (*)(double);
using LongFunction = Real (*)(Real);

// The order of EVERY_FUNCTION in reference.py.
constexpr Function functions[] = {std::exp, std::exp2, std::log, std::sin, std::cbrt};
constexpr int short_ones = 5;
constexpr LongFunction long_functions[] = {
    std::expm1,
    [](Real x) { return std::expm1(x * log_2); },
    [](Real x) { return std::exp(x * log_10); },
    [](Real x) { return std::expm1(x * log_10); },
    std::log1p,
    std::log2,
    [](Real x) { return std::log1p(x) / log_2; },
    std::log10,
    [](Real x) { return std::log1p(x) / log_10; },
    std::sqrt,
    [](Real x) { return 1 / std::sqrt(x); },
    std::cos,
    std::tan,
    std::asin,
    std::acos,
    std::atan,
    sin_half_turns,
    cos_half_turns,
    [](Real x) { return sin_half_turns(x) / cos_half_turns(x); },
    [](Real x) { return std::asin(x) / pi; },
    [](Real x) { return std::acos(x) / pi; },
    [](Real x) { return std::atan(x) / pi; },
    std::sinh,
    std::cosh,
    std::tanh,
    std::asinh,
    std::acosh,
    std::atanh,
    std::erf,
    std::erfc,
    std::tgamma,
    std::lgamma,
    digamma,
    j0l,
    j1l,
    y0l,
    y1l,
    power<2>,
    power<3>,
    power<5>,
    power<-1>,
    power<-2>,
    std::sqrt,
    std::cbrt,
    [](Real x) { return std::sqrt(std::sqrt(x)); },
    [](Real x) { return 1 / std::cbrt(x); },
    [](Real x) { return power<2>(1 + x); },
    [](Real x) { return power<12>(1 + x); },
    [](Real x) { return power<-1>(1 + x); },
};

template <typename Number>
double distance(Number y, int p, int emin, int spacings_per_ulp, double offset) {
    const int e = y == 0 ? emin : std::ilogb(y);
    const int ulp = (e < emin ? emin : e) - p + 1;
    const Number position = std::ldexp(y, -ulp) * spacings_per_ulp - offset;
    return static_cast<double>(std::fabs(position - std::nearbyint(position)));
}

}  // namespace

// out[i] = distance of f((m + i) 2^exponent) to the nearest breakpoint, in units of their spacing;
// nan at a pole.
//
// The ulp of y in [2^e, 2^(e+1)), e >= emin, is 2^(e-p+1). Breakpoints are the multiples of
// ulp / spacings_per_ulp, moved by offset (in their spacing).
// An error of y that takes it across a power of two does no more harm than elsewhere: where
// offset = 0 the power is a breakpoint of both lattices, and else both put y far from one.
extern "C" void distances(int function, long m, long count, int exponent, int p, int emin,
                          int spacings_per_ulp, double offset, double* out) {
    for (long i = 0; i < count; ++i) {
        if (function < short_ones) {
            const double y = functions[function](std::ldexp(static_cast<double>(m + i), exponent));
            out[i] = distance(y, p, emin, spacings_per_ulp, offset);
        } else {
            const Real x = std::ldexp(static_cast<Real>(m + i), exponent);
            const Real y = long_functions[function - short_ones](x);
            out[i] = std::isfinite(y) ? distance(y, p, emin, spacings_per_ulp, offset) : NAN;
        }
    }
}
