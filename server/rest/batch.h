// Batches: many calls of one tool in one request, whose outcomes are sent as they end, one JSON
// line each:
//
//   {"index":1,"execution":{…}}
//   {"index":0,"problem":{…}}
//   {"done":{"executions":1,"problems":1}}
//
// A batch takes places in the queue like any other call: at most `width`, and each goes back to the
// end of the queue after a short time, so that others' calls wait no longer than for a single call.
#ifndef BELLJAR_SERVER_REST_BATCH_H_
#define BELLJAR_SERVER_REST_BATCH_H_

#include <cstddef>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "server/calls/calls.h"
#include "server/calls/tool.h"
#include "server/core/web.h"

namespace belljar::server::rest {

constexpr size_t kMaxBatch = 10'000;  // programs

// The calls that the body of a batch describes (Batches::Start). An error is a sentence for the
// client.
core::Result<std::vector<nlohmann::json>> ReadBatch(const std::string& body);

// Any thread, concurrently. Must outlive the queue's calls: stop it first.
class Batches {
 public:
  Batches(Calls& calls, size_t width) : calls_(calls), width_(width) {}

  // The body: {"executions": [ARGUMENTS, …]} or {"program": ARGUMENTS, "inputs": [ARGUMENTS, …]},
  // where ARGUMENTS are the tool's, and an input's are added to the program's. It is read in the
  // queue, since it may be large. Replies to every request that the queue accepts.
  std::optional<CallQueue::Refusal> Start(Tool& tool, WebRequest request,
                                          std::shared_ptr<WebReply> reply);

 private:
  struct Batch;
  std::optional<CallQueue::Refusal> Submit(const std::shared_ptr<Batch>& batch);
  void Run(const std::shared_ptr<Batch>& batch);
  void RunNext(Batch& batch, size_t index);
  static void Answer(Batch& batch, size_t index, const core::Result<ToolResult>& result);
  void End(const std::shared_ptr<Batch>& batch);

  Calls& calls_;
  const size_t width_;
};

}  // namespace belljar::server::rest

#endif  // BELLJAR_SERVER_REST_BATCH_H_
