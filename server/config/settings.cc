#include "server/config/settings.h"

#include <cctype>

#include "engine/core/limits.h"
#include "server/config/values.h"

namespace belljar::server::config {
namespace {

constexpr uint64_t kKibi = 1 << 10;
constexpr uint64_t kMebi = 1 << 20;
constexpr uint64_t kGibi = 1 << 30;
constexpr uint64_t kSecond = 1000;
constexpr uint64_t kHour = 3600 * kSecond;
constexpr uint64_t kDay = 24 * kHour;

#define BELLJAR_FIELD(member) [](Draft& draft) -> Field { return &draft.member; }

// clang-format off: keeps the rows aligned.
// In the order of the example file: the most common settings first.
std::vector<Setting> MakeSettings() {
  return {
      {"http.listen", "", "--http", "ADDRESS:PORT", "off", "\"127.0.0.1:9015\"",
       "address for Streamable HTTP instead of stdio; off: stdio; port 0: any free port",
       BELLJAR_FIELD(listen)},
      {"http.token_file", "", "--token-file", "FILE", "none", "\"/etc/belljar/token\"",
       "file (mode 600) with the bearer token that clients must send; its name is \"default\"",
       BELLJAR_FIELD(token_file), 0, 0, PathViolation},
      {"http.allowed_hosts", "", "--allow-host", "HOST", "", "",
       "Host headers to accept besides loopback and the address itself; *: any",
       BELLJAR_FIELD(http.allowed_hosts), 0, 0, HostViolation},
      {"http.allowed_origins", "", "--allow-origin", "ORIGIN", "", "",
       "origins of web pages that may call the server, such as https://app.example.com; *: any",
       BELLJAR_FIELD(http.allowed_origins), 0, 0, OriginViolation},
      {"http.max_body", "", "", "SIZE", "", "", "maximum size of a request body",
       BELLJAR_FIELD(http.max_body), kKibi, kGibi},
      {"http.max_header", "", "", "SIZE", "", "", "maximum size of a request's headers",
       BELLJAR_FIELD(http.max_header), kKibi, kMebi},
      {"http.header_timeout", "", "", "TIME", "", "", "timeout for receiving a request's headers",
       BELLJAR_FIELD(http.header_timeout), 100, kHour},
      {"http.body_timeout", "", "", "TIME", "", "", "timeout for receiving a request's body",
       BELLJAR_FIELD(http.body_timeout), 100, kHour},
      {"http.write_timeout", "", "", "TIME", "", "", "response write timeout",
       BELLJAR_FIELD(http.write_timeout), 100, kHour},
      {"http.idle_timeout", "", "", "TIME", "", "", "idle timeout of a connection between requests",
       BELLJAR_FIELD(http.idle_timeout), 100, kDay},
      {"http.max_connections", "", "--max-connections", "N", "", "",
       "maximum number of connections", BELLJAR_FIELD(http.max_connections), 1, 1'000'000},
      {"http.rest", "", "", "", "", "", "false: only MCP, no HTTP API at /v1",
       BELLJAR_FIELD(http.rest)},

      {"execution.profile", "", "--profile", "PROFILE", "", "",
       "default profile of calls: a name, or a profile file such as ./own.toml",
       BELLJAR_FIELD(config.execution.profile), 0, 0, PathViolation},
      {"execution.profiles", "", "--profiles", "PROFILE", "only execution.profile", "[\"basic\"]",
       "profiles that calls may use", BELLJAR_FIELD(profiles), 0, 0, PathViolation},
      {"execution.languages", "SANDBOX_ENABLE_LANGUAGES", "--languages", "NAME", "", "[\"bash\"]",
       "languages besides Python that calls may use, held by the kernel layers alone: names "
       "(belljar languages), or paths of your own language files or of folders of them",
       BELLJAR_FIELD(config.execution.languages), 0, 0, PathViolation},
      {"execution.enable_network", "SANDBOX_ENABLE_NETWORK", "", "", "per execution.profiles",
       "true", "true: add profile network; false: remove it", BELLJAR_FIELD(enable_network)},
      {"execution.enable_filesystem", "SANDBOX_ENABLE_FILESYSTEM", "", "", "per execution.profiles",
       "true", "true: add profile filesystem; false: remove it", BELLJAR_FIELD(enable_filesystem)},
      {"execution.enable_data_science", "SANDBOX_ENABLE_DATA_SCIENCE", "", "",
       "per execution.profiles", "true", "true: add profile data-science; false: remove it",
       BELLJAR_FIELD(enable_data_science)},
      {"execution.enable_full", "SANDBOX_ENABLE_FULL", "", "", "per execution.profiles", "true",
       "true: add profile full, which has no language policy; false: remove it",
       BELLJAR_FIELD(enable_full)},
      {"execution.isolation", "", "--isolation", "strict|standard", "", "",
       "strict: require every layer; standard: run without namespaces and Landlock where "
       "they are unavailable, and report it in results",
       BELLJAR_FIELD(config.execution.isolation)},
      {"execution.policy", "", "--policy", "on|off", "", "",
       "language policy; off: disabled, the kernel layers alone contain the program",
       BELLJAR_FIELD(config.execution.policy)},
      {"execution.timeout", "SANDBOX_TIMEOUT", "--timeout", "TIME", "the profile's", "\"30s\"",
       "default wall-clock limit of a call: 30, 1.5, 500ms or 2m",
       BELLJAR_FIELD(config.execution.timeout), 1, kDay},
      {"execution.memory", "SANDBOX_DEFAULT_MEMORY_LIMIT", "--memory", "SIZE", "the profile's",
       "\"128m\"", "default memory limit of a call: 64m, 1g",
       BELLJAR_FIELD(config.execution.memory), 1, kGibi << 10},
      {"execution.max_output", "SANDBOX_MAX_OUTPUT_SIZE", "--max-output", "SIZE", "the profile's",
       "\"1m\"", "limit for stdout and for stderr, each; further output is discarded and counted",
       BELLJAR_FIELD(config.execution.output), 1, kGibi},
      {"execution.allowed_imports", "SANDBOX_ALLOWED_IMPORTS", "--allow-import", "MODULE",
       "all of the profile's", "[\"math\", \"json\"]",
       "restrict imports to these modules of the profiles",
       BELLJAR_FIELD(config.execution.allowed_imports)},
      {"execution.combinations", "", "--combinations", "N", "", "",
       "number of profile combinations (\"data-science+filesystem\") kept warm; the least recently "
       "used is evicted; 0: a call may name one profile only",
       BELLJAR_FIELD(config.execution.combinations), 0, 64},
      {"execution.spares", "", "--spares", "N", "", "",
       "number of spare workers (sealed and waiting) per profile",
       BELLJAR_FIELD(config.execution.spares), 1, 256},
      {"execution.concurrency", "", "--concurrency", "N", "", "",
       "maximum number of concurrent calls; 0: derived from the number of cores",
       BELLJAR_FIELD(config.execution.running), 0, 1024},
      {"execution.queue", "", "--queue", "N", "", "",
       "maximum number of queued calls; further calls are told to retry later",
       BELLJAR_FIELD(config.execution.waiting), 0, 100'000},

      {"network.allowed_domains", "", "--allow-domain", "DOMAIN", "", "",
       "hosts that profiles with network access may reach: example.org, *.example.org, "
       "example.org:8443; a call can only restrict this list",
       BELLJAR_FIELD(config.execution.network.allowed_domains), 0, 0, DomainViolation},
      {"network.allow_private", "", "--allow-private", "NETWORK", "", "",
       "non-public addresses that may be reached: 10.1.0.0/16, 127.0.0.1",
       BELLJAR_FIELD(config.execution.network.allow_private), 0, 0, PrivateViolation},
      {"network.resolve", "", "", "NAME=ADDRESS", "", "",
       "fixed addresses for names, instead of DNS lookups",
       BELLJAR_FIELD(config.execution.network.resolve), 0, 0, ResolveViolation},
      {"network.connections", "", "", "N", "", "",
       "maximum number of connections of one run in total",
       BELLJAR_FIELD(config.execution.network.bounds.connections), 1, 100'000},
      {"network.concurrent", "", "", "N", "", "",
       "maximum number of concurrent connections of one run",
       BELLJAR_FIELD(config.execution.network.bounds.concurrent), 1, 1024},
      {"network.max_sent", "", "", "SIZE", "", "", "maximum number of bytes that one run may send",
       BELLJAR_FIELD(config.execution.network.bounds.sent), 0, kGibi << 10},
      {"network.max_received", "", "", "SIZE", "", "",
       "maximum number of bytes that one run may receive",
       BELLJAR_FIELD(config.execution.network.bounds.received), 0, kGibi << 10},
      {"network.connect_timeout", "", "", "TIME", "", "",
       "timeout for resolving a host and connecting to it",
       BELLJAR_FIELD(config.execution.network.bounds.connect_timeout), 100, kHour},
      {"network.idle_timeout", "", "", "TIME", "", "", "idle timeout of a connection",
       BELLJAR_FIELD(config.execution.network.bounds.idle_timeout), 100, kHour},

      {"container.enabled", "SANDBOX_ENABLE_CONTAINER_MODE", "", "", "", "",
       "allow calls to request a container (use_container)",
       BELLJAR_FIELD(config.container.enabled)},
      {"container.engine", "", "", "auto|docker|podman|runsc", "", "",
       "container engine (runsc needs no daemon); auto: the first one available",
       BELLJAR_FIELD(config.container.engine)},
      {"container.socket", "", "", "FILE", "the engine's standard path", "\"/run/docker.sock\"",
       "socket of Docker or Podman", BELLJAR_FIELD(config.container.socket), 0, 0, PathViolation},
      {"container.runtime", "", "", "auto|runsc|runc", "", "",
       "container runtime; runsc: gVisor, a separate kernel; auto: runsc if available",
       BELLJAR_FIELD(config.container.runtime)},
      {"container.require_gvisor", "", "", "", "", "", "refuse to run without gVisor",
       BELLJAR_FIELD(config.container.require_gvisor)},
      {"container.spares", "", "", "N", "", "",
       "number of warm containers per profile; 0: each call starts its own",
       BELLJAR_FIELD(config.container.spares), 0, 64},
      {"container.most", "", "", "N", "", "", "maximum number of containers per profile",
       BELLJAR_FIELD(config.container.max_containers), 1, 256},
      {"container.image", "SANDBOX_CONTAINER_IMAGE", "", "IMAGE", "this version's image",
       "\"belljar:1\"",
       "image for the default profile; other profiles use images from \"belljar image build\"",
       BELLJAR_FIELD(config.container.image), 0, 0, ImageViolation},

      {"packages.enabled", "", "", "", "", "true",
       "allow commands, and calls with a container, to request packages from an index",
       BELLJAR_FIELD(config.packages.enabled)},
      {"packages.index", "", "", "URL", "PIP_INDEX_URL", "\"https://index.example.org/simple\"",
       "package index URL, as for pip; put credentials into PIP_INDEX_URL",
       BELLJAR_FIELD(config.packages.index), 0, 0, IndexViolation},
      {"packages.npm_registry", "", "", "URL", "NPM_CONFIG_REGISTRY",
       "\"https://registry.example.org\"",
       "registry URL of npm's packages; put credentials into NPM_CONFIG_REGISTRY",
       BELLJAR_FIELD(config.packages.npm_registry), 0, 0, IndexViolation},
      {"packages.hosts", "", "", "HOST", "", "", "additional hosts that serve their files",
       BELLJAR_FIELD(config.packages.hosts), 0, 0, DomainViolation},
      {"packages.allow_private", "", "", "NETWORK", "", "",
       "non-public addresses that the index may have: 10.1.0.0/16",
       BELLJAR_FIELD(config.packages.allow_private), 0, 0, PrivateViolation},
      {"packages.allowed", "", "", "PACKAGE", "", "",
       "packages that calls may request: requests, google-*, or * for all, npm:left-pad, npm:*; "
       "dependencies are included",
       BELLJAR_FIELD(config.packages.allowed), 0, 0, PackageViolation},
      {"packages.timeout", "", "", "TIME", "", "", "timeout for installing one set",
       BELLJAR_FIELD(config.packages.timeout), 1000, kHour / 2},
      {"packages.max_size", "", "", "SIZE", "", "", "maximum installed size of one set",
       BELLJAR_FIELD(config.packages.max_size), 64 * kKibi, 512 * kMebi},
      {"packages.folder", "", "", "FILE", "this user's cache", "\"/var/cache/belljar/packages\"",
       "cache folder for installed packages", BELLJAR_FIELD(config.packages.folder), 0, 0,
       PathViolation},

      {"sessions.enabled", "", "", "", "", "",
       "offer sessions, which keep names, imports and files from call to call",
       BELLJAR_FIELD(config.sessions.enabled)},
      {"sessions.per_token", "", "", "N", "", "",
       "maximum number of open sessions per token, or of the stdio client",
       BELLJAR_FIELD(config.sessions.per_owner), 1, 10'000},
      {"sessions.most", "", "", "N", "", "",
       "maximum number of open sessions; beyond it, the longest idle one of a token that has more "
       "than the caller is closed",
       BELLJAR_FIELD(config.sessions.total), 1, 10'000},
      {"sessions.idle", "", "", "TIME", "", "", "close a session after this time without a call",
       BELLJAR_FIELD(config.sessions.idle), kSecond, kDay},
      {"sessions.lifetime", "", "", "TIME", "", "",
       "close a session after this time, once no call uses it",
       BELLJAR_FIELD(config.sessions.lifetime), kSecond, kDay},
      {"sessions.checkpoints", "", "", "N", "", "",
       "number of checkpoints that a session keeps; the oldest is dropped first",
       BELLJAR_FIELD(config.sessions.checkpoints), 1, 256},
      {"sessions.memory", "", "", "SIZE", "twice its memory limit", "\"1g\"",
       "maximum memory of a session or branch with its checkpoints, as the kernel counts it; "
       "beyond it checkpoints are dropped",
       BELLJAR_FIELD(config.sessions.memory), 1, kGibi << 10},
      {"sessions.total_memory", "", "", "SIZE", "half of this machine's", "\"8g\"",
       "maximum memory of all sessions; beyond it, opening or branching one closes idle sessions "
       "of the largest owner, or is refused",
       BELLJAR_FIELD(config.sessions.total_memory), 1, kGibi << 10},

      {"jobs.store", "", "--jobs", "FILE", "none: there are no jobs",
       "\"/var/lib/belljar/jobs.db\"",
       "where jobs are kept: a local file (SQLite), or a postgresql:// URL; put the password in "
       "the environment or ~/.pgpass",
       BELLJAR_FIELD(config.jobs.store), 0, 0, JobStoreViolation},
      {"jobs.per_token", "", "", "N", "", "", "maximum number of queued and running jobs per token",
       BELLJAR_FIELD(config.jobs.per_owner), 1, 100'000'000},
      {"jobs.most", "", "", "N", "", "", "maximum number of queued and running jobs",
       BELLJAR_FIELD(config.jobs.total), 1, 100'000'000},
      {"jobs.retention", "", "", "TIME", "", "",
       "how long finished jobs and their results are kept", BELLJAR_FIELD(config.jobs.retention),
       1000, 365 * kDay},
      {"jobs.retained", "", "", "SIZE", "", "",
       "maximum size of finished jobs; beyond it the oldest of the largest owner are removed",
       BELLJAR_FIELD(config.jobs.retained), 1, kGibi << 10},
      {"jobs.lease", "", "", "TIME", "", "",
       "treat a server as dead if its lease is not renewed for this time",
       BELLJAR_FIELD(config.jobs.lease), 5000, kHour},

      {"answers.characters", "", "--answer-characters", "N", "", "",
       "maximum length of stdout, stderr, the value and the error in an answer, each; longer ones "
       "are cut in the middle and can be read as a resource",
       BELLJAR_FIELD(config.answers.characters), 200, 1'000'000},
      {"answers.detail", "", "--answer-detail", "lean|full", "", "",
       "default level of detail of answers; full: the complete object",
       BELLJAR_FIELD(config.answers.detail)},

      {"fronts.sandbox_fusion", "", "", "PROFILE", "off", "\"auto\"",
       "answer the API of SandboxFusion (/run_code, /run_jupyter); its programs run in this "
       "profile; auto: each in the one that it needs",
       BELLJAR_FIELD(config.compatible_apis.sandbox_fusion), 0, 0, PathViolation},
      {"fronts.piston", "", "", "PROFILE", "off", "\"auto\"",
       "answer the API of Piston (/api/v2/execute); its programs run in this profile; auto: each "
       "in the one that it needs",
       BELLJAR_FIELD(config.compatible_apis.piston), 0, 0, PathViolation},
      {"fronts.judge0", "", "", "PROFILE", "off", "\"auto\"",
       "answer the API of Judge0 (/submissions); its programs run in this profile; auto: each in "
       "the one that it needs",
       BELLJAR_FIELD(config.compatible_apis.judge0), 0, 0, PathViolation},

      {"events.enabled", "", "", "", "", "",
       "serve the events of a token's executions and sessions at /v1/events",
       BELLJAR_FIELD(config.events.enabled)},
      {"events.kept", "", "", "N", "", "",
       "number of recent events kept per token for clients that reconnect",
       BELLJAR_FIELD(config.events.kept), 1, 1'000'000},
      {"events.kept_size", "", "", "SIZE", "", "",
       "maximum memory for a token's kept events, and as much for output that streams request",
       BELLJAR_FIELD(config.events.kept_size), 64 * kKibi, kGibi},
      {"events.streams", "", "", "N", "", "", "maximum number of streams per token",
       BELLJAR_FIELD(config.events.streams), 1, 10'000},
      {"events.heartbeat", "", "", "TIME", "", "",
       "interval of keep-alive comments on an idle stream", BELLJAR_FIELD(config.events.heartbeat),
       100, kHour},

      {"tracing.endpoint", "OTEL_EXPORTER_OTLP_ENDPOINT", "", "URL", "off",
       "\"http://127.0.0.1:4318\"",
       "OpenTelemetry collector (OTLP over HTTP) that receives a span per execution; https://, or "
       "http:// on this machine or in tracing.allow_private",
       BELLJAR_FIELD(config.tracing.endpoint)},
      {"tracing.service", "OTEL_SERVICE_NAME", "", "NAME", "", "", "service.name of the spans",
       BELLJAR_FIELD(config.tracing.service)},
      {"tracing.allow_private", "", "", "NETWORK", "", "",
       "other addresses than this machine's to which spans may be sent over plain HTTP: "
       "10.1.0.0/16",
       BELLJAR_FIELD(config.tracing.allow_private), 0, 0, PrivateViolation},

      {"log.level", "", "--log-level", "debug|info|warning|error|off", "", "",
       "log level; the log goes to standard error", BELLJAR_FIELD(config.log.level)},
      {"log.format", "", "--log-format", "auto|json|text", "", "",
       "one JSON object per line, or text for people; auto: text over HTTP at a terminal, else "
       "JSON",
       BELLJAR_FIELD(config.log.format)},
      {"log.code", "", "--log-code", "", "", "", "include the executed code in log entries",
       BELLJAR_FIELD(config.log.code)},

      {"audit.enabled", "", "--audit", "", "", "",
       "keep a tamper-evident log of every execution and refusal",
       BELLJAR_FIELD(config.audit.enabled)},
      {"audit.folder", "", "--audit-folder", "DIR", "this user's state folder",
       "\"/var/lib/belljar/audit\"", "folder of the log, used by this server alone",
       BELLJAR_FIELD(config.audit.folder), 0, 0, PathViolation},
      {"audit.key_file", "", "", "FILE", "key.pem in the folder, created at the first start",
       "\"/etc/belljar/audit-key.pem\"",
       "Ed25519 key (mode 600) that signs the log, as created by openssl genpkey",
       BELLJAR_FIELD(config.audit.key_file), 0, 0, PathViolation},
      {"audit.code", "", "", "", "", "", "include the executed code (first 64k)",
       BELLJAR_FIELD(config.audit.code)},
      {"audit.output", "", "", "", "", "", "include the output (first 64k of each stream)",
       BELLJAR_FIELD(config.audit.output)},
      {"audit.segment_size", "", "", "SIZE", "", "",
       "maximum size of a log file; it is then signed and a new one is started",
       BELLJAR_FIELD(config.audit.segment_size), 4 * kKibi, kGibi},
      {"audit.segment_age", "", "", "TIME", "", "", "maximum age of a log file",
       BELLJAR_FIELD(config.audit.segment_age), kSecond, kDay},
      {"audit.keep_days", "", "", "N", "", "",
       "delete log files older than this many days (logged); 0: never",
       BELLJAR_FIELD(config.audit.keep_days), 0, 36'500},
      {"audit.max_size", "", "", "SIZE", "no limit", "\"10g\"",
       "maximum size of all log files; beyond it the oldest are deleted",
       BELLJAR_FIELD(config.audit.max_size), kMebi, kGibi << 10},
      {"audit.sync", "", "", "interval|always", "", "",
       "when entries are flushed to disk; always: before the call is answered",
       BELLJAR_FIELD(config.audit.sync)},
      {"audit.sync_interval", "", "", "TIME", "", "",
       "flush interval with audit.sync = \"interval\": how much a power failure can lose",
       BELLJAR_FIELD(config.audit.sync_interval), 10, kHour},
      {"audit.on_failure", "", "", "refuse|continue", "", "",
       "while the log cannot be written: refuse calls, or run them and lose entries",
       BELLJAR_FIELD(config.audit.on_failure)},

      {"server.drain_timeout", "", "--drain-timeout", "TIME", "", "",
       "grace period for running calls after SIGTERM", BELLJAR_FIELD(config.drain_timeout), 1,
       kDay},
  };
}
// clang-format on

#undef BELLJAR_FIELD

std::string VariableOf(std::string_view key) {
  std::string name = "BELLJAR_";
  for (const char c : key) {
    name += c == '.' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  return name;
}

}  // namespace

const std::vector<Setting>& Settings() {
  static const std::vector<Setting> settings = MakeSettings();
  return settings;
}

const std::vector<FormerName>& FormerNames() {
  static const std::vector<FormerName> names = {{"execution.language",
                                                 "--language",
                                                 "execution.policy",
                                                 {{"restricted", "on"}, {"full", "off"}}}};
  return names;
}

const FormerName* FindFormerName(std::string_view key) {
  for (const FormerName& former : FormerNames()) {
    if (former.key == key) return &former;
  }
  return nullptr;
}

const Setting* FindSetting(std::string_view key) {
  for (const Setting& setting : Settings()) {
    if (setting.key == key) return &setting;
  }
  return nullptr;
}

std::string Setting::Variable() const { return VariableOf(key); }
std::string FormerName::Variable() const { return VariableOf(key); }

std::vector<std::string> Setting::choices() const {
  if (value_type.find('|') == std::string::npos) return {};
  std::vector<std::string> words;
  size_t start = 0;
  for (size_t end = 0; end != std::string::npos; start = end + 1) {
    end = value_type.find('|', start);
    words.push_back(value_type.substr(start, end - start));
  }
  return words;
}

}  // namespace belljar::server::config
