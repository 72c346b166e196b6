// PercentEncoded: a text as part of a URI, with all bytes but the unreserved characters (RFC 3986,
// 2.3) and `kept` as %XX.
#ifndef BELLJAR_ENGINE_HOST_PERCENT_ENCODING_H_
#define BELLJAR_ENGINE_HOST_PERCENT_ENCODING_H_

#include <string>
#include <string_view>

namespace belljar::host {

inline std::string PercentEncoded(std::string_view text, std::string_view kept = "") {
  constexpr std::string_view kUnreserved =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
  constexpr char kDigits[] = "0123456789ABCDEF";
  std::string encoded;
  for (const char c : text) {
    if (kUnreserved.find(c) != kUnreserved.npos || kept.find(c) != kept.npos) {
      encoded += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    encoded += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
  }
  return encoded;
}

}  // namespace belljar::host

#endif  // BELLJAR_ENGINE_HOST_PERCENT_ENCODING_H_
