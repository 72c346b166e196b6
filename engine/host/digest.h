// SHA-256.
#ifndef BELLJAR_ENGINE_HOST_DIGEST_H_
#define BELLJAR_ENGINE_HOST_DIGEST_H_

#include <memory>
#include <string>
#include <string_view>

namespace belljar::host {

// 64 lower-case hexadecimal digits.
std::string Sha256(std::string_view bytes);

// HMAC (RFC 2104): 32 bytes, not in hexadecimal.
std::string HmacSha256(std::string_view key, std::string_view bytes);

// Like Sha256, for bytes that arrive in pieces.
class Sha256Stream {
 public:
  Sha256Stream();
  Sha256Stream(Sha256Stream&&) noexcept;
  ~Sha256Stream();

  void Add(std::string_view bytes);
  // Call once, as the last call.
  std::string Finish();

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

}  // namespace belljar::host

#endif  // BELLJAR_ENGINE_HOST_DIGEST_H_
