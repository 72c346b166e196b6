#include "engine/core/digest.h"

#include <sha2.h>

namespace belljar {

std::string Sha256(std::string_view bytes) {
  SHA2_CTX context;
  SHA256Init(&context);
  SHA256Update(&context, reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  char digits[SHA256_DIGEST_STRING_LENGTH];
  SHA256End(&context, digits);
  return digits;
}

}  // namespace belljar
