#include "container/wire/session_text.h"

#include <algorithm>
#include <cerrno>
#include <iterator>

#include "container/wire/fields.h"
#include "container/wire/request_text.h"
#include "engine/core/text.h"
#include "engine/host/beneath.h"
#include "engine/host/limit_fields.h"
#include "engine/host/request_fields.h"
#include "engine/run/report.h"

namespace belljar::container::wire {
namespace {

using nlohmann::json;

constexpr host::JsonBounds kSessionBounds{.depth = 4, .values = 500'000};
constexpr size_t kMaxSessionFiles = 100'000;
// An unprintable byte of a name becomes four.
constexpr size_t kMaxFilePath = 4 * host::kMaxPath;
constexpr size_t kMaxReplyOperation = 400;
constexpr size_t kMaxReplyDetail = 4'000;
// In addition to the largest result: as for a report.
constexpr uint64_t kAnswerOverhead = uint64_t{512} * 1024;
constexpr const char* kInquiryKinds[] = {"complete",  "inspect",     "variables",  "files",
                                         "read_file", "write_files", "remove_file"};

bool IsQuestion(Inquiry::Kind kind) { return kind <= Inquiry::Kind::kVariables; }

// At most `max` bytes, printable.
std::string ShownText(std::string_view text, size_t max) {
  return PrintableForm(std::string(text), max);
}

}  // namespace

std::string SessionToText(const core::Limits& limits) {
  return FormText({{"limits", ToForm<host::kSent>(limits)}});
}

core::Result<core::Limits> ReadSessionText(std::string_view text) {
  core::Limits limits;
  core::Result<void> read = ReadForm(text, kSessionBounds, "read a session", [&](const json& form) {
    Fields fields(form);
    Fields inner(fields.Any("limits"));
    inner.Rows<host::kSent>(limits);
    inner.End();
    fields.End();
  });
  if (!read) return read.error();
  return limits;
}

// --- inquiries -----------------------------------------------------------------------------------

core::Result<std::string> InquiryToText(const Inquiry& inquiry) {
  json files = json::array();
  uint64_t total = inquiry.text.size();
  for (const host::InputFile& file : inquiry.files) {
    files.push_back({{"name", file.path}, {"size", file.content.size()}});
    total += file.content.size();
  }
  json form = {{"kind", kInquiryKinds[static_cast<size_t>(inquiry.kind)]},
               {"text_size", inquiry.text.size()},
               {"cursor", nullptr},
               {"files", std::move(files)}};
  if (inquiry.cursor) form["cursor"] = *inquiry.cursor;
  std::string text = FormText(form);
  if (text.size() > kMaxInquiryText || total > kMaxRequestContent.count) {
    return core::MakeError("send to a container", "the files exceed the " +
                                                      kMaxRequestContent.ToString() +
                                                      " limit of a container; leave some out");
  }
  return text;
}

std::vector<std::string_view> InquiryContent(const Inquiry& inquiry) {
  std::vector<std::string_view> content = {inquiry.text};
  for (const host::InputFile& file : inquiry.files) content.push_back(file.content);
  return content;
}

core::Result<void> ReadInquiryText(std::string_view text, Inquiry& inquiry, Content& content) {
  std::vector<uint64_t> sizes;
  core::Result<void> read =
      ReadForm(text, kSessionBounds, "read an inquiry", [&](const json& form) {
        Fields fields(form);
        const std::string kind = fields.Text("kind", 20);
        const auto* const found = std::ranges::find(kInquiryKinds, kind);
        if (found == std::end(kInquiryKinds)) throw FormError("kind is not a known value");
        inquiry.kind = static_cast<Inquiry::Kind>(found - std::begin(kInquiryKinds));
        inquiry.cursor = fields.NumberOrNull("cursor", UINT32_MAX);
        sizes.push_back(fields.Number("text_size", kMaxRequestContent.count));
        uint64_t total = sizes.back();
        for (const json& item : fields.List("files", kMaxSessionFiles)) {
          Fields file(item);
          inquiry.files.push_back({file.Text("name", host::kNameBounds.max), {}});
          total += sizes.emplace_back(file.Number("size", kMaxRequestContent.count));
          if (total > kMaxRequestContent.count) throw FormError("its content is too large");
          file.End();
        }
        fields.End();
      });
  if (!read) return read;
  content.Announce(&inquiry.text, sizes.front());
  for (size_t i = 0; i < inquiry.files.size(); ++i) {
    content.Announce(&inquiry.files[i].content, sizes[i + 1]);
  }
  return {};
}

// --- replies -------------------------------------------------------------------------------------

ReplyBounds ReplyBounds::Of(Inquiry::Kind kind, const core::Limits& limits) {
  if (IsQuestion(kind)) return {kind, core::Bytes{limits.result.count + kAnswerOverhead}};
  return {kind, kind == Inquiry::Kind::kReadFile ? limits.file_size : core::Bytes{0}};
}

std::string ReplyToText(const Reply& reply) {
  json files = json::array();
  for (const sessions::SessionFile& file : reply.files) {
    files.push_back({{"path", file.path}, {"size", file.size}});
  }
  json form = {{"error", nullptr}, {"size", reply.content.size()}, {"files", std::move(files)}};
  if (const auto& error = reply.error) {
    const bool is_missing = error->error_number == ENOENT;
    const std::string detail =
        error->detail.empty() && !is_missing ? error->ToString() : error->detail;
    form["error"] = {{"operation", ShownText(error->operation, kMaxReplyOperation)},
                     {"missing", is_missing},
                     {"detail", ShownText(detail, kMaxReplyDetail)}};
  }
  return FormText(form);
}

core::Result<void> ReadReplyText(std::string_view text, const ReplyBounds& bounds, Reply& reply,
                                 Content& content) {
  uint64_t size = 0;
  core::Result<void> read =
      ReadForm(text, kSessionBounds, "read a container's reply", [&](const json& f) {
        Fields fields(f);
        if (const json& form = fields.Any("error"); !form.is_null()) {
          Fields error(form);
          const bool is_missing = error.Flag("missing");
          std::string operation = core::Printable(error.Text("operation", kMaxReplyOperation));
          std::string detail = core::Printable(error.Text("detail", kMaxReplyDetail));
          reply.error = is_missing
                            ? core::SystemErrorOf(ENOENT, std::move(operation), std::move(detail))
                            : core::MakeError(std::move(operation), std::move(detail));
          error.End();
        }
        size = fields.Number("size", reply.error ? 0 : bounds.content.count);
        const bool lists = bounds.kind == Inquiry::Kind::kFiles && !reply.error;
        for (const json& item : fields.List("files", lists ? kMaxSessionFiles : 0)) {
          Fields file(item);
          std::string path = file.Text("path", kMaxFilePath);
          if (core::Printable(path) != path) throw FormError("a path contains control characters");
          reply.files.push_back({std::move(path), file.Number("size", UINT64_MAX)});
          file.End();
        }
        fields.End();
      });
  if (!read) return read;
  content.Announce(&reply.content, size);
  return {};
}

core::Result<void> FinishReply(const ReplyBounds& bounds, const Reply& reply) {
  if (reply.error || !IsQuestion(bounds.kind)) return {};
  const host::JsonReading reading = host::ReadJson(
      reply.content,
      {.depth = run::kMaxReportDepth, .values = static_cast<size_t>(bounds.content.count) / 2 + 2});
  const auto* const object = std::get_if<json>(&reading);
  if (object && object->is_object()) return {};
  return core::MakeError("read a container's reply", "its answer is not a JSON object");
}

}  // namespace belljar::container::wire
