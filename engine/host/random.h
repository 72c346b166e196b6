// Names that nobody can guess, from the kernel's generator.
#ifndef BELLJAR_ENGINE_HOST_RANDOM_H_
#define BELLJAR_ENGINE_HOST_RANDOM_H_

#include <array>

namespace belljar::host {

// Of getrandom(2): 128 bits, aborts where there are none to be had.
std::array<unsigned char, 16> RandomBytes();

}  // namespace belljar::host

#endif  // BELLJAR_ENGINE_HOST_RANDOM_H_
