#include "server/live_limits.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "engine/core/text.h"
#include "engine/host/suggest.h"
#include "server/config/settings.h"

namespace belljar::server {
namespace {

using Json = nlohmann::json;

struct LiveLimit {
  const char* name;     // in JSON
  const char* setting;  // its range and form apply
};
constexpr LiveLimit kOfServer[] = {{"running", "execution.concurrency"},
                                   {"waiting", "execution.queue"}};
constexpr LiveLimit kOfSessions[] = {{"per_token", "sessions.per_token"},
                                     {"total", "sessions.most"},
                                     {"idle", "sessions.idle"},
                                     {"lifetime", "sessions.lifetime"}};

core::Error Wrong(std::string sentence) {
  return core::MakeError("change the limits", std::move(sentence));
}

core::Error Unknown(const std::string& name, const std::vector<std::string>& names) {
  return Wrong("there is no limit " + core::Quoted(name) + " that can be changed; the limits are " +
               core::Joined(names) + host::Suggestion(name, names));
}

// Applies one value to `draft` as if it were in the configuration.
core::Result<void> ApplyOne(const LiveLimit& limit, const std::string& path, const Json& value,
                            config::Draft& draft) {
  if (!value.is_number()) return Wrong(path + " must be a number");
  const core::Result<void> applied =
      config::Apply({config::FindSetting(limit.setting), {value.dump()}, {}}, draft);
  if (!applied) return Wrong(path + ": " + applied.error().detail);
  return {};
}

core::Result<void> ApplyAll(const Json& patch, config::Draft& draft) {
  if (!patch.is_object()) return Wrong("the body must be a JSON object");
  for (const auto& [name, value] : patch.items()) {
    const auto limit =
        std::find_if(std::begin(kOfServer), std::end(kOfServer),
                     [&name = name](const LiveLimit& each) { return each.name == name; });
    if (limit != std::end(kOfServer)) {
      if (core::Result<void> applied = ApplyOne(*limit, name, value, draft); !applied) {
        return applied;
      }
      continue;
    }
    if (name != "sessions") return Unknown(name, {"running", "waiting", "sessions"});
    if (!value.is_object()) return Wrong("sessions must be an object");
    for (const auto& [part, number] : value.items()) {
      const auto of_sessions =
          std::find_if(std::begin(kOfSessions), std::end(kOfSessions),
                       [&part = part](const LiveLimit& each) { return each.name == part; });
      if (of_sessions == std::end(kOfSessions)) {
        return Unknown("sessions." + part, {"sessions.per_token", "sessions.total", "sessions.idle",
                                            "sessions.lifetime"});
      }
      core::Result<void> applied = ApplyOne(*of_sessions, "sessions." + part, number, draft);
      if (!applied) return applied;
    }
  }
  return {};
}

}  // namespace

LiveLimits::LiveLimits(const ServerConfig& config, CallQueue& queue, SessionRegistry& sessions)
    : config_(config), queue_(queue), sessions_(sessions) {}

// The configuration with the current limits.
ServerConfig LiveLimits::Current() const {
  ServerConfig config = config_;
  const CallQueue::Options queue = queue_.options();
  config.execution.running = queue.running;
  config.execution.waiting = queue.waiting;
  const SessionRegistry::Limits sessions = sessions_.limits();
  config.sessions.per_owner = sessions.per_owner;
  config.sessions.total = sessions.total;
  config.sessions.idle = sessions.idle;
  config.sessions.lifetime = sessions.lifetime;
  return config;
}

nlohmann::ordered_json LiveLimits::Get() const {
  const CallQueue::Options queue = queue_.options();
  const SessionRegistry::Limits sessions = sessions_.limits();
  const auto seconds = [](std::chrono::milliseconds time) {
    return static_cast<double>(time.count()) / 1000;
  };
  return {{"running", queue.running},
          {"waiting", queue.waiting},
          {"sessions",
           {{"per_token", sessions.per_owner},
            {"total", sessions.total},
            {"idle", seconds(sessions.idle)},
            {"lifetime", seconds(sessions.lifetime)}}}};
}

core::Result<std::vector<LiveLimits::Change>> LiveLimits::Set(const nlohmann::json& patch) {
  const std::lock_guard lock(changing_);
  config::Draft before, after;
  before.config = after.config = Current();
  if (core::Result<void> applied = ApplyAll(patch, after); !applied) return applied.error();
  const ExecutionConfig& execution = after.config.execution;
  const size_t max = queue_.threads();
  if (execution.running == 0 || execution.running > max) {
    return Wrong("running must be from 1 to " + std::to_string(max) + ", the value at the start");
  }
  const SessionsConfig& sessions = after.config.sessions;
  queue_.SetOptions({execution.running, execution.waiting});
  sessions_.SetLimits({sessions.per_owner, sessions.total, sessions.idle, sessions.lifetime});
  std::vector<Change> changes;
  const auto add = [&](const LiveLimit& limit) {
    const config::Setting& setting = *config::FindSetting(limit.setting);
    std::string now = config::ShowField(setting, after);
    if (now != config::ShowField(setting, before)) {
      changes.push_back({limit.setting, std::move(now)});
    }
  };
  std::for_each(std::begin(kOfServer), std::end(kOfServer), add);
  std::for_each(std::begin(kOfSessions), std::end(kOfSessions), add);
  return changes;
}

}  // namespace belljar::server
