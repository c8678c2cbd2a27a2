// The distance of f(x) to the nearest breakpoint, for consecutive x, by the C library's double
// functions. Compiled and called by distances.py.
#include <cmath>

namespace {

using Function = double (*)(double);

// The order of FUNCTIONS in reference.py.
constexpr Function functions[] = {std::exp, std::exp2, std::log, std::sin, std::cbrt};

}  // namespace

// out[i] = distance of f((m + i) 2^exponent) to the nearest breakpoint, in units of their spacing.
//
// The ulp of y in [2^e, 2^(e+1)), e >= emin, is 2^(e-p+1). Breakpoints are the multiples of
// ulp / spacings_per_ulp, moved by offset (in their spacing).
// An error of y that takes it across a power of two does no more harm than elsewhere: where
// offset = 0 the power is a breakpoint of both lattices, and else both put y far from one.
extern "C" void distances(int function, long m, long count, int exponent, int p, int emin,
                          int spacings_per_ulp, double offset, double* out) {
    const Function f = functions[function];
    for (long i = 0; i < count; ++i) {
        const double y = f(std::ldexp(static_cast<double>(m + i), exponent));
        const int e = y == 0 ? emin : std::ilogb(y);
        const int ulp = (e < emin ? emin : e) - p + 1;
        const double position = std::ldexp(y, -ulp) * spacings_per_ulp - offset;
        out[i] = std::fabs(position - std::nearbyint(position));
    }
}
