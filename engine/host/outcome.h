// Outcome: what the guest did. Failures of our own machine are an Error instead (result.h).
#ifndef BELLJAR_ENGINE_HOST_OUTCOME_H_
#define BELLJAR_ENGINE_HOST_OUTCOME_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/limits.h"

namespace belljar::host {

enum class Status {
  kOk,
  kException,  // an uncaught exception, including SyntaxError and a non-zero sys.exit
  kRefused,    // by the language policy; nothing ran
  kTimeout,    // wall clock
  kCpuLimit,
  kMemoryLimit,
  kKilled,  // anything else that ended the worker: a signal, a forbidden system call, os._exit
};
std::string_view StatusName(Status status);
// "SIGSEGV"; one without a name: "SIG64".
std::string SignalName(int signal);

// Why a run of status kKilled ended. Code must decide by this, not by the error text, which is for
// people.
enum class KillCause {
  kUnknown,     // not killed, or the cause is unknown
  kCancelled,   // by the caller
  kSystemCall,  // a forbidden one
  kUnreadable,  // the worker or its container sent invalid data
  kExit,        // it exited by itself, bypassing Python
  kSigkill,     // not sent by us: the kernel's OOM killer, or another process
  kSignal,      // any other
  kContainerEnded,
};

// One violation of the language policy.
struct Finding {
  std::string rule;  // "BJ201"
  std::string name;  // "import-not-allowed"
  int line = 0;      // 1-based; 0: the whole source
  int column = 0;    // 1-based, in characters (code points)
  int end_line = 0;
  int end_column = 0;  // one past the last character
  std::string reason;
  std::string hint;     // what to do instead
  std::string profile;  // a profile that would allow it, or empty
};

struct GuestError {
  std::string type;
  std::string message;
  int line = 0;
  int column = 0;
  int end_line = 0;
  int end_column = 0;
  std::string traceback;
  std::string hint;
};

// Properties of a validated source, from its syntax tree.
struct Analysis {
  std::vector<std::string> imports;  // dotted module names, sorted, without duplicates
  int branches = 0;                  // number of branches
  int nesting = 0;                   // maximum nesting of blocks and functions
  // Outermost names of imports without which the program does not run, and that are neither of a
  // profile nor of the library nor of the program's own.
  std::vector<std::string> missing = {};
};

// A comment addressed to Belljar: "# belljar: …".
struct Comment {
  int line = 0;      // 1-based
  std::string text;  // starting at its "#"
};

struct Usage {
  std::chrono::microseconds wall_time{0};
  std::chrono::microseconds cpu_time{0};
  uint64_t max_rss_bytes = 0;
};

// The compile step of a program, which an Outcome has together with what it made: its output is at
// the beginning of the streams, and its usage a part of the usage.
struct Compilation {
  bool failed = false;  // nothing but the compiler has run, and the outcome is the compiler's
  uint64_t stdout_bytes = 0;
  uint64_t stderr_bytes = 0;
  Usage usage;
  Usage of_program;  // what has been compiled
};

struct Stream {
  std::string text;  // bytes as written by the guest
  uint64_t dropped_bytes = 0;
};

struct SecurityEvent {
  std::string layer;   // "seccomp"
  std::string action;  // "denied" or "killed"
  std::string detail;  // "socket"
  uint64_t count = 1;
};

// One layer of the seal, as observed on this worker.
struct LayerState {
  std::string name;
  bool held = false;
  std::string detail;

  bool operator==(const LayerState&) const = default;
};

struct Isolation {
  std::string mode;    // "strict", "standard"
  std::string policy;  // "on", "off"
  std::vector<LayerState> layers;

  // `policy` under its name of 0.1, which clients still read: "restricted", "full".
  std::string_view language() const { return policy == "off" ? "full" : "restricted"; }

