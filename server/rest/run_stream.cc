#include "server/rest/run_stream.h"

#include <nlohmann/json.hpp>

#include "engine/host/json_reader.h"

namespace belljar::server::rest {
namespace {

using Json = nlohmann::json;

constexpr host::JsonBounds kInputBounds{.depth = 2, .values = 4};

std::string TextOf(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

void RunStream::Output(std::string_view text) {
  Line(R"({"output":)" + TextOf(Json(text)) + "}\n");
}

void RunStream::Input(uint64_t id, const std::string& prompt) {
  Line(R"({"input":)" + TextOf({{"id", id}, {"prompt", prompt}}) + "}\n");
}

void RunStream::Finish(WebAnswer answer) {
  const bool has_run = answer.status < 400;
  if (!has_run && !has_begun_) return reply_->Finish(std::move(answer));
  Line((has_run ? R"({"execution":)" : R"({"problem":)") + answer.body + "}\n");
  reply_->End();
}

void RunStream::Line(std::string line) {
  if (!std::exchange(has_begun_, true)) reply_->Begin({200, kStreamType, "", ""});
  reply_->Write(std::move(line));
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
