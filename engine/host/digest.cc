#include "engine/host/digest.h"

// Deprecated in OpenSSL 3 in favour of EVP, which pulls in 4 MiB of providers and takes a
// millisecond on first use. These are a few functions that use the processor's own instructions
// (SHA-NI).
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/sha.h>

#include <array>

#include "engine/core/text.h"

namespace belljar::host {

struct Sha256Stream::Context {
  SHA256_CTX state;
};

Sha256Stream::Sha256Stream() : context_(std::make_unique<Context>()) {
  SHA256_Init(&context_->state);
}
Sha256Stream::Sha256Stream(Sha256Stream&&) noexcept = default;
Sha256Stream::~Sha256Stream() = default;

void Sha256Stream::Add(std::string_view bytes) {
  SHA256_Update(&context_->state, bytes.data(), bytes.size());
}

std::string Sha256Stream::Finish() {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest;
  SHA256_Final(digest.data(), &context_->state);
  return core::Hex(digest);
}

std::string Sha256(std::string_view bytes) {
  Sha256Stream stream;
  stream.Add(bytes);
  return stream.Finish();
}

}  // namespace belljar::host
