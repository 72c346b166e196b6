// Bytes: an amount of memory or data, typed so that its unit is never in doubt.
#ifndef BELLJAR_ENGINE_CORE_BYTES_H_
#define BELLJAR_ENGINE_CORE_BYTES_H_

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>

#include "engine/core/result.h"

namespace belljar::core {

struct Bytes {
  uint64_t count = 0;

  constexpr auto operator<=>(const Bytes&) const = default;

  static constexpr Bytes Kibi(uint64_t n) { return {n << 10}; }
  static constexpr Bytes Mebi(uint64_t n) { return {n << 20}; }

  static auto Members(auto& bytes) { return std::tie(bytes.count); }

  // "128m", "1g", "64k", "4096"; 1k = 1024. Suffixes: k, m, g, and "kb", "kib", ….
  static Result<Bytes> Parse(std::string_view text);
  // The shortest exact form that Parse reads: "128m", "1000".
  std::string ToString() const;
};

}  // namespace belljar::core

#endif  // BELLJAR_ENGINE_CORE_BYTES_H_
