// Tokens: who may call, and how often.
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

  // Errors name a token by its caller's name, never by a part of it.
  static core::Result<Tokens> Make(const std::vector<TokenConfig>& tokens);

  // Nothing is asked for.
  bool empty() const { return tokens_.empty(); }

  struct Presented {
    bool was_sent = false;        // something that claims to be a bearer token
    std::optional<size_t> token;  // the valid one
  };
  // Takes as long whatever it is compared with: neither the matching part nor the length of a token
  // can be learned from the time. Any thread.
  Presented Check(std::optional<std::string_view> authorization) const;

  const Caller& caller(size_t token) const { return tokens_[token].caller; }

  // Counts one call. Seconds to wait where it came too soon: it is then not counted. One thread.
  std::optional<std::chrono::seconds> Take(size_t token, Clock::time_point now);

 private:
  // Padded with zeros: each comparison looks at all of it.
  using Secret = std::array<unsigned char, kMaxLength>;
  struct Token {
    Secret secret{};
    size_t length = 0;
    Caller caller;
    // Calls that may come now. Refilled at caller.rate up to caller.burst.
    double allowance = 0;
    std::optional<Clock::time_point> refilled;
  };
  std::vector<Token> tokens_;
};

}  // namespace belljar::server::http

#endif  // BELLJAR_SERVER_HTTP_TOKENS_H_
