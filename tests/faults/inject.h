// The test build's fault: one bit of one object, flipped when the program comes to a place for the
// n-th time (INJECT of cuda/port.h). g++ reads this before the kernels (-include).
#pragma once

#include <cstdint>

namespace faults {

enum Place : int { BLOCK, CUBIC, TABLE, TASK, RUN, WALK, COUNTS, CANDIDATES, PLACES };

inline int place = PLACES;         // where the flip shall happen
inline std::uint64_t visit, bit;   // at which visit, counted from 0, and which bit of the object
inline std::uint64_t visits, bits; // how often the place was visited; bits of the object

inline void flip(int here, const void* object, std::uint64_t bytes) {
    if (here != place) return;
    bits = 8 * bytes;
    if (visits++ == visit)
        static_cast<unsigned char*>(const_cast<void*>(object))[bit / 8 % bytes] ^=
            static_cast<unsigned char>(1u << bit % 8);
}

}  // namespace faults

#define INJECT(here, object) faults::flip(faults::here, &(object), sizeof(object))

extern "C" {
void set_fault(int place, std::uint64_t visit, std::uint64_t bit) {
    faults::place = place, faults::visit = visit, faults::bit = bit;
    faults::visits = faults::bits = 0;
}
std::uint64_t fault_visits() { return faults::visits; }
std::uint64_t fault_bits() { return faults::bits; }
}
