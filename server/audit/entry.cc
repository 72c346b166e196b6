#include "server/audit/entry.h"

#include <time.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>

#include "engine/host/digest.h"
#include "engine/host/known_names.h"
#include "server/audit/entry_fields.h"

namespace belljar::server::audit {
namespace {

constexpr size_t kMaxReason = 2048;  // bytes

// Most runs have no errors, and many have no output.
const std::string& DigestOfNothing() {
  static const std::string digest = host::Sha256("");
  return digest;
}

bool IsPlain(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; });
}

// As std::to_chars writes them, but without its tables, which are 55 kB of a wheel.
void AppendNumber(std::string& to, double number) { to += nlohmann::json(number).dump(); }

void AppendNumber(std::string& to, std::integral auto number) {
  std::array<char, 64> text;
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), number);
  to.append(text.data(), error == std::errc() ? end : text.data());
}

// Numbers are omitted only where the table says that 0 means none.
template <typename T>
bool IsLeftOut(const T& value, bool is_omittable) {
  if constexpr (host::ListField<T>) {
    return value.empty();
  } else if constexpr (host::NumberField<T>) {
    return is_omittable && value == 0;
  } else {
    return host::IsUnset(value);
  }
}

template <typename T>
void AppendMembers(std::string& to, const T& object);

template <typename T>
void AppendValue(std::string& to, const T& value) {
  if constexpr (host::OptionalField<T>) {
    AppendValue(to, *value);
  } else if constexpr (host::ListField<T>) {
    to += '[';
    for (const auto& item : value) {
      if (&item != &value.front()) to += ',';
      AppendValue(to, item);
    }
    to += ']';
  } else if constexpr (host::RecordField<T>) {
    to += '{';
    AppendMembers(to, value);
    to += '}';
  } else if constexpr (host::DurationField<T>) {
    AppendNumber(to, host::Seconds(value));
  } else if constexpr (std::same_as<T, core::Bytes>) {
    AppendNumber(to, value.count);
  } else if constexpr (std::same_as<T, bool>) {
    to += value ? "true" : "false";
  } else if constexpr (host::TextField<T>) {
    AppendText(to, value);
  } else {
    AppendNumber(to, value);
  }
}

template <typename T>
void AppendMembers(std::string& to, const T& object) {
  bool is_first = to.back() == '{' || to.back() == ',';
  host::ForEachField<T>([&](auto row) {
    if constexpr (row.Is(kInJson)) {
      const auto& value = row.Of(object);
      if (IsLeftOut(value, row.Is(host::kNullable | host::kOmittable))) return;
      if (!is_first) to += ',';
      is_first = false;
      to += '"';
      to += row.name;
      to += "\":";
      AppendValue(to, value);
    }
  });
}

std::string Opened(Kind kind) {
  std::string members;
  members.reserve(2048);
  members += "\"time\":\"" + TimeNow() + "\",\"kind\":\"";
  members += NameOf(kind);
  members += "\",";
  return members;
}

template <typename T>
std::string Completed(Kind kind, const T& object) {
  std::string members = Opened(kind);
  AppendMembers(members, object);
  if (members.back() == ',') members.pop_back();
  return members;
}

std::optional<Digest> DigestOfList(const std::vector<std::string>& texts) {
  if (texts.empty()) return std::nullopt;
  std::string whole;
  for (const std::string& text : texts) whole += text + '\0';
  return DigestOf(whole);
}

std::optional<Digest> DigestOfInputs(const std::vector<host::InputVariable>& inputs) {
  if (inputs.empty()) return std::nullopt;
  std::string whole;
  for (const host::InputVariable& input : inputs) whole += input.name + '=' + input.json + '\0';
  return DigestOf(whole);
}

// Keeps the first ones and counts the others.
template <typename T>
std::vector<T> Listed(const std::vector<T>& all, uint64_t& left_out) {
  if (all.size() <= kMaxListed) return all;
  left_out += all.size() - kMaxListed;
  return {all.begin(), all.begin() + kMaxListed};
}

