#include "server/core/resource_piece.h"

#include <algorithm>
#include <memory>
#include <string_view>

#include "engine/core/text.h"
#include "engine/host/number.h"

namespace belljar::server {
namespace {

constexpr const char* kRead = "read a piece of a resource";

core::Error Malformed(const std::string& what) {
  return core::MakeError(kRead, what + "; send ?offset=N&length=N, each a whole number");
}

// The byte position after `count` UTF-8 characters from `start`; the end if there are fewer.
size_t After(std::string_view text, size_t start, uint64_t count) {
  size_t at = start;
  while (at < text.size() && count > 0) {
    at += std::max<size_t>(core::SequenceLength(text.substr(at)), 1);
    --count;
  }
  return at;
}

}  // namespace

core::Result<std::optional<ResourcePiece>> ParsePiece(const std::string& uri) {
  const size_t mark = uri.find('?');
  if (mark == std::string::npos) return std::optional<ResourcePiece>();
  ResourcePiece piece{.whole_uri = uri.substr(0, mark)};
  std::optional<uint64_t> offset;
  for (const std::string_view part : core::SplitAt(std::string_view(uri).substr(mark + 1), '&')) {
    const size_t equals = part.find('=');
    const std::string_view name = part.substr(0, equals);
    if (name != "offset" && name != "length") {
      return Malformed("unknown parameter " + core::Quoted(name));
    }
    std::optional<uint64_t>& number = name == "offset" ? offset : piece.length;
    if (number) return Malformed(std::string(name) + " occurs twice");
    number =
        host::NumberFrom<uint64_t>(equals == std::string_view::npos ? "" : part.substr(equals + 1));
    if (!number) return Malformed(core::Quoted(part) + " must be a whole number");
  }
  piece.offset = offset.value_or(0);
  return std::optional(std::move(piece));
}

Resource PieceOf(const Resource& whole, const ResourcePiece& piece, const std::string& uri) {
  const std::string_view bytes = *whole.bytes;
  const uint64_t length = piece.length.value_or(bytes.size());
  size_t begin = 0, end = 0;
  if (whole.is_text) {
    begin = After(bytes, 0, piece.offset);
    end = After(bytes, begin, length);
  } else {
    begin = static_cast<size_t>(std::min<uint64_t>(piece.offset, bytes.size()));
    end = begin + static_cast<size_t>(std::min<uint64_t>(length, bytes.size() - begin));
  }
  Resource part = whole;
  part.uri = uri;
  part.bytes = std::make_shared<const std::string>(bytes.substr(begin, end - begin));
  return part;
}

}  // namespace belljar::server
