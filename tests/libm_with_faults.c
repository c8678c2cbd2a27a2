/* A library whose faults the tests know. sqrt is the processor's: correctly rounded. */
#include <fenv.h>
#include <math.h>
#include <stdlib.h>

double right(double x) { return __builtin_sqrt(x); }
float rightf(float x) { return __builtin_sqrtf(x); }
long double rightl(long double x) { return __builtin_sqrtl(x); }

/* The next double at 2, to nearest only. */
double once(double x) {
    if (x == 2 && fegetround() == FE_TONEAREST)
        return 0x1.6a09e667f3bcep+0;
    return __builtin_sqrt(x);
}

double unsigned_zero(double x) { return __builtin_sqrt(x) + 0.0; }
double no_number(double x) { return x == 2 ? NAN : __builtin_sqrt(x); }
double infinite(double x) { return x > 0 ? INFINITY : 0; }

/* Leaves another rounding mode behind, and the processor's way to treat subnormals. */
double careless(double x) {
    double root = __builtin_sqrt(x);
    fesetround(FE_UPWARD);
#ifdef __SSE__
    __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040); /* subnormals are zeros */
#endif
    return root;
}

static volatile int *nowhere;

double crash(double x) {
    if (x == 3 && fegetround() == FE_UPWARD)
        *nowhere = 1;
    return __builtin_sqrt(x);
}
double crash_always(double x) { return *nowhere + x; }
double hang(double x) {
    while (x == 3 && fegetround() == FE_TONEAREST)
        ;
    return __builtin_sqrt(x);
}
double leave(double x) {
    if (x == 3)
        exit(3);
    return __builtin_sqrt(x);
}
