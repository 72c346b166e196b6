#include "engine/outside/own_programs.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/core/wire.h"
#include "engine/egress/run_network.h"
#include "engine/host/base64.h"
#include "engine/host/json_reader.h"

namespace belljar::outside {
namespace {

using nlohmann::json;

// Parts of the limit of a result, in which an answer must fit: each stream, as base64, and what is
// said of an error.
constexpr size_t kPartOfStream = 4;
constexpr size_t kPartOfError = 16;
constexpr std::chrono::milliseconds kLongest{24LL * 60 * 60 * 1000};
constexpr int kExitOfKilled = -9;

// The program has to name both to get at the view (belljar_policy/transformer.py).
bool NamesView(std::string_view text) {
  return text.find("subprocess") != std::string_view::npos &&
         text.find("executable") != std::string_view::npos;
}

bool MayStart(const SandboxOptions& options, const host::Request& request) {
  return !options.single_run && PolicyOf(options) == Policy::kOn &&
         request.mode == host::Request::Mode::kRun &&
         (NamesView(request.source) ||
          std::ranges::any_of(request.files,
                              [](const host::InputFile& file) { return NamesView(file.content); }));
}

std::string Failure(std::string_view type, std::string_view message) {
  return json{{"error", {{"type", type}, {"message", message}}}}.dump(
      -1, ' ', false, json::error_handler_t::replace);
}

std::optional<std::vector<std::string>> Texts(const json& value) {
  if (!value.is_array()) return std::nullopt;
  std::vector<std::string> texts;
  for (const json& each : value) {
    if (!each.is_string()) return std::nullopt;
    texts.push_back(each.get<std::string>());
  }
  return texts;
}

std::optional<std::string> BytesOf(const json& value) {
  const auto base64 = value.is_object() ? value.find("base64") : value.end();
  if (!value.is_object() || base64 == value.end() || !base64->is_string()) return std::nullopt;
  return host::DecodeBase64(base64->get_ref<const std::string&>());
}

struct Asked {
  host::Request request;
  std::optional<std::chrono::milliseconds> seconds;  // its own timeout
};

// Every byte of `arguments` is hostile; nullopt: they are not what the view sends.
std::optional<Asked> ReadCall(const host::Request& first, std::string_view arguments) {
  const host::JsonReading reading = host::ReadJson(arguments, {.depth = core::kMaxCallDepth});
  const auto* const call = std::get_if<json>(&reading);
  if (call == nullptr || !call->is_object()) return std::nullopt;
  const json args = call->value("args", json());
  if (!args.is_array() || args.size() != 6 || !args[0].is_string() || !args[1].is_string()) {
    return std::nullopt;
  }
  std::optional<std::vector<std::string>> given = Texts(args[2]);
  std::optional<std::vector<std::string>> environment =
      args[3].is_null() ? first.environment : Texts(args[3]);
  if (!given || !environment) return std::nullopt;
  Asked asked;
  asked.request.source = args[0].get<std::string>();
  asked.request.filename = args[1].get<std::string>();
  asked.request.arguments = std::move(*given);
  asked.request.environment = std::move(*environment);
  asked.request.allowed_imports = first.allowed_imports;
  asked.request.allowed_domains = first.allowed_domains;
  asked.request.limits = first.limits;
  if (!args[4].is_null()) {
    asked.request.standard_input = BytesOf(args[4]);
    if (!asked.request.standard_input) return std::nullopt;
  }
  if (args[5].is_null()) return asked;
  if (!args[5].is_number()) return std::nullopt;
  const double seconds = args[5].get<double>();
  if (std::isnan(seconds)) return std::nullopt;
  const double longest = std::chrono::duration<double>(kLongest).count();
  asked.seconds =
      std::chrono::milliseconds(static_cast<int64_t>(std::clamp(seconds, 0.001, longest) * 1000));
  return asked;
}

int ExitCodeOf(const host::Outcome& outcome) {
  switch (outcome.status) {
    case host::Status::kOk: return outcome.exit_code.value_or(0);
    case host::Status::kException: return outcome.exit_code.value_or(1);
    case host::Status::kRefused: return 1;
    default: return kExitOfKilled;
  }
}

// What Python writes to stderr about the end of a program.
std::string ErrorText(const host::Outcome& outcome, std::string_view name, size_t max) {
  std::string text;
  if (outcome.status == host::Status::kException && outcome.error) {
    text = outcome.error->traceback;
  } else if (outcome.error && outcome.status != host::Status::kRefused) {
    text = outcome.error->type + ": " + outcome.error->message;
  }
  if (outcome.status == host::Status::kRefused) {
    for (const host::Finding& finding : outcome.findings) {
      if (!text.empty()) text += "\n";
      text += std::string(name) + ":" + std::to_string(finding.line) + ": " + finding.rule + " " +
              finding.reason;
    }
  }
  const uint64_t dropped =
      outcome.stdout_stream.dropped_bytes + outcome.stderr_stream.dropped_bytes;
  if (dropped > 0) {
    if (!text.empty() && !text.ends_with("\n")) text += "\n";
    text += std::to_string(dropped) + " bytes of output were dropped, beyond the limit";
  }
  if (text.size() > max) text.resize(max);
  if (!text.empty() && !text.ends_with("\n")) text += "\n";
  return text;
}

json Bytes(std::string_view bytes) {
  return {{"$type", "bytes"}, {"base64", host::EncodeBase64(bytes)}};
}

class OwnPrograms {
 public:
  // All are borrowed.
  OwnPrograms(const host::Request& request, const run::RunOptions& run, const RunProgram& others)
      : first_(request), run_(run), others_(others), request_(request), options_(run) {
    request_.functions.emplace_back(host::kStartsPython);
    options_.allowance = &allowance_;
    options_.call = [this](std::string_view name, std::string_view arguments) {
      if (name == host::kStartsPython) return Start(arguments);
      return run_.call ? run_.call(name, arguments) : std::string();
    };
    if (run_.interrupted) options_.interrupted = [this] { return Interrupted(); };
  }
  OwnPrograms(const OwnPrograms&) = delete;

