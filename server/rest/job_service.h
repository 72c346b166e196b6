// JobService: executions and batches as jobs: submitted with "Prefer: respond-async" (RFC 7240),
// read, listed and cancelled. The store writes to a disk, so requests are answered on separate
// threads.
#ifndef BELLJAR_SERVER_REST_JOB_SERVICE_H_
#define BELLJAR_SERVER_REST_JOB_SERVICE_H_

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "server/calls/call_queue.h"
#include "server/core/web.h"
#include "server/jobs/job_runner.h"
#include "server/jobs/job_store.h"

namespace belljar::server::rest {

// The kind of a job that is one execution.
inline constexpr char kExecutionKind[] = "execution";

// Whether the client requests a job instead of an answer.
bool PrefersAsync(const WebHeaders& headers);

// Any thread, concurrently.
class JobService {
 public:
  // Both are borrowed.
  JobService(jobs::JobStore& store, jobs::JobRunner& runner);
  // Waits for requests that are being answered.
  ~JobService();

  // As for a CallQueue.
  const std::optional<core::Error>& start_error() const { return requests_.start_error(); }

  // One execution with these arguments.
  void Submit(const nlohmann::json& arguments, WebRequest request, std::shared_ptr<WebReply> reply);
  // The executions described by the request's body.
  void SubmitBatch(WebRequest request, std::shared_ptr<WebReply> reply);
  // The following read the id from the request's parameters.
  void Find(WebRequest request, std::shared_ptr<WebReply> reply);
  void List(WebRequest request, std::shared_ptr<WebReply> reply);
  void Cancel(WebRequest request, std::shared_ptr<WebReply> reply);
  void FindBatch(WebRequest request, std::shared_ptr<WebReply> reply);
  void BatchResults(WebRequest request, std::shared_ptr<WebReply> reply);
  void CancelBatch(WebRequest request, std::shared_ptr<WebReply> reply);

 private:
  using Answerer = std::function<WebAnswer(const WebRequest&)>;
  WebAnswer SubmitAll(const WebRequest& request, std::vector<std::string> executions,
                      bool is_batch);
  void Answer(WebRequest request, std::shared_ptr<WebReply> reply, Answerer answer);

  jobs::JobStore& store_;
  jobs::JobRunner& runner_;
  CallQueue requests_;
};

}  // namespace belljar::server::rest

#endif  // BELLJAR_SERVER_REST_JOB_SERVICE_H_
