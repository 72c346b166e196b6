// RunStream: the answer to one execution as lines of JSON, while it runs:
//
//   {"output":"…"}                          what the program printed
//   {"input":{"id":7,"prompt":"Name? "}}    it waits for a line: POST /v1/inputs/7
//   {"execution":{…}}                       the last line; or {"problem":{…}}
//
// Its functions are called on the thread of the call.
#ifndef BELLJAR_SERVER_REST_RUN_STREAM_H_
#define BELLJAR_SERVER_REST_RUN_STREAM_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "engine/core/result.h"
#include "server/core/web.h"

namespace belljar::server::rest {

// A client that names it in Accept gets a stream.
inline constexpr char kStreamType[] = "application/jsonl";

class RunStream {
 public:
  explicit RunStream(std::shared_ptr<WebReply> reply) : reply_(std::move(reply)) {}

  void Output(std::string_view text);
  void Input(uint64_t id, const std::string& prompt);
  // `answer` as without a stream. If that is a problem and nothing has been sent, it is the answer.
  void Finish(WebAnswer answer);

 private:
  void Line(std::string line);

  const std::shared_ptr<WebReply> reply_;
  bool has_begun_ = false;
};

// The body of POST /v1/inputs/{input}, {"line": "…"} or {"end": true}: nullopt is the end. An error
// is a sentence for the client.
core::Result<std::optional<std::string>> ReadInput(const std::string& body);

}  // namespace belljar::server::rest

#endif  // BELLJAR_SERVER_REST_RUN_STREAM_H_
