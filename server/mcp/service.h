// McpService: answers the messages of the Model Context Protocol, revisions 2024-11-05 to
// 2026-07-28, whatever way they came. Calls of tools go through the queue; everything else is
// answered on the spot, so a busy server still lists its tools and answers pings.
#ifndef BELLJAR_SERVER_MCP_SERVICE_H_
#define BELLJAR_SERVER_MCP_SERVICE_H_

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "server/core/call_queue.h"
#include "server/core/exchange.h"
#include "server/core/resource_store.h"
#include "server/core/tool.h"
#include "server/json_rpc/message.h"
#include "server/mcp/calls.h"
#include "server/mcp/envelope.h"
#include "server/mcp/results.h"

namespace belljar::server::mcp {

class McpService final : public MessageHandler {
 public:
  using RefusalListener = std::function<void(const Caller&, const CallQueue::Refusal&)>;

  // `queue` outlives every reply, and this outlives every call in `queue`: drain it first.
  // `resources` is what the tools leave for clients to read, borrowed; null: they leave nothing.
  McpService(const ServerIdentity& identity, std::vector<std::unique_ptr<Tool>> tools,
             CallQueue& queue, RefusalListener on_refusal = {}, ResourceStore* resources = nullptr);

  void Handle(IncomingMessage message, std::shared_ptr<Reply> reply) override;
  bool End(const Caller& caller, const std::string& conversation) override;

  // Every call that still runs or waits.
  void CancelAll() { calls_.CancelAll(); }

 private:
  struct Request;
  struct PendingCall;

  void Notified(const json_rpc::RpcMessage& message, const std::string& conversation);
  void Answer(std::shared_ptr<Request> request);
  void Initialize(Request& request);
  // False: it is not a method about resources.
  bool AnswerResources(Request& request);
  void ReadResource(Request& request);
  void CallTool(std::shared_ptr<Request> request);
  void Submit(std::shared_ptr<PendingCall> call);
  void Run(PendingCall& call);
  Tool* FindTool(const std::string& name) const;

  const std::vector<std::unique_ptr<Tool>> tools_;
  const Results results_;
  CallQueue& queue_;
  const RefusalListener on_refusal_;
  ResourceStore* const resources_;
  // Whether the client over stdio asked for a revision with links; over HTTP a header says so.
  std::atomic<bool> stdio_knows_links_ = true;
  Calls calls_;
  Conversations conversations_;
};

}  // namespace belljar::server::mcp

#endif  // BELLJAR_SERVER_MCP_SERVICE_H_
