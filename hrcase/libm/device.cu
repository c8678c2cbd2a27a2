// Calls one of CUDA's functions at a list of arguments, as the device rounds: to nearest.
//
// FUNCTION is its name and REAL the type of argument and result; both are defined by whoever
// compiles this. Any grid will do.

extern "C" __global__ void evaluate(const REAL *arguments, REAL *results, unsigned count) {
    const unsigned step = gridDim.x * blockDim.x;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step)
        results[i] = FUNCTION(arguments[i]);
}
