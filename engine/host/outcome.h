// Outcome: what the guest did. Never what our machine failed to do: that is an Error (result.h).
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
  kException,  // an uncaught exception, SyntaxError and a non-zero sys.exit included
  kRefused,    // by the language policy; nothing was run
  kTimeout,    // wall clock
  kCpuLimit,
  kMemoryLimit,
  kKilled,  // anything else that ended the worker: a signal, a hostile system call, os._exit
};
std::string_view StatusName(Status status);

// What a run of status kKilled was ended by. Whoever decides something by it looks here: the words
// of the error are for people.
enum class KillCause {
  kUnknown,     // it was not killed, or nobody here got to see why
  kCancelled,   // by whoever asked for the run
  kSystemCall,  // a hostile one
  kUnreadable,  // what the worker or its container sent
  kExit,        // it ended itself, past Python
  kSigkill,     // not ours: the kernel's for want of memory, or somebody's
  kSignal,      // any other
  kContainerEnded,
};

// One thing that the policy refuses.
struct Finding {
  std::string rule;  // "BJ201"
  std::string name;  // "import-not-allowed"
  int line = 0;      // 1-based; 0: the whole source
  int column = 0;    // 1-based, in characters (code points)
  int end_line = 0;
  int end_column = 0;  // one past the last character
  std::string reason;
  std::string hint;     // what to do instead
  std::string profile;  // the profile that would allow it, or empty
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

// What a validated source looks like, from its syntax tree.
struct Analysis {
  std::vector<std::string> imports;  // dotted names of modules, sorted, each once
  int branches = 0;                  // places where the program takes one way or another
  int nesting = 0;                   // of blocks and functions within each other, at the deepest
};

// A comment that is addressed to Belljar: "# belljar: …".
struct Comment {
  int line = 0;      // 1-based
  std::string text;  // from its "#" on
};

struct Usage {
  std::chrono::microseconds wall_time{0};
  std::chrono::microseconds cpu_time{0};
  uint64_t max_rss_bytes = 0;
};

struct Stream {
  std::string text;  // bytes as the guest wrote them
  uint64_t dropped_bytes = 0;
};

struct SecurityEvent {
  std::string layer;   // "seccomp"
  std::string action;  // "denied" or "killed"
  std::string detail;  // "socket"
  uint64_t count = 1;
};

// One layer of the seal as it was seen on this worker.
struct LayerState {
  std::string name;
  bool held = false;
  std::string detail;

  bool operator==(const LayerState&) const = default;
};

struct Isolation {
  std::string mode;      // "strict", "standard"
  std::string language;  // "restricted", "full"
  std::vector<LayerState> layers;

  bool operator==(const Isolation&) const = default;
};

// Something to look at or to keep beside the result. What the guest made: hostile to whoever shows
// it.
struct Artifact {
  enum class Origin {
    kFile,     // a new or changed file of the workspace
    kDisplay,  // made from a value of the program: a figure, a table
  };
  Origin origin = Origin::kFile;
  std::string name;  // of a file its path below the workspace, else "figure-1.png"; UTF-8
  std::string media_type;
  uint64_t size = 0;                   // bytes of the whole
  std::string sha256;                  // of the whole, in hexadecimal; empty where it was not read
  std::optional<std::string> content;  // the whole; nullopt: not taken along
  // Whether the content is small enough to be shown within the result itself (MarkInline). What is
  // not can be saved, or read by another way, as long as the outcome is there.
  bool is_inline = true;
  std::string note;  // what else there is to say: why there is no content, what the name hides
  std::string uri;   // where a client of the server can read it; empty: nowhere
};

// Whether its content is text to be read as it stands: by its type, and by being UTF-8. Anything
// else is base64 even where it happens to be UTF-8.
bool HoldsText(const Artifact& artifact);

// One connection, or one try at one, through the egress proxy of the network profile.
struct NetworkEvent {
  std::string host;  // as the guest named it
  uint16_t port = 0;
  std::string protocol;  // "connect", "http", "socks5"
  bool allowed = false;
  std::string detail;  // why not; or the address that it came to
  uint64_t sent = 0;   // bytes from the guest
  uint64_t received = 0;
  std::chrono::microseconds started{0};  // after the request
  std::chrono::microseconds lasted{0};
};

// The container that a run was in, where it was in one.
struct ContainerReport {
  std::string engine;        // "Docker Engine", "Podman Engine", "runsc"
  std::string runtime;       // "runsc", "runc"
  std::string image_digest;  // "sha256:…"
  bool warm = false;         // it was waiting; else it was started for this run
  // How long it took to come up, from its creation until a worker waited in it.
  std::chrono::microseconds started_in{0};
  // Of "memory", "processes", "cpu" what the engine cannot limit: the worker's limits are all there
  // is.
  std::vector<std::string> not_limited;
  std::vector<std::string> packages;  // installed for this run: "requests==2.31.0"
};

struct Outcome {
  Status status = Status::kKilled;
  KillCause kill_cause = KillCause::kUnknown;  // of kKilled only
  std::string execution_id;
  std::optional<int> exit_code;            // of sys.exit
  std::optional<std::string> result_json;  // valid JSON text
  std::optional<std::string> result_repr;
  Stream stdout_stream;
  Stream stderr_stream;
  std::vector<std::string> variables;
  std::optional<GuestError> error;
  std::vector<Finding> findings;
  std::optional<Analysis> analysis;    // of a validated source that is Python
  std::vector<Comment> comments;       // of a validated source, when they were asked for
  std::vector<std::string> truncated;  // report parts that were cut: "result", "traceback", …
  Usage usage;
  core::Limits limits;
  Isolation isolation;
  std::vector<SecurityEvent> security_events;
  std::vector<Artifact> artifacts;
  uint64_t artifacts_left_out = 0;  // more than may be taken along, or nothing to take along
  std::string artifacts_note;       // what they were, and why
  std::vector<NetworkEvent> network;
  uint64_t network_left_out = 0;
  std::optional<ContainerReport> container;

  bool success() const { return status == Status::kOk; }
};

// Sets status and error of a run that one of its limits has stopped: no line of the program is to
// blame. `type` is "Timeout", "CpuLimit" or "MemoryLimit".
void SetStopped(Outcome& outcome, Status status, std::string type, std::string message,
                std::string hint);
// The same of one that was killed.
void SetKilled(Outcome& outcome, KillCause cause, std::string message, std::string hint = {});

// Sets is_inline of the artifacts, in their order, as far as outcome.limits lets them: `artifact`
// for each, `artifacts` for all of them.
void MarkInline(Outcome& outcome);

// The object that `belljar run --json` prints and that execute_code returns. UTF-8: bytes of the
// guest's output that are not are replaced by U+FFFD.
std::string OutcomeToJson(const Outcome& outcome, int indent = -1);

// The object "limits" of an outcome, and of a profile in `belljar info --json`.
std::string LimitsToJson(const core::Limits& limits);

// The array that `belljar validate --format json` prints for one file.
std::string FindingsToJson(const std::vector<Finding>& findings, int indent = -1);

}  // namespace belljar::host

#endif  // BELLJAR_ENGINE_HOST_OUTCOME_H_
