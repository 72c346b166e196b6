#include "server/rest/batch.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "engine/host/json_reader.h"
#include "server/rest/failure.h"

namespace belljar::server::rest {
namespace {

using BatchJson = nlohmann::json;
using BatchClock = std::chrono::steady_clock;

constexpr host::JsonBounds kBatchBounds{.depth = 64, .values = 1'000'000};
// Time limit of a turn, for the sake of others' calls, which wait in the queue.
constexpr std::chrono::milliseconds kTurn{100};
// Number of lines that may wait for a slow client; beyond it the batch waits, too, but not forever.
constexpr size_t kMaxUnsent = 4 << 20;
constexpr std::chrono::seconds kPatience{60};

}  // namespace

core::Result<std::vector<BatchJson>> ReadBatch(const std::string& body) {
  const auto wrong = [](std::string sentence) {
    return core::MakeError("read the batch", std::move(sentence));
  };
  host::JsonReading reading = host::ReadJson(body, kBatchBounds);
  if (const auto* failure = std::get_if<host::JsonFailure>(&reading)) {
    return wrong("the body is " + Describe(*failure, kBatchBounds));
  }
  BatchJson& json = std::get<BatchJson>(reading);
  const bool is_list = json.is_object() && json.size() == 1 && json.contains("executions");
  const bool is_program =
      json.is_object() && json.size() == 2 && json.contains("program") && json.contains("inputs");
  if (!is_list && !is_program) {
    return wrong(
        "the body must be {\"executions\": [...]}, or {\"program\": {...}, \"inputs\": [...]}");
  }
  BatchJson& list = json[is_list ? "executions" : "inputs"];
  if (!list.is_array() || list.empty() || list.size() > kMaxBatch) {
    return wrong("a batch has 1 to " + std::to_string(kMaxBatch) + " programs, in an array");
  }
  if (is_program && !json["program"].is_object()) return wrong("program must be an object");
  std::vector<BatchJson> calls;
  calls.reserve(list.size());
  for (BatchJson& each : list) {
    if (!each.is_object()) {
      return wrong("entry " + std::to_string(calls.size()) + " must be an object");
    }
    if (each.contains("session")) return wrong("programs of a batch cannot use a session");
    if (is_list) {
      calls.push_back(std::move(each));
      continue;
    }
    calls.push_back(json["program"]);
    calls.back().update(each);
  }
  return calls;
}

struct Batches::Batch {
  Batch(Calls& calls, Tool& of, WebRequest asked, std::shared_ptr<WebReply> to)
      : tool(of),
        request(std::move(asked)),
        reply(std::move(to)),
        pending(calls, request.peer_gone) {}

  Tool& tool;
  WebRequest request;
  const std::shared_ptr<WebReply> reply;
  const Calls::Pending pending;

  std::mutex mutex;
  bool is_read = false;
  std::vector<BatchJson> calls;
  size_t next = 0;
  size_t turns = 0;  // in the queue or running
  size_t executions = 0;
  size_t problems = 0;

  // The index of the next call to run; nullopt: there is none, or the client is gone.
  std::optional<size_t> Next() {
    if (request.peer_gone->cancelled()) return std::nullopt;
    std::lock_guard lock(mutex);
    if (next == calls.size()) return std::nullopt;
    return next++;
  }
};

std::optional<CallQueue::Refusal> Batches::Start(Tool& tool, WebRequest request,
                                                 std::shared_ptr<WebReply> reply) {
  return Submit(std::make_shared<Batch>(calls_, tool, std::move(request), std::move(reply)));
}

std::optional<CallQueue::Refusal> Batches::Submit(const std::shared_ptr<Batch>& batch) {
  {
    std::lock_guard lock(batch->mutex);
    ++batch->turns;
  }
  const Caller& caller = batch->request.caller;
  auto refusal =
      calls_.queue().Submit(caller.name, caller.concurrency, [this, batch] { Run(batch); });
  if (refusal) {
    std::lock_guard lock(batch->mutex);
    --batch->turns;
  }
  return refusal;
}

// One turn.
void Batches::Run(const std::shared_ptr<Batch>& batch) {
  // Only the first turn, alone: the others are submitted after it has read the body.
  if (!batch->is_read) {
    batch->is_read = true;
    core::Result<std::vector<BatchJson>> calls = ReadBatch(batch->request.body);
    batch->request.body = {};
    if (!calls) {
      batch->reply->Finish(Problem(422, calls.error().detail));
      return End(batch);
    }
    batch->calls = std::move(*calls);
    batch->reply->Begin({200, "application/jsonl", "", ""});
    for (size_t i = 1; i < std::min(width_, batch->calls.size()); ++i) {
      if (Submit(batch)) break;
    }
  }
  BatchClock::time_point began = BatchClock::now();
  while (const std::optional<size_t> index = batch->Next()) {
    RunNext(*batch, *index);
    if (BatchClock::now() - began < kTurn) continue;
    if (!Submit(batch)) break;
    began = BatchClock::now();  // the queue is full; this turn continues
  }
  End(batch);
}

void Batches::RunNext(Batch& batch, size_t index) {
  if (!batch.reply->AwaitRoom(kMaxUnsent, BatchClock::now() + kPatience)) {
    return batch.request.peer_gone->Cancel();
  }
  ToolCall call;
  call.arguments = std::move(batch.calls[index]);
  call.caller = batch.request.caller;
  call.cancellation = batch.request.peer_gone;
  call.traceparent = batch.request.headers.traceparent.value_or("");
  call.form = ToolCall::Form::kStructured;
  calls_.Run(batch.tool, std::move(call), [&](const core::Result<ToolResult>& result) {
    if (!batch.request.peer_gone->cancelled()) Answer(batch, index, result);
  });
}

void Batches::Answer(Batch& batch, size_t index, const core::Result<ToolResult>& result) {
  const bool has_run = result && result->fault == ToolResult::Fault::kNone;
  std::string line = "{\"index\":" + std::to_string(index);
  if (has_run) {
    line += ",\"execution\":" + result->structured + "}\n";
  } else {
    line +=
        ",\"problem\":" + (result ? ProblemOf(*result) : ProblemOf(result.error())).body + "}\n";
  }
  {
    std::lock_guard lock(batch.mutex);
    ++(has_run ? batch.executions : batch.problems);
  }
  batch.reply->Write(std::move(line));
}

// Ends the current turn.
void Batches::End(const std::shared_ptr<Batch>& batch) {
  {
    std::lock_guard lock(batch->mutex);
    if (--batch->turns > 0) return;
  }
  // Without the last line, nobody mistakes a cancelled batch for a complete one.
  const size_t sent = batch->executions + batch->problems;
  if (batch->calls.empty() || sent < batch->calls.size()) return;
  batch->reply->Write("{\"done\":{\"executions\":" + std::to_string(batch->executions) +
                      ",\"problems\":" + std::to_string(batch->problems) + "}}\n");
  batch->reply->End();
}

}  // namespace belljar::server::rest