void DescribeRequest(const host::Request& request, AuditedExecution& execution) {
  execution.code = DigestOf(request.source);
  if (request.standard_input) execution.standard_input = DigestOf(*request.standard_input);
  execution.arguments = DigestOfList(request.arguments);
  execution.environment = DigestOfList(request.environment);
  execution.inputs = DigestOfInputs(request.inputs);
  for (const host::InputFile& file : request.files) {
    if (execution.files.size() == kMaxListed) {
      ++execution.left_out;
      continue;
    }
    execution.files.push_back({file.path, file.content.size(), host::Sha256(file.content)});
  }
  execution.allowed_imports = request.allowed_imports;
  execution.allowed_domains = request.allowed_domains;
}

std::string ReasonOf(const host::Outcome& outcome) {
  if (outcome.status == host::Status::kKilled && outcome.kill_cause != host::KillCause::kUnknown) {
    return std::string(NameOf(outcome.kill_cause));
  }
  return outcome.error ? std::string(host::KnownErrorType(outcome.error->type)) : std::string();
}

void DescribeOutcome(const host::Outcome& outcome, AuditedExecution& execution) {
  execution.id = outcome.execution_id;
  execution.status = host::StatusName(outcome.status);
  execution.reason = ReasonOf(outcome);
  execution.exit_code = outcome.exit_code;
  for (const host::Finding& finding : outcome.findings) {
    if (execution.rules.size() == kMaxListed) break;
    const auto& rules = execution.rules;
    const std::string rule(host::KnownRule(finding.rule));
    if (std::find(rules.begin(), rules.end(), rule) == rules.end()) {
      execution.rules.push_back(rule);
    }
  }
  execution.standard_output = DigestOf(outcome.stdout_stream.text);
  execution.standard_error = DigestOf(outcome.stderr_stream.text);
  execution.dropped_bytes =
      outcome.stdout_stream.dropped_bytes + outcome.stderr_stream.dropped_bytes;
  if (outcome.result_json) {
    execution.result = DigestOf(*outcome.result_json);
  } else if (outcome.result_repr) {
    execution.result = DigestOf(*outcome.result_repr);
  }
  for (const host::Artifact& artifact : outcome.artifacts) {
    if (execution.artifacts.size() == kMaxListed) {
      ++execution.left_out;
      continue;
    }
    execution.artifacts.push_back({artifact.name, artifact.size, artifact.sha256});
  }
  execution.left_out += outcome.artifacts_left_out + outcome.network_left_out;
  execution.security_events = Listed(outcome.security_events, execution.left_out);
  execution.network = Listed(outcome.network, execution.left_out);
  execution.limits = outcome.limits;
  execution.isolation = outcome.isolation;
  execution.usage = outcome.usage;
  execution.container = outcome.container;
  execution.session = outcome.session;
}

}  // namespace

Digest DigestOf(std::string_view bytes) {
  return {bytes.size(), bytes.empty() ? DigestOfNothing() : host::Sha256(bytes)};
}

AuditedExecution Describe(const host::Request& request, const host::Outcome* outcome,
                          std::string_view failure) {
  AuditedExecution execution;
  DescribeRequest(request, execution);
  if (outcome) {
    DescribeOutcome(*outcome, execution);
  } else {
    execution.status = "failure";
    execution.reason = failure.substr(0, kMaxReason);
  }
  return execution;
}

void AppendText(std::string& to, std::string_view text) {
  if (IsPlain(text)) {
    to += '"';
    to += text;
    to += '"';
    return;
  }
  using Json = nlohmann::json;
  to += Json(text).dump(-1, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace);
}

std::string TimeNow() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  tm parts{};
  gmtime_r(&now.tv_sec, &parts);
  std::array<char, 64> text;
  const size_t length = strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &parts);
  snprintf(text.data() + length, text.size() - length, ".%06ldZ", now.tv_nsec / 1000);
  return text.data();
}

std::string MembersOf(const Entry& entry) { return Completed(entry.kind, entry); }
std::string MembersOf(const Segment& segment) { return Completed(Kind::kSegment, segment); }
std::string MembersOf(const SegmentEnd& end) { return Completed(Kind::kSegmentEnd, end); }
std::string MembersOf(const Retention& retention) { return Completed(Kind::kRetention, retention); }

std::string ObjectOf(const AuditedExecution& execution) {
  std::string object;
  AppendValue(object, execution);
  return object;
}

}  // namespace belljar::server::audit
