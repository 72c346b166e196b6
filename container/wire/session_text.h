// What only a session's host and guest exchange: its limits, and what happens between its cells:
// questions about names, and operations on its files. An inquiry is a text, followed by content:
// its own text, and that of each file. A reply is a text, followed by at most one content.
#ifndef BELLJAR_CONTAINER_WIRE_SESSION_TEXT_H_
#define BELLJAR_CONTAINER_WIRE_SESSION_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "container/wire/content.h"
#include "engine/core/bytes.h"
#include "engine/core/limits.h"
#include "engine/core/result.h"
#include "engine/host/request.h"
#include "engine/sessions/session.h"

namespace belljar::container::wire {

inline constexpr size_t kMaxSessionText = size_t{64} * 1024;
inline constexpr size_t kMaxInquiryText = size_t{16} * 1024 * 1024;
// Large mainly because of lists of files.
inline constexpr size_t kMaxReplyText = size_t{16} * 1024 * 1024;

std::string SessionToText(const core::Limits& limits);
core::Result<core::Limits> ReadSessionText(std::string_view text);

struct Inquiry {
  enum class Kind { kComplete, kInspect, kVariables, kFiles, kReadFile, kWriteFiles, kRemoveFile };
  Kind kind = Kind::kVariables;
  std::string text;  // the source of a question; the path of a file
  std::optional<uint64_t> cursor;
  std::vector<host::InputFile> files;  // to write
};

// An error means that its files are too large for a container.
core::Result<std::string> InquiryToText(const Inquiry& inquiry);
std::vector<std::string_view> InquiryContent(const Inquiry& inquiry);
// As ReadRequestText: `content` will fill `inquiry`, which must not move.
core::Result<void> ReadInquiryText(std::string_view text, Inquiry& inquiry, Content& content);

struct Reply {
  // Why there is none. The number is 0, or ENOENT for a file that does not exist.
  std::optional<core::Error> error;
  std::string content;  // a file's; or the answer to a question, a JSON object
  std::vector<sessions::SessionFile> files;
};

// Bounds on a reply: what was requested, and how much content there can be.
struct ReplyBounds {
  Inquiry::Kind kind = Inquiry::Kind::kVariables;
  core::Bytes content{0};

  static ReplyBounds Of(Inquiry::Kind kind, const core::Limits& limits);
};

// An error if it is too large to be sent.
std::string ReplyToText(const Reply& reply);
// From a guest: hostile. `content` will fill `reply`, which must not move. Call FinishReply once
// all content has arrived.
core::Result<void> ReadReplyText(std::string_view text, const ReplyBounds& bounds, Reply& reply,
                                 Content& content);
// Checks that the answer to a question is an object of bounded depth.
core::Result<void> FinishReply(const ReplyBounds& bounds, const Reply& reply);

}  // namespace belljar::container::wire

#endif  // BELLJAR_CONTAINER_WIRE_SESSION_TEXT_H_
