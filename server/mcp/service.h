// McpService: answers messages of the Model Context Protocol, revisions 2024-11-05 to 2026-07-28,
// independent of the transport. Tool calls go through the queue; everything else is answered at
// once, so a busy server still lists its tools and answers pings.
#ifndef BELLJAR_SERVER_MCP_SERVICE_H_
#define BELLJAR_SERVER_MCP_SERVICE_H_

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "server/calls/calls.h"
#include "server/calls/pending_lines.h"
#include "server/calls/tool.h"
#include "server/core/cancellation.h"
#include "server/core/exchange.h"
#include "server/core/resource_store.h"
#include "server/json_rpc/message.h"
#include "server/mcp/conversations.h"
#include "server/mcp/envelope.h"
#include "server/mcp/results.h"

namespace belljar::server::mcp {

// The calls in progress, by conversation and request id, so that a later message can cancel them.
// Any thread, concurrently.
class RunningRequests {
 public:
  // False: a call with this id is already running in this conversation. Calls outside a
  // conversation (empty name) cannot be distinguished by id, and are not kept.
  bool Begin(const std::string& conversation, const std::string& id,
             const std::shared_ptr<Cancellation>& cancellation);
  void Finish(const std::string& conversation, const std::string& id);

  // Does nothing if there is no such call: it may just have finished.
  void Cancel(const std::string& conversation, const std::string& id);
  void CancelConversation(const std::string& conversation);

 private:
  using Key = std::pair<std::string, std::string>;

  std::mutex mutex_;
  std::map<Key, std::shared_ptr<Cancellation>> requests_;
};

class McpService final : public MessageHandler {
 public:
  // `calls` must outlive every reply, and this object every call in its queue: stop it first.
  // `resources`, borrowed, is where the tools store resources for clients; may be null.
  McpService(const ServerIdentity& identity, std::vector<std::unique_ptr<Tool>> tools, Calls& calls,
             ResourceStore* resources = nullptr);

  void Handle(IncomingMessage message, std::shared_ptr<Reply> reply) override;
  bool End(const Caller& caller, const std::string& conversation) override;

 private:
  struct Request;

  void Notified(const json_rpc::RpcMessage& message, const std::string& conversation);
  void Answer(std::shared_ptr<Request> request);
  void Initialize(Request& request);
  // False: not a resource method.
  bool AnswerResources(Request& request);
  void ReadResource(Request& request);
  void CallTool(std::shared_ptr<Request> request);
  belljar::server::Answer AnswerOf(const Request& request,
                                   const core::Result<ToolResult>& result) const;
  Tool* FindTool(const std::string& name) const;

  const std::vector<std::unique_ptr<Tool>> tools_;
  const Results results_;
  Calls& calls_;
  ResourceStore* const resources_;
  // Whether the stdio client requested a revision with links; over HTTP a header says so.
  std::atomic<bool> stdio_knows_links_ = true;
  // Whether the stdio client can be asked for input; over HTTP the conversation's name says so.
  std::atomic<bool> stdio_can_be_asked_ = false;
  PendingLines lines_;
  RunningRequests running_;
  Conversations conversations_;
};

}  // namespace belljar::server::mcp

#endif  // BELLJAR_SERVER_MCP_SERVICE_H_
