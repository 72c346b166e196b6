// The operations of the HTTP API, as a table: the routes, what each asks of which tool, and the
// OpenAPI document are made from it.
#ifndef BELLJAR_SERVER_REST_OPERATIONS_H_
#define BELLJAR_SERVER_REST_OPERATIONS_H_

#include <string>
#include <utility>
#include <vector>

#include "server/core/web.h"

namespace belljar::server::rest {

// How an operation is answered.
enum class Answering {
  kTool,      // by the object of the tool
  kNothing,   // by 204 if the tool succeeds
  kFile,      // by the bytes that the tool gives
  kUpload,    // the body is the content of a file for the tool
  kBatch,     // by the tool, many times
  kSession,   // by one session of the tool's list
  kArtifact,  // by the store of artifacts
  kRuntimes,  // by the service itself, as the following
  kLimits,
  kChangeLimits,
  kStatistics,
  kOpenApi,
  kAudit,  // by the audit log, as the following
  kReceipt,
  kJob,  // by the store of jobs, as the following
  kJobList,
  kJobCancel,
  kBatchJob,
  kBatchResults,
  kBatchCancel,
};

struct Operation {
  WebMethod method;
  const char* pattern;
  const char* id;  // operationId
  const char* tag;
  const char* summary;
  Answering answering = Answering::kTool;
  const char* tool = "";
  // Arguments of the tool that are no choice of the client: {"action", "keep"}.
  std::vector<std::pair<const char*, const char*>> fixed = {};
  // Arguments of the tool that the placeholders of the pattern are, in order.
  std::vector<const char*> in_path = {};
  std::vector<const char*> in_query = {};
  // Arguments of the tool that the body may have. "*": all that are in none of the other lists.
  std::vector<const char*> in_body = {};
  unsigned success = 200;
  // Whether the answer to a repeated Idempotency-Key is the first one's.
  bool is_repeatable = false;
};

bool IsOfJobs(Answering answering);
bool IsOfAudit(Answering answering);

// What a server may lack, with its operations.
struct Features {
  bool sessions = false;
  bool jobs = false;
  bool audit = false;
};
// Constant.
std::vector<Operation> Operations(const Features& features);

WebRoute RouteOf(const Operation& operation);

}  // namespace belljar::server::rest

#endif  // BELLJAR_SERVER_REST_OPERATIONS_H_