  bool operator==(const Isolation&) const = default;
};

// Something to view or keep in addition to the result. Created by the guest, and therefore hostile
// to whoever displays it.
struct Artifact {
  enum class Origin {
    kFile,     // a new or changed file of the workspace
    kDisplay,  // rendered from a value of the program: a figure, a table
  };
  Origin origin = Origin::kFile;
  std::string name;  // UTF-8: for a file, its path below the workspace; else like "figure-1.png"
  std::string media_type;
  uint64_t size = 0;                   // in bytes, even if the content is missing
  std::string sha256;                  // of all of it, in hexadecimal; empty if it was not read
  std::optional<std::string> content;  // all of it; nullopt: not collected
  // Whether the content is small enough to be part of the result itself (MarkInline). Other content
  // can be saved, or read in another way, for as long as the outcome exists.
  bool is_inline = true;
  std::string note;  // why there is no content, or what the name hides
  std::string uri;   // where a client of the server can read it; empty: nowhere
};

// Whether the content is UTF-8 text, by its type and its bytes. Everything else is base64, even if
// it happens to be UTF-8.
bool HoldsText(const Artifact& artifact);

// One connection, or one attempt, through the egress proxy of the network profile.
struct NetworkEvent {
  std::string host;  // as named by the guest
  uint16_t port = 0;
  std::string protocol;  // "connect", "http", "socks5"
  bool allowed = false;
  std::string detail;  // why it was refused, or the address it was connected to
  uint64_t sent = 0;   // bytes from the guest
  uint64_t received = 0;
  std::chrono::microseconds started{0};  // after the request was sent
  std::chrono::microseconds lasted{0};
};

// The container of a run, if there was one.
struct ContainerReport {
  std::string engine;        // "Docker Engine", "Podman Engine", "runsc"
  std::string runtime;       // "runsc", "runc"
  std::string image_digest;  // "sha256:…"
  bool warm = false;         // a spare; otherwise it was started for this run
  // Startup time, from its creation until a worker was ready in it.
  std::chrono::microseconds started_in{0};
  // Those of "memory", "processes", "cpu" that the engine cannot limit: only the worker's own
  // limits apply.
  std::vector<std::string> not_limited;
  std::vector<std::string> packages;  // installed for this run: "requests==2.31.0"
};

// A cell's session (docs/sessions.md).
struct SessionReport {
  std::string id;
  uint64_t cell = 0;       // from 1
  std::string checkpoint;  // from which a rollback undoes the cell; empty: none
  // The cell was stopped, and the session has continued from that checkpoint, as if it had not run.
  bool restored = false;
  // The interpreter of another language than Python has ended in the cell, and the session goes on
  // with a new one, without its variables.
  bool restarted = false;
  std::string note;  // further information for its caller
};

struct Outcome {
  Status status = Status::kKilled;
  KillCause kill_cause = KillCause::kUnknown;  // only with kKilled
  // With kSignal, or with kException of a program of another language.
  int kill_signal = 0;
  std::string execution_id;
  std::string language;                    // of another language than Python: "bash"
  std::optional<Compilation> compilation;  // of a language that is compiled; not in the JSON
  std::optional<int> exit_code;            // of sys.exit, or of a program of another language
  std::optional<std::string> result_json;  // valid JSON text
  std::optional<std::string> result_repr;
  Stream stdout_stream;
  Stream stderr_stream;
  std::vector<std::string> variables;
  std::optional<GuestError> error;
  std::vector<Finding> findings;
  std::optional<Analysis> analysis;    // of a validated source that parses
  std::vector<Comment> comments;       // of a validated source, if requested
  std::vector<std::string> truncated;  // report parts that were cut: "result", "traceback", …
  Usage usage;
  core::Limits limits;
  Isolation isolation;
  std::vector<SecurityEvent> security_events;
  std::vector<Artifact> artifacts;
  uint64_t artifacts_left_out = 0;  // more than the limit, or without content to collect
  std::string artifacts_note;       // what they were, and why
  std::vector<NetworkEvent> network;
  uint64_t network_left_out = 0;
  std::optional<ContainerReport> container;
  std::optional<SessionReport> session;

  bool success() const { return status == Status::kOk; }
};

// Sets status and error of a run that was stopped by one of its limits, not by a line of the
// program. `type` is "Timeout", "CpuLimit" or "MemoryLimit".
void SetStopped(Outcome& outcome, Status status, std::string type, std::string message,
                std::string hint);
// The same for a run that was killed.
void SetKilled(Outcome& outcome, KillCause cause, std::string message, std::string hint = {});

// Sets is_inline of the artifacts, in order, within outcome.limits: `artifact` for each,
// `artifacts` in total.
void MarkInline(Outcome& outcome);

// The object that `belljar run --json` prints and execute_code returns. UTF-8: invalid bytes in the
// guest's output are replaced by U+FFFD.
std::string OutcomeToJson(const Outcome& outcome, int indent = -1);

// The object "limits" of an outcome, and of a profile in `belljar info --json`.
std::string LimitsToJson(const core::Limits& limits);

// The array that `belljar validate --format json` prints for one file.
std::string FindingsToJson(const std::vector<Finding>& findings, int indent = -1);

}  // namespace belljar::host

#endif  // BELLJAR_ENGINE_HOST_OUTCOME_H_
