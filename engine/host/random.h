// Unguessable names, from the kernel's random generator.
#ifndef BELLJAR_ENGINE_HOST_RANDOM_H_
#define BELLJAR_ENGINE_HOST_RANDOM_H_

#include <array>
#include <string>

namespace belljar::host {

// From getrandom(2): 128 bits; aborts if none are available.
std::array<unsigned char, 16> RandomBytes();

// A UUID of them (RFC 9562, version 4).
std::string NewUuid();

}  // namespace belljar::host

#endif  // BELLJAR_ENGINE_HOST_RANDOM_H_
