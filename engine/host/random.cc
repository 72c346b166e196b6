#include "engine/host/random.h"

#include <sys/random.h>

#include <cstdlib>

namespace belljar::host {

std::array<unsigned char, 16> RandomBytes() {
  std::array<unsigned char, 16> bytes;
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) abort();
  return bytes;
}

}  // namespace belljar::host
