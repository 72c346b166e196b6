// Events: what happens to the executions and sessions of an owner, in one table: a struct for each
// kind, with its name and its fields. The JSON of streams and webhooks, the attributes of traces
// and docs/events.md are generated from it; the log uses the same names.
//
//   Event event{now, "team-a", ExecutionStarted{.execution = id, .tool = "execute_code"}};
//   ToJson(event)   // {"type":"execution.started","timestamp":"2026-…Z","caller":"team-a",
//                   //  "data":{"execution":…}}
#ifndef BELLJAR_SERVER_EVENTS_EVENT_H_
#define BELLJAR_SERVER_EVENTS_EVENT_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/host/fields.h"

namespace belljar::server::events {

struct ExecutionSubmitted {
  static constexpr std::string_view kName = "execution.submitted";
  static constexpr std::string_view kMeaning = "A call that runs code was submitted.";
  std::string execution;
  std::string tool;
  std::string traceparent;
};

struct ExecutionStarted {
  static constexpr std::string_view kName = "execution.started";
  static constexpr std::string_view kMeaning = "It has left the queue and is starting.";
  std::string execution;
  std::string tool;
};

struct ExecutionOutput {
  static constexpr std::string_view kName = "execution.output";
  static constexpr std::string_view kMeaning =
      "It has printed something. Only in streams that request it, without an id, not kept.";
  std::string execution;
  std::string text;
};

struct ExecutionEnded {
  static constexpr std::string_view kName = "execution.ended";
  static constexpr std::string_view kMeaning = "It has run.";
  std::string execution;
  std::string tool;
  std::string profile;
  std::string status;
  std::string error_type;
  std::string session;
  std::optional<uint64_t> cell;
  std::chrono::microseconds wall_time{0};
  std::chrono::microseconds cpu_time{0};
  uint64_t max_rss_bytes = 0;
};

struct ExecutionRefused {
  static constexpr std::string_view kName = "execution.refused";
  static constexpr std::string_view kMeaning = "It was refused and did not run.";
  std::string execution;
  std::string tool;
  std::string reason;
  std::vector<std::string> rules;
  std::string session;
};

struct ExecutionLimit {
  static constexpr std::string_view kName = "execution.limit";
  static constexpr std::string_view kMeaning = "It has reached a limit.";
  std::string execution;
  std::string limit;
  std::string session;
};

struct SessionOpened {
  static constexpr std::string_view kName = "session.opened";
  static constexpr std::string_view kMeaning = "A session was opened or branched.";
  std::string session;
  std::string profile;
  std::string parent;
};

struct SessionClosed {
  static constexpr std::string_view kName = "session.closed";
  static constexpr std::string_view kMeaning = "It was closed, or ended by itself.";
  std::string session;
  std::string profile;
  std::string reason;
};

struct SessionRestored {
  static constexpr std::string_view kName = "session.restored";
  static constexpr std::string_view kMeaning = "It was rolled back to a checkpoint.";
  std::string session;
  std::string profile;
  std::string checkpoint;
  std::string execution;
};

struct SessionEvicted {
  static constexpr std::string_view kName = "session.evicted";
  static constexpr std::string_view kMeaning =
      "The server closed it because of its age or to make room.";
  std::string session;
  std::string profile;
  std::string reason;
};

struct NetworkRefused {
  static constexpr std::string_view kName = "network.refused";
  static constexpr std::string_view kMeaning =
      "The egress proxy refused a connection. Up to 16 per execution, sent when it ends.";
  std::string execution;
  std::string host;
  uint16_t port = 0;
  std::string reason;
};

struct ContainerStarted {
  static constexpr std::string_view kName = "container.started";
  static constexpr std::string_view kMeaning =
      "A container was started for the execution, since none was waiting. Sent when it ends.";
  std::string execution;
  std::string runtime;
  std::chrono::microseconds started_in{0};
};

// Reports about the stream itself.
struct StreamOpened {
  static constexpr std::string_view kName = "stream.opened";
  static constexpr std::string_view kMeaning =
      "The stream has started: it contains what happens from now on.";
  std::string server;
};

struct Gap {
  static constexpr std::string_view kName = "gap";
  static constexpr std::string_view kMeaning = "Events were missed here.";
  std::string cause;
  std::optional<uint64_t> missed;
};

using EventData =
    std::variant<ExecutionSubmitted, ExecutionStarted, ExecutionOutput, ExecutionEnded,
                 ExecutionRefused, ExecutionLimit, SessionOpened, SessionClosed, SessionRestored,
                 SessionEvicted, NetworkRefused, ContainerStarted, StreamOpened, Gap>;

// Prefix of the names of the job store's events.
inline constexpr std::string_view kJobs = "job.";

struct Event {
  std::chrono::system_clock::time_point time;
  std::string owner;  // the name of a token, "caller" in the JSON; empty: of nobody
  EventData data;
};

std::string_view NameOf(const EventData& data);
// The fields of that name; empty if the event has none.
std::string_view ExecutionOf(const EventData& data);
std::string_view SessionOf(const EventData& data);
// Its size in memory.
size_t SizeOf(const Event& event);

// One line of ASCII: no string of a guest can end a line or an event.
std::string ToJson(const Event& event);
// Only the fields.
nlohmann::ordered_json FieldsOf(const EventData& data);

struct EventKind {
  struct Field {
    std::string name;
    std::string meaning;
  };
  std::string name;
  std::string meaning;
  std::vector<Field> fields;
};
// The table, for documentation.
std::vector<EventKind> EventKinds();

// Whether this is the name of an event or a job's event, or a pattern such as "*" or "execution.*".
bool IsEventPattern(std::string_view pattern);
bool Matches(std::string_view pattern, std::string_view name);

}  // namespace belljar::server::events

#endif  // BELLJAR_SERVER_EVENTS_EVENT_H_
