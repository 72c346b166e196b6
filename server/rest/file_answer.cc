#include "server/rest/file_answer.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "engine/host/digest.h"
#include "engine/host/number.h"
#include "engine/host/percent_encoding.h"

namespace belljar::server::rest {
namespace {

constexpr size_t kTagDigits = 32;

// The first byte and one past the last.
struct Range {
  size_t begin = 0;
  size_t end = 0;
};

// nullopt: not a single range of bytes, which may be ignored. An empty range cannot be satisfied.
std::optional<Range> ParseRange(std::string_view header, size_t size) {
  constexpr std::string_view kUnit = "bytes=";
  if (!header.starts_with(kUnit)) return std::nullopt;
  header.remove_prefix(kUnit.size());
  const size_t dash = header.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const std::string_view first = header.substr(0, dash), last = header.substr(dash + 1);
  if (first.empty()) {
    const std::optional<uint64_t> suffix = host::NumberFrom<uint64_t>(last);
    if (!suffix) return std::nullopt;
    return Range{size - static_cast<size_t>(std::min<uint64_t>(*suffix, size)), size};
  }
  const std::optional<uint64_t> begin = host::NumberFrom<uint64_t>(first);
  const std::optional<uint64_t> end = last.empty() ? size - 1 : host::NumberFrom<uint64_t>(last);
  if (!begin || !end || (!last.empty() && *end < *begin)) return std::nullopt;
  if (*begin >= size) return Range{};
  return Range{static_cast<size_t>(*begin),
               static_cast<size_t>(std::min<uint64_t>(*end, size - 1)) + 1};
}

// Whether the list contains this tag. Weak comparison, as RFC 9110 requires.
bool HasTag(std::string_view list, std::string_view tag) {
  while (!list.empty()) {
    const size_t comma = std::min(list.find(','), list.size());
    std::string_view each = list.substr(0, comma);
    list.remove_prefix(std::min(comma + 1, list.size()));
    each.remove_prefix(std::min(each.find_first_not_of(' '), each.size()));
    each = each.substr(0, each.find_last_not_of(' ') + 1);
    if (each.starts_with("W/")) each.remove_prefix(2);
    if (each == "*" || each == tag) return true;
  }
  return false;
}

}  // namespace

WebAnswer FileAnswer(const ServedFile& file, const WebHeaders& headers) {
  const std::string& bytes = *file.bytes;
  const std::string tag = "\"" + host::Sha256(bytes).substr(0, kTagDigits) + "\"";
  WebAnswer answer;
  answer.type = file.media_type;
  answer.headers = "ETag: " + tag +
                   "\r\nAccept-Ranges: bytes\r\nCache-Control: private, no-cache\r\n"
                   "Content-Security-Policy: sandbox; default-src 'none'\r\n"
                   "Content-Disposition: attachment; filename*=UTF-8''" +
                   host::PercentEncoded(file.name, "/") + "\r\n";
  if (headers.if_none_match && HasTag(*headers.if_none_match, tag)) {
    answer.status = 304;
    answer.type.clear();
    return answer;
  }
  const bool is_conditional = headers.if_range && *headers.if_range != tag;
  const std::optional<Range> range =
      headers.range && !is_conditional ? ParseRange(*headers.range, bytes.size()) : std::nullopt;
  if (!range) {
    answer.body = bytes;
    return answer;
  }
  const std::string size = std::to_string(bytes.size());
  if (range->begin == range->end) {
    return Problem(416, "the range is outside the " + size + " bytes of this file",
                   "Content-Range: bytes */" + size + "\r\n");
  }
  answer.status = 206;
  answer.headers += "Content-Range: bytes " + std::to_string(range->begin) + "-" +
                    std::to_string(range->end - 1) + "/" + size + "\r\n";
  answer.body = bytes.substr(range->begin, range->end - range->begin);
  return answer;
}

}  // namespace belljar::server::rest
