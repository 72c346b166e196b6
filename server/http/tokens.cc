#include "server/http/tokens.h"

#include <algorithm>
#include <boost/beast/core/string.hpp>
#include <cmath>
#include <string>

#include "engine/host/base64.h"

namespace belljar::server::http {
namespace {

bool IsTokenCharacter(char c) { return c > ' ' && c < 0x7f; }

// The part after the scheme; nullopt: another scheme.
std::optional<std::string_view> After(std::string_view scheme, std::string_view authorization) {
  if (authorization.size() <= scheme.size() ||
      !boost::beast::iequals({authorization.data(), scheme.size()},
                             {scheme.data(), scheme.size()}) ||
      authorization[scheme.size()] != ' ') {
    return std::nullopt;
  }
  std::string_view rest = authorization.substr(scheme.size());
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  return rest;
}

// The token from "Bearer TOKEN", or the password of "Basic …" (RFC 7617): some clients of other
// APIs cannot set a header, but accept a URL, http://any:TOKEN@host. nullopt: another scheme.
std::optional<std::string> TokenIn(std::string_view authorization) {
  if (const auto token = After("bearer", authorization)) return std::string(*token);
  const auto encoded = After("basic", authorization);
  if (!encoded) return std::nullopt;
  const std::optional<std::string> pair = host::DecodeBase64(*encoded);
  const size_t colon = pair ? pair->find(':') : std::string::npos;
  if (colon == std::string::npos) return std::nullopt;
  return pair->substr(colon + 1);
}

double BurstOf(const Caller& caller) {
  if (caller.burst > 0) return static_cast<double>(caller.burst);
  return std::max(1.0, std::ceil(caller.rate));
}

}  // namespace

core::Result<Tokens> Tokens::Make(const std::vector<TokenConfig>& configs) {
  Tokens tokens;
  for (const TokenConfig& config : configs) {
    const std::string operation = "read the token of " + config.caller.name;
    if (config.secret.size() < kMinLength || config.secret.size() > kMaxLength) {
      return core::MakeError(
          operation, "it has " + std::to_string(config.secret.size()) +
                         " characters; a token has " + std::to_string(kMinLength) + " to " +
                         std::to_string(kMaxLength) + ": create one with openssl rand -hex 32");
    }
    if (!std::all_of(config.secret.begin(), config.secret.end(), IsTokenCharacter)) {
      return core::MakeError(
          operation,
          "it contains a character that a header cannot carry; use visible ASCII without "
          "spaces: create one with openssl rand -hex 32");
    }
    Token token;
    std::copy(config.secret.begin(), config.secret.end(), token.secret.begin());
    token.length = config.secret.size();
    token.caller = config.caller;
    tokens.tokens_.push_back(std::move(token));
  }
  return tokens;
}

void Tokens::ContinueRates(const Tokens& before) {
  for (Token& token : tokens_) {
    for (const Token& old : before.tokens_) {
      if (old.caller.name != token.caller.name) continue;
      token.allowance = std::min(old.allowance, BurstOf(token.caller));
      token.refilled = old.refilled;
    }
  }
}

Tokens::Presented Tokens::Check(std::optional<std::string_view> authorization,
                                std::optional<std::string_view> auth_token) const {
  const std::optional<std::string> usual = authorization ? TokenIn(*authorization) : std::nullopt;
  Presented presented;
  presented.was_sent = usual || auth_token;
  const size_t by_usual = usual ? IndexOf(*usual) : tokens_.size();
  const size_t by_auth_token = auth_token ? IndexOf(*auth_token) : tokens_.size();
  // Whatever is between the client and this server may have read only one of them.
  presented.is_ambiguous = authorization && auth_token && (!usual || by_usual != by_auth_token);
  const size_t match = auth_token ? by_auth_token : by_usual;
  if (match < tokens_.size() && !presented.is_ambiguous) presented.token = match;
  return presented;
}

size_t Tokens::IndexOf(std::string_view text) const {
  size_t match = tokens_.size();
  if (text.empty() || text.size() > kMaxLength) return match;
  Secret sent{};
  std::copy(text.begin(), text.end(), sent.begin());
  for (size_t i = 0; i < tokens_.size(); ++i) {
    size_t difference = tokens_[i].length ^ text.size();
    for (size_t at = 0; at < kMaxLength; ++at) {
      difference |= static_cast<size_t>(sent[at] ^ tokens_[i].secret[at]);
    }
    // Keeps the compiler from stopping the loop early and from turning the selection into a branch.
    asm volatile("" : "+r"(difference));
    const size_t equal = size_t{0} - static_cast<size_t>(difference == 0);
    match = (match & ~equal) | (i & equal);
  }
  return match;
}

std::optional<std::chrono::seconds> Tokens::Take(size_t index, Clock::time_point now) {
  Token& token = tokens_[index];
  if (token.caller.rate <= 0) return std::nullopt;
  const double burst = BurstOf(token.caller);
  if (!token.refilled) {
    token.allowance = burst;
  } else {
    const std::chrono::duration<double> passed = now - *token.refilled;
    token.allowance = std::min(burst, token.allowance + passed.count() * token.caller.rate);
  }
  token.refilled = now;
  if (token.allowance >= 1) {
    token.allowance -= 1;
    return std::nullopt;
  }
  // At most one day: for the smallest rates the time would not fit the type.
  const double wait = std::min(86'400.0, std::ceil((1 - token.allowance) / token.caller.rate));
  return std::chrono::seconds(std::max<int64_t>(1, static_cast<int64_t>(wait)));
}

std::string Tokens::RateHeaders(size_t index) const {
  const Token& token = tokens_[index];
  if (token.caller.rate <= 0) return "";
  const double burst = BurstOf(token.caller);
  // Seconds until an empty bucket, and until this one, is full.
  const auto seconds = [&](double requests) {
    const double wait = std::min(86'400.0, std::ceil(requests / token.caller.rate));
    return std::to_string(static_cast<int64_t>(wait));
  };
  return "RateLimit-Policy: \"token\";q=" + std::to_string(static_cast<int64_t>(burst)) +
         ";w=" + seconds(burst) +
         "\r\nRateLimit: \"token\";r=" + std::to_string(static_cast<int64_t>(token.allowance)) +
         ";t=" + seconds(burst - token.allowance) + "\r\n";
}

}  // namespace belljar::server::http
