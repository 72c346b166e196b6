// Tokens: bearer-token authentication and rate limits.
//
//   Result<Tokens> tokens = Tokens::Make(config.tokens);
//   Tokens::Presented presented = tokens->Check(authorization_header);
//   if (presented.token) wait = tokens->Take(*presented.token, now);
#ifndef BELLJAR_SERVER_HTTP_TOKENS_H_
#define BELLJAR_SERVER_HTTP_TOKENS_H_

#include <array>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/result.h"
#include "server/core/caller.h"
#include "server/core/config.h"

namespace belljar::server::http {

class Tokens {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr size_t kMinLength = 32;
  static constexpr size_t kMaxLength = 512;

  // Errors identify a token by its caller's name and never quote it.
  static core::Result<Tokens> Make(const std::vector<TokenConfig>& tokens);

  // The rates go on where those of `before` were, by the names of tokens.
  void ContinueRates(const Tokens& before);

  // No token is required.
  bool empty() const { return tokens_.empty(); }

  struct Presented {
    bool was_sent = false;        // as Bearer, as Basic's password or as X-Auth-Token
    bool is_ambiguous = false;    // both headers were sent, and they do not name the same token
    std::optional<size_t> token;  // set if it is valid
  };
  // The headers Authorization and X-Auth-Token; nullopt: absent. Constant-time: the duration
  // reveals neither a matching prefix nor the length of a token. Any thread.
  Presented Check(std::optional<std::string_view> authorization,
                  std::optional<std::string_view> auth_token = std::nullopt) const;

  const Caller& caller(size_t token) const { return tokens_[token].caller; }

  // Counts one request against the rate limit. If the limit is exceeded, returns the seconds to
  // wait and does not count it. Single-threaded.
  std::optional<std::chrono::seconds> Take(size_t token, Clock::time_point now);

  // The remainder after Take, as complete header lines (draft-ietf-httpapi-ratelimit-headers):
  // RateLimit-Policy and RateLimit. Empty without a rate limit.
  std::string RateHeaders(size_t token) const;

 private:
  // Zero-padded, so that each comparison covers the full length.
  using Secret = std::array<unsigned char, kMaxLength>;
  struct Token {
    Secret secret{};
    size_t length = 0;
    Caller caller;
    // Token bucket: refilled at caller.rate up to caller.burst.
    double allowance = 0;
    std::optional<Clock::time_point> refilled;
  };
  // tokens_.size(): no token has this text.
  size_t IndexOf(std::string_view text) const;

  std::vector<Token> tokens_;
};

}  // namespace belljar::server::http

#endif  // BELLJAR_SERVER_HTTP_TOKENS_H_
