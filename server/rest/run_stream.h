// RunStream: the answer to one execution as lines of JSON, while it runs:
//
//   {"output":"…"}                          what the program printed
//   {"command":{"id":3}}                    of a command instead: the first line, and its streams,
//   {"stdout":"…"}, {"stderr":"…"}          as "stdout_base64" and "stderr_base64" if not UTF-8
//   {"input":{"id":7,"prompt":"Name? "}}    it waits for a line: POST /v1/inputs/7
//   {"execution":{…}}                       the last line; or {"problem":{…}}
//
// or as the data of events (https://html.spec.whatwg.org/#server-sent-events).
// Its functions are called on the thread of the call.
#ifndef BELLJAR_SERVER_REST_RUN_STREAM_H_
#define BELLJAR_SERVER_REST_RUN_STREAM_H_

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "engine/core/result.h"
#include "server/core/web.h"

namespace belljar::server::rest {

// A client that names one of them in Accept gets a stream.
inline constexpr char kLinesType[] = "application/jsonl";
inline constexpr char kEventsType[] = "text/event-stream";
// Null: it does not.
const char* StreamTypeOf(const WebHeaders& headers);

class RunStream {
 public:
  // `type` is one of the two.
  RunStream(std::shared_ptr<WebReply> reply, const char* type)
      : reply_(std::move(reply)), type_(type) {}

  void Output(std::string_view text);
  void Started(uint64_t command);
  // Waits while the client reads slowly. False: it is gone, or reads nothing.
  bool Piece(bool is_errors, std::string_view bytes);
  void Input(uint64_t id, const std::string& prompt);
  // `answer` as without a stream. If that is a problem and nothing has been sent, it is the answer.
  void Finish(WebAnswer answer);

 private:
  void Line(const std::string& json);
  void Bytes(bool is_errors, std::string_view bytes);

  const std::shared_ptr<WebReply> reply_;
  const char* const type_;
  bool has_begun_ = false;
  std::array<std::string, 2> pending_;  // an incomplete character of each stream of a command
};

// The body of POST /v1/inputs/{input}, {"line": "…"} or {"end": true}: nullopt is the end. An error
// is a sentence for the client.
core::Result<std::optional<std::string>> ReadInput(const std::string& body);

}  // namespace belljar::server::rest

#endif  // BELLJAR_SERVER_REST_RUN_STREAM_H_
