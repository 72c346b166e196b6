// ServerConfig: everything that an operator can configure, as a plain value. server/config/load.h
// fills it from the file, the environment and flags; nothing else reads those.
#ifndef BELLJAR_SERVER_CORE_CONFIG_H_
#define BELLJAR_SERVER_CORE_CONFIG_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/core/bytes.h"
#include "engine/host/network_policy.h"
#include "server/core/caller.h"

namespace belljar::server {

// A bearer token and what it grants.
struct TokenConfig {
  std::string secret;  // at least 32 characters; never printed, never logged
  Caller caller;       // its name and its limits

  bool operator==(const TokenConfig&) const = default;
};

struct HttpConfig {
  std::string address = "127.0.0.1";
  uint16_t port = 9015;  // 0: any free port, which is logged
  // In addition to loopback names and addresses and to `address` itself; "*": any.
  std::vector<std::string> allowed_hosts;
  std::vector<std::string> allowed_origins;
  core::Bytes max_body = core::Bytes::Mebi(20);
  core::Bytes max_header = core::Bytes::Kibi(16);
  std::chrono::milliseconds header_timeout{10'000};  // to receive all headers
  std::chrono::milliseconds body_timeout{30'000};    // to receive the whole body
  std::chrono::milliseconds write_timeout{30'000};   // for the client to receive the response
  std::chrono::milliseconds idle_timeout{120'000};   // between requests on one connection
  size_t max_connections = 4096;
  bool rest = true;  // the HTTP API at /v1, besides MCP (docs/http.md)
};

struct ExecutionConfig {
  host::NetworkPolicy network;                    // for profiles with an egress proxy
  std::string profile = "basic";                  // for calls that name none
  std::vector<std::string> profiles = {"basic"};  // that calls may name
  std::vector<std::string> languages = {};        // besides Python, that calls may name
  std::string isolation = "strict";               // or "standard"
  std::string policy = "on";                      // or "off"
  // Defaults for calls; nullopt: the profile's.
  std::optional<std::chrono::milliseconds> timeout;
  std::optional<core::Bytes> memory;
  std::optional<core::Bytes> output;
  std::optional<std::vector<std::string>> allowed_imports;
  size_t combinations = 2;  // profile combinations kept warm; 0: a call may name only one profile
  size_t spares = 4;        // waiting workers per profile
  size_t running = 0;       // concurrent calls; 0: derived from the number of cores
  size_t waiting = 64;
};

struct ContainerConfig {
  bool enabled = false;          // whether calls may request one
  std::string engine = "auto";   // or "docker", "podman", "runsc"
  std::string socket;            // of Docker or Podman; empty: the default path
  std::string runtime = "auto";  // or "runsc", "runc"
  bool require_gvisor = false;
  std::string image;          // for the default profile; empty: this version's image
  size_t spares = 1;          // warm containers per profile in use
  size_t max_containers = 8;  // maximum number of containers per profile
};

// Packages that calls may request for runs in containers.
struct PackagesConfig {
  bool enabled = false;
  std::string index;                       // empty: $PIP_INDEX_URL
  std::string npm_registry;                // empty: $NPM_CONFIG_REGISTRY
  std::vector<std::string> hosts;          // additional hosts that serve their files
  std::vector<std::string> allow_private;  // non-public addresses that these hosts may have
  // Names that calls may request: "requests", "google-*", "*", "npm:left-pad".
  std::vector<std::string> allowed;
  std::chrono::milliseconds timeout{300'000};
  core::Bytes max_size = core::Bytes::Mebi(256);  // maximum installed size of one set
  std::string folder;  // for installed packages; empty: this user's cache
};

// Sessions: Python processes that persist from call to call (docs/mcp.md).
struct SessionsConfig {
  bool enabled = true;
  size_t per_owner = 8;  // open sessions per token, including branches
  size_t total = 100;
  std::chrono::milliseconds idle{30 * 60'000};  // idle time after which it is closed
  // Time after which it is closed, idle or not.
  std::chrono::milliseconds lifetime{12 * 60 * 60'000};
  // Per session; the oldest are dropped first.
  size_t checkpoints = 16;
  // Limit for a session or branch with its checkpoints, as the kernel counts it; nullopt: twice
  // its memory limit.
  std::optional<core::Bytes> memory;
  // Limit for all sessions together; nullopt: half of the machine's memory, or of the cgroup's
  // limit.
  std::optional<core::Bytes> total_memory;
};

// Jobs: executions that are accepted now and run later, possibly by the next server (docs/http.md).
struct JobsConfig {
  std::string store;  // an SQLite file, or postgresql://…; empty: no jobs
  std::chrono::milliseconds retention{24 * 60 * 60'000};  // how long finished jobs are kept
  // Total size of their requests and results.
  core::Bytes retained = core::Bytes::Mebi(1024);
  size_t per_owner = 10'000;  // queued or running, per token
  size_t total = 100'000;
  // Time after which a server that does not respond counts as dead.
  std::chrono::milliseconds lease{30'000};
};

// The form of the tools' answers.
struct AnswersConfig {
  // Limit for each part of an answer whose length the program controls: stdout, stderr, the value,
  // the error (engine/host/answer.h).
  size_t characters = 10'000;
  std::string detail = "lean";  // or "full"; the default level of detail
};

// In place of a profile's name: each program gets what it needs
// (engine/profiles/unnamed_profile.h).
inline constexpr char kAutoProfile[] = "auto";

// APIs of other services (docs/compatible.md), [fronts] in a configuration file: for each, the
// profile that its programs run in, or kAutoProfile; empty: this server does not offer that API.
struct CompatibleApisConfig {
  std::string sandbox_fusion;
  std::string piston;
  std::string judge0;
};

// Streams of the events of executions and sessions, for their owners (docs/events.md).
struct EventsConfig {
  bool enabled = true;
  size_t kept = 1000;  // recent events kept per token, for clients that reconnect
  core::Bytes kept_size = core::Bytes::Mebi(1);
  size_t streams = 16;  // per token
  std::chrono::milliseconds heartbeat{15'000};
};

// An endpoint that receives events.
struct WebhookConfig {
  std::string name;                           // for logs and metrics
  std::string url;                            // http://
  std::string secret;                         // the key itself; never printed, never logged
  std::vector<std::string> events;            // patterns; empty: all
  std::vector<std::string> tokens;            // the token whose events are sent; empty: all
  std::vector<std::string> allow_private;     // addresses besides loopback
  unsigned attempts = 8;                      // per event
  std::chrono::milliseconds timeout{10'000};  // per attempt
};

// Spans of executions, for an OpenTelemetry collector.
struct TracingConfig {
  std::string endpoint;  // "http://127.0.0.1:4318"; empty: none
  std::string service = "belljar";
  std::vector<std::string> allow_private;  // addresses besides loopback
};

struct LogConfig {
  std::string level = "info";   // "debug", "info", "warning", "error", "off"
  std::string format = "auto";  // or "json", "text"; auto: text over HTTP at a terminal, else JSON
  bool code = false;            // whether entries may contain the executed code
};

// The audit log (docs/audit.md).
struct AuditConfig {
  bool enabled = false;
  std::string folder;  // empty: this user's state folder
  std::string
      key_file;         // the private key; empty: key.pem in the folder, created at the first start
  bool code = false;    // whether entries may contain the executed code
  bool output = false;  // whether entries may contain the program's output
  // A segment is signed and closed when it reaches this size or this age, and when the server
  // stops.
  core::Bytes segment_size = core::Bytes::Mebi(64);
  std::chrono::milliseconds segment_age{24 * 60 * 60'000};
  size_t keep_days = 0;                 // age at which segments are removed; 0: never
  std::optional<core::Bytes> max_size;  // of all segments; beyond it the oldest are removed
  std::string sync = "interval";        // or "always": before a call is answered
  std::chrono::milliseconds sync_interval{1000};
  std::string on_failure = "refuse";  // calls while the log cannot be written; or "continue"
};

struct ServerConfig {
  std::optional<HttpConfig> http;  // nullopt: stdio
  std::vector<TokenConfig> tokens;
  ExecutionConfig execution;
  ContainerConfig container;
  PackagesConfig packages;
  SessionsConfig sessions;
  JobsConfig jobs;
  AnswersConfig answers;
  EventsConfig events;
  std::vector<WebhookConfig> webhooks;
  TracingConfig tracing;
  LogConfig log;
  AuditConfig audit;
  std::chrono::milliseconds drain_timeout{30'000};  // for running calls, after SIGTERM
  CompatibleApisConfig compatible_apis;
};

}  // namespace belljar::server

#endif  // BELLJAR_SERVER_CORE_CONFIG_H_
