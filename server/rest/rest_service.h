// RestService: the HTTP API at /v1. Each operation (operations.h) is a call of the tool that MCP
// clients call, with the same arguments, limits and answers; failures are problem details (RFC
// 9457).
#ifndef BELLJAR_SERVER_REST_REST_SERVICE_H_
#define BELLJAR_SERVER_REST_REST_SERVICE_H_

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "server/calls/calls.h"
#include "server/calls/pending_lines.h"
#include "server/calls/tool.h"
#include "server/core/resource_store.h"
#include "server/core/session_registry.h"
#include "server/core/web.h"
#include "server/rest/audit_service.h"
#include "server/rest/batch.h"
#include "server/rest/idempotency.h"
#include "server/rest/job_service.h"
#include "server/rest/operations.h"

namespace belljar::server::rest {

class RestService final : public WebHandler {
 public:
  // NOLINTNEXTLINE(bugprone-exception-escape): it is JSON's, whose move does not throw
  struct Parts {
    std::vector<std::shared_ptr<Tool>> tools;
    // JSON Schemas of the tools' full answers, by tool.
    nlohmann::ordered_json answers;
    std::string version;
    std::string python_version;
    std::vector<std::string> profiles;
    std::vector<std::string> languages;  // besides Python
    // For the whole server, as JSON objects.
    std::function<nlohmann::ordered_json()> limits;
    std::function<nlohmann::ordered_json()> statistics;
    // Changes limits for an operator. An error is a sentence for the client.
    std::function<core::Result<void>(const Caller&, const nlohmann::json&)> change_limits;
    bool has_tokens = false;        // whether requests need a token
    JobService* jobs = nullptr;     // borrowed; null: no jobs
    AuditService* audit = nullptr;  // borrowed; null: no audit log
    size_t batch_width = 1;         // programs of one batch that run at a time
  };

  // `calls` must outlive every reply, and this object every call in its queue: stop it first.
  // `resources` is where the tools keep artifacts; `sessions` may be null. Both are borrowed.
  RestService(Parts parts, Calls& calls, ResourceStore& resources, SessionRegistry* sessions);

  const std::vector<WebRoute>& routes() const override { return routes_; }
  void Handle(size_t route, WebRequest request, std::shared_ptr<WebReply> reply) override;

  const std::string& open_api() const { return open_api_; }

 private:
  struct Pending;

  Tool* FindTool(const char* name) const;
  // What its body may contain, as JSON Schema.
  const nlohmann::ordered_json& BodyOf(const Operation& operation) const;
  WebAnswer AnswerAtOnce(const Operation& operation, const WebRequest& request);
  // Whether the request was for the job store, which then answers it.
  bool TakeJob(const Operation& operation, WebRequest& request, std::shared_ptr<WebReply>& reply);
  WebAnswer Limits(const Caller& caller) const;
  WebAnswer ChangeLimits(const WebRequest& request) const;
  WebAnswer TakeInput(const WebRequest& request);
  WebAnswer Artifact(const WebRequest& request) const;
  void StartCall(const std::shared_ptr<Pending>& pending);
  void StartBatch(const Operation& operation, WebRequest request, std::shared_ptr<WebReply> reply);
  WebAnswer AnswerOf(Pending& pending, core::Result<ToolResult> result) const;
  void Finish(Pending& pending, WebAnswer answer);

  const Parts parts_;
  const std::vector<Operation> operations_;
  const std::vector<WebRoute> routes_;
  const std::vector<nlohmann::ordered_json> bodies_;  // by operation
  const std::string open_api_;
  ResourceStore& resources_;
  SessionRegistry* const sessions_;
  IdempotencyStore idempotency_;
  Calls& calls_;
  Batches batches_;
  PendingLines lines_;
};

}  // namespace belljar::server::rest

#endif  // BELLJAR_SERVER_REST_REST_SERVICE_H_
