// The operations of the HTTP API, as a table: it defines the routes, the tool calls and the OpenAPI
// document.
#ifndef BELLJAR_SERVER_REST_OPERATIONS_H_
#define BELLJAR_SERVER_REST_OPERATIONS_H_

#include <utility>
#include <vector>

#include "server/core/web.h"

namespace belljar::server::rest {

// How an operation is answered.
enum class Answering {
  kTool,      // with the tool's object
  kNothing,   // with 204 if the tool succeeds
  kFile,      // with the bytes that the tool returns
  kUpload,    // the body is the content of a file for the tool
  kBatch,     // with many calls of the tool
  kSession,   // with one session of the tool's list
  kArtifact,  // from the store of artifacts
  kRuntimes,  // by the service itself, like the following
  kLimits,
  kChangeLimits,
  kStatistics,
  kOpenApi,
  kAudit,  // from the audit log, like the following
  kReceipt,
  kInput,  // with 204, if a program waits for it
  kJob,    // from the job store, like the following
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
  const char* description;
  Answering answering = Answering::kTool;
  const char* tool = "";
  // Arguments of the tool that the client does not choose: {"action", "keep"}.
  std::vector<std::pair<const char*, const char*>> fixed = {};
  // Arguments of the tool filled from the placeholders of the pattern, in order.
  std::vector<const char*> in_path = {};
  std::vector<const char*> in_query = {};
  // Arguments of the tool allowed in the body. "*": all that are in none of the other lists.
  std::vector<const char*> in_body = {};
  // Those that a body must have, besides what the tool's schema says.
  std::vector<const char*> needs = {};
  unsigned success = 200;
  // Whether a repeated Idempotency-Key gets the first answer.
  bool is_repeatable = false;
  // Whether it can be answered with a stream (run_stream.h).
  bool is_streamed = false;
};

bool IsOfJobs(Answering answering);
bool IsOfAudit(Answering answering);
// Whether it is about commands, whose streams are kept apart.
bool KeepsStreams(const Operation& operation);

// What a server may lack, together with its operations.
struct Features {
  bool sessions = false;
  bool languages = false;  // besides Python
  bool commands = false;   // sessions that run commands
  bool jobs = false;
  bool audit = false;
};
struct Tag {
  const char* name;
  const char* description;
};
inline constexpr Tag kTags[] = {
    {"executions",
     "Programs that run once, each in a process of its own, and checks of programs. A program that "
     "fails has an outcome like any other; only what could not be run is a problem."},
    {"jobs",
     "Executions and batches that were accepted with `Prefer: respond-async` and outlive the "
     "server. Each belongs to the token that submitted it."},
    {"sessions",
     "Python processes that keep names, imports and files from cell to cell, with checkpoints to "
     "roll back to and to branch from, and workspaces in which commands run. Each belongs to the "
     "token that opened it."},
    {"audit", "The signed log of what ran, and receipts of executions."},
    {"server", "What this server offers, its limits and its load."},
};

// Constant.
std::vector<Operation> Operations(const Features& features);

WebRoute RouteOf(const Operation& operation);

}  // namespace belljar::server::rest

#endif  // BELLJAR_SERVER_REST_OPERATIONS_H_
