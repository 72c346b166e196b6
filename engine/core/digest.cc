#include "engine/core/digest.h"

// By OpenSSL 3's words deprecated: it would have EVP used, which brings in 4 MiB of providers, and
// a millisecond when first used. These are a few functions, and use the processor's own (SHA-NI).
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/sha.h>

#include <array>

#include "engine/core/text.h"

namespace belljar {

std::string Sha256(std::string_view bytes) {
  SHA256_CTX context;
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest;
  SHA256_Init(&context);
  SHA256_Update(&context, bytes.data(), bytes.size());
  SHA256_Final(digest.data(), &context);
  return Hex(digest);
}

}  // namespace belljar