  core::Result<host::Outcome> Run(const RunProgram& first) {
    core::Result<host::Outcome> outcome = first(request_, options_);
    if (!outcome) return outcome;
    outcome->network_left_out += network_left_out_;
    for (host::NetworkEvent& event : network_) {
      if (outcome->network.size() < egress::RunNetwork::kMaxEvents) {
        outcome->network.push_back(std::move(event));
      } else {
        ++outcome->network_left_out;
      }
    }
    outcome->security_events.insert(outcome->security_events.end(), events_.begin(), events_.end());
    outcome->usage.max_rss_bytes = std::max(outcome->usage.max_rss_bytes, max_rss_bytes_);
    return outcome;
  }

 private:
  // Asked only once after it was true: its callers' handlers may have forgotten by then.
  bool Interrupted() {
    is_interrupted_ = is_interrupted_ || run_.interrupted();
    return is_interrupted_;
  }

  std::string Start(std::string_view arguments) {
    std::optional<Asked> asked = ReadCall(first_, arguments);
    if (!asked) return Failure("ValueError", "subprocess: the call is not plain text and data");
    if (started_ == kMaxOwnPrograms) {
      return Failure("PermissionError", "[BJ502] subprocess: a run starts at most " +
                                            std::to_string(kMaxOwnPrograms) + " other programs");
    }
    ++started_;
    host::Request& request = asked->request;
    if (core::Result<void> given = host::CheckArguments(request); !given) {
      return Failure("OSError", "subprocess: " + given.error().ToString());
    }
    // The run ends by its own limits.
    if (allowance_.time.count() <= 0 || allowance_.cpu.count() < 1000) return {};
    core::Limits& limits = request.limits;
    const bool has_own_end = asked->seconds && *asked->seconds < allowance_.time;
    limits.timeout = has_own_end ? *asked->seconds : allowance_.time;
    limits.cpu =
        std::min(limits.cpu, std::chrono::duration_cast<std::chrono::milliseconds>(allowance_.cpu));
    limits.output.count = std::min(limits.output.count, limits.result.count / kPartOfStream);
    run::RunOptions options;
    options.cancel_fd = run_.cancel_fd;
    options.interrupt_fd = run_.interrupt_fd;
    options.kill_fd = run_.kill_fd;
    options.interrupted = options_.interrupted;
    options.queue_timeout = limits.timeout;
    const core::Result<host::Outcome> outcome = others_(request, options);
    if (!outcome) return Failure("OSError", "subprocess: no worker is free");
    return AnswerOf(*outcome, request.filename, has_own_end);
  }

  std::string AnswerOf(const host::Outcome& outcome, std::string_view name, bool has_own_end) {
    allowance_.used += outcome.usage.cpu_time;
    max_rss_bytes_ = std::max(max_rss_bytes_, outcome.usage.max_rss_bytes);
    events_.insert(events_.end(), outcome.security_events.begin(), outcome.security_events.end());
    network_.insert(network_.end(), outcome.network.begin(), outcome.network.end());
    network_left_out_ += outcome.network_left_out;
    if (outcome.status == host::Status::kKilled &&
        outcome.kill_cause == host::KillCause::kCancelled) {
      return {};
    }
    const bool is_late = outcome.status == host::Status::kTimeout && has_own_end;
    const size_t max_error = first_.limits.result.count / kPartOfError;
    const std::string error = is_late ? std::string() : ErrorText(outcome, name, max_error);
    return json{{"value",
                 {ExitCodeOf(outcome), is_late, Bytes(outcome.stdout_stream.text),
                  Bytes(outcome.stderr_stream.text + error)}}}
        .dump();
  }

  const host::Request& first_;
  const run::RunOptions& run_;
  const RunProgram& others_;
  host::Request request_;
  run::RunOptions options_;
  run::Allowance allowance_;
  int started_ = 0;
  bool is_interrupted_ = false;
  uint64_t max_rss_bytes_ = 0;
  std::vector<host::SecurityEvent> events_;
  std::vector<host::NetworkEvent> network_;
  uint64_t network_left_out_ = 0;
};

}  // namespace

core::Result<host::Outcome> RunWithOwnPrograms(const SandboxOptions& options,
                                               const host::Request& request,
                                               const run::RunOptions& run, const RunProgram& first,
                                               const RunProgram& others) {
  if (!MayStart(options, request)) return first(request, run);
  return OwnPrograms(request, run, others).Run(first);
}

}  // namespace belljar::outside
