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

// OpenSSL's HMAC needs those providers.
std::string HmacSha256(std::string_view key, std::string_view bytes) {
  constexpr size_t kBlock = SHA256_CBLOCK;
  const auto digest = [](std::string_view head, std::string_view rest) {
    SHA256_CTX state;
    SHA256_Init(&state);
    SHA256_Update(&state, head.data(), head.size());
    SHA256_Update(&state, rest.data(), rest.size());
    std::array<unsigned char, SHA256_DIGEST_LENGTH> result;
    SHA256_Final(result.data(), &state);
    return std::string(result.begin(), result.end());
  };
  std::string inner = key.size() > kBlock ? digest(key, "") : std::string(key);
  inner.resize(kBlock, '\0');
  std::string outer = inner;
  for (char& c : inner) c = static_cast<char>(c ^ 0x36);
  for (char& c : outer) c = static_cast<char>(c ^ 0x5c);
  return digest(outer, digest(inner, bytes));
}

std::string Sha256(std::string_view bytes) {
  Sha256Stream stream;
  stream.Add(bytes);
  return stream.Finish();
}

}  // namespace belljar::host
