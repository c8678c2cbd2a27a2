// The device's kernels as functions of the CPU: launch_NAME(grid, block, pointers to arguments).
#include "cuda_on_cpu.h"

#include "kernels.cu"
#include "walks.cu"

#define LAUNCHER(name)                                                         \
    void launch_##name(unsigned grid, unsigned block, void** arguments) {      \
        emulated::launch(name, grid, block, arguments);                        \
    }

extern "C" {
LAUNCHER(clear)
LAUNCHER(expand)
LAUNCHER(expand_groups)
LAUNCHER(domains_lefevre)
LAUNCHER(domains_regular)
LAUNCHER(subdomains_lefevre)
LAUNCHER(subdomains_regular)
LAUNCHER(scan_subdomains)
LAUNCHER(scan_runs)
LAUNCHER(decide)
LAUNCHER(expand_planted)
LAUNCHER(check_seams)
LAUNCHER(expand_runs)
LAUNCHER(start_walks)
LAUNCHER(walk)
LAUNCHER(cross_wide)
LAUNCHER(take_near)
LAUNCHER(take_crowds)
LAUNCHER(check_walks)
}
