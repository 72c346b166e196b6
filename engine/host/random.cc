#include "engine/host/random.h"

#include <sys/random.h>

#include <cstdlib>

#include "engine/core/text.h"

namespace belljar::host {

std::array<unsigned char, 16> RandomBytes() {
  std::array<unsigned char, 16> bytes;
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) abort();
  return bytes;
}

std::string NewUuid() {
  std::array<unsigned char, 16> bytes = RandomBytes();
  bytes[6] = static_cast<unsigned char>((bytes[6] & 0x0f) | 0x40);
  bytes[8] = static_cast<unsigned char>((bytes[8] & 0x3f) | 0x80);
  std::string id = core::Hex(bytes);
  for (const unsigned dash : {8u, 13u, 18u, 23u}) id.insert(dash, 1, '-');
  return id;
}

}  // namespace belljar::host
