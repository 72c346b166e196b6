#include "server/rest/run_stream.h"

#include <chrono>
#include <nlohmann/json.hpp>

#include "engine/core/text.h"
#include "engine/host/base64.h"
#include "engine/host/json_reader.h"

namespace belljar::server::rest {
namespace {

using Json = nlohmann::json;

// What may wait for a slow client; beyond it a command waits, too, but not forever.
constexpr size_t kMaxForReader = size_t{1} << 20;
constexpr std::chrono::seconds kReaderPatience{30};
constexpr host::JsonBounds kInputBounds{.depth = 2, .values = 4};

std::string TextOf(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

const char* StreamTypeOf(const WebHeaders& headers) {
  if (HasItem(headers.accept, kLinesType)) return kLinesType;
  return HasItem(headers.accept, kEventsType) ? kEventsType : nullptr;
}

void RunStream::Output(std::string_view text) { Line(R"({"output":)" + TextOf(Json(text)) + "}"); }

void RunStream::Started(uint64_t command) {
  Line(R"({"command":{"id":)" + std::to_string(command) + "}}");
}

bool RunStream::Piece(bool is_errors, std::string_view bytes) {
  std::string& pending = pending_[is_errors ? 1 : 0];
  pending += bytes;
  const size_t whole = core::CompletePrefix(pending);
  if (whole > 0) Bytes(is_errors, std::string_view(pending).substr(0, whole));
  pending.erase(0, whole);
  return reply_->AwaitRoom(kMaxForReader, std::chrono::steady_clock::now() + kReaderPatience);
}

void RunStream::Bytes(bool is_errors, std::string_view bytes) {
  const std::string name = is_errors ? "stderr" : "stdout";
  Line(core::IsUtf8(bytes)
           ? R"({")" + name + R"(":)" + TextOf(Json(bytes)) + "}"
           : R"({")" + name + R"(_base64":")" + host::EncodeBase64(bytes) + R"("})");
}

void RunStream::Input(uint64_t id, const std::string& prompt) {
  Line(R"({"input":)" + TextOf({{"id", id}, {"prompt", prompt}}) + "}");
}

void RunStream::Finish(WebAnswer answer) {
  const bool has_run = answer.status < 400;
  if (!has_run && !has_begun_) return reply_->Finish(std::move(answer));
  for (const bool is_errors : {false, true}) {
    const std::string& pending = pending_[is_errors ? 1 : 0];
    if (!pending.empty()) Bytes(is_errors, pending);
  }
  Line((has_run ? R"({"execution":)" : R"({"problem":)") + answer.body + "}");
  reply_->End();
}

void RunStream::Line(const std::string& json) {
  if (!std::exchange(has_begun_, true)) reply_->Begin({200, type_, "", ""});
  reply_->Write(type_ == kEventsType ? "data: " + json + "\n\n" : json + "\n");
}

core::Result<std::optional<std::string>> ReadInput(const std::string& body) {
  const host::JsonReading reading = host::ReadJson(body, kInputBounds);
  const Json* const json = std::get_if<Json>(&reading);
  if (json && json->is_object() && json->size() == 1) {
    const Json line = json->value("line", Json());
    if (line.is_string()) return std::optional(line.get<std::string>());
    if (json->value("end", Json()) == true) return std::optional<std::string>();
  }
  return core::MakeError("read the body",
                         R"(the body must be {"line": "text"}, or {"end": true} if there is no )"
                         "more input");
}

}  // namespace belljar::server::rest
