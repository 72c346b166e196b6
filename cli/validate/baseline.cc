#include "cli/validate/baseline.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <nlohmann/json.hpp>
#include <optional>
#include <variant>

#include "cli/validate/fingerprint.h"
#include "cli/validate/rule_selection.h"
#include "engine/core/fd.h"
#include "engine/core/text.h"
#include "engine/host/json_reader.h"

namespace belljar::cli::validate {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMaxBaseline = 64 << 20;
constexpr int kDepth = 4;
constexpr int kVersion = 1;

core::Error Malformed(const std::string& file, const std::string& what) {
  return core::MakeError(
      "baseline " + core::Quoted(file) + ": " + what + "; regenerate it with --write-baseline", "");
}

// nullopt: `object` has no such string.
std::optional<std::string> Text(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_string()) return std::nullopt;
  return found->get<std::string>();
}

}  // namespace

core::Result<Baseline> Baseline::Read(const std::string& file) {
  const core::UniqueFd fd(open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status;
  if (!fd && errno == ENOENT) {
    return core::MakeError("open baseline " + core::Quoted(file),
                           "it does not exist yet: create it with --write-baseline");
  }
  if (!fd || fstat(fd.get(), &status) != 0)
    return core::SystemError("open baseline " + core::Quoted(file));
  if (!S_ISREG(status.st_mode)) return Malformed(file, "not a regular file");
  const core::Result<std::string> text = core::ReadAll(fd.get(), kMaxBaseline);
  if (!text) {
    return core::SystemErrorOf(text.error().error_number, "read baseline " + core::Quoted(file),
                               text.error().detail);
  }
  return Parse(*text, file);
}

core::Result<Baseline> Baseline::Parse(std::string_view text, const std::string& file) {
  host::JsonReading reading = host::ReadJson(text, {.depth = kDepth});
  if (const host::JsonFailure* failure = std::get_if<host::JsonFailure>(&reading)) {
    return Malformed(file, "cannot be parsed as JSON at byte " + std::to_string(failure->byte));
  }
  const nlohmann::json& object = std::get<nlohmann::json>(reading);
  const auto version = object.is_object() ? object.find("version") : object.end();
  if (!object.is_object() || version == object.end() || *version != kVersion) {
    return Malformed(file, "not an object with \"version\": 1");
  }
  const auto findings = object.find("findings");
  if (findings == object.end() || !findings->is_array()) {
    return Malformed(file, "it has no list \"findings\"");
  }
  Baseline baseline;
  size_t number = 0;
  for (const nlohmann::json& finding : *findings) {
    ++number;
    const std::string where = "finding " + std::to_string(number) + " of the list ";
    if (!finding.is_object()) return Malformed(file, where + "is not an object");
    const auto path = Text(finding, "path"), rule = Text(finding, "rule"),
               fingerprint = Text(finding, "fingerprint");
    if (!path || !rule || !fingerprint) {
      return Malformed(file,
                       where + "lacks one of the strings \"path\", \"rule\" and \"fingerprint\"");
    }
    if (!core::IsHex(*fingerprint, kFingerprintLength)) {
      return Malformed(file, where + "has a fingerprint that is not 32 hexadecimal digits");
    }
    baseline.all_[*path].emplace(*rule, *fingerprint);
  }
  baseline.left_ = baseline.all_;
  return baseline;
}

bool Baseline::Knows(const std::string& path, const ReportedFinding& reported) {
  if (IsAboutJudging(reported.finding.rule)) return false;
  const std::string printable = core::Printable(path);
  const auto known = all_.find(printable);
  const std::pair entry(reported.finding.rule, reported.fingerprint);
  if (known == all_.end() || !known->second.contains(entry)) return false;
  left_[printable].erase(entry);
  return true;
}

void Baseline::Judged(const std::string& path) {
  const auto left = left_.find(core::Printable(path));
  if (left == left_.end()) return;
  stale_ += left->second.size();
  left_.erase(left);
}

void BaselineWriter::Add(const std::string& path, const ReportedFinding& reported) {
  const std::string printable = core::Printable(path);
  const Json entry = {{"path", printable},
                      {"rule", reported.finding.rule},
                      {"fingerprint", reported.fingerprint},
                      {"text", Normalized(reported.line_text)}};
  lines_[printable].push_back(entry.dump(-1, ' ', false, Json::error_handler_t::replace));
  ++count_;
}

std::string BaselineWriter::Text() const {
  std::string text = "{\n  \"version\": " + std::to_string(kVersion) + ",\n  \"findings\": [";
  const char* separator = "\n    ";
  for (const auto& [path, lines] : lines_) {
    for (const std::string& line : lines) {
      text += separator + line;
      separator = ",\n    ";
    }
  }
  return text + (count_ > 0 ? "\n  ]\n}\n" : "]\n}\n");
}

}  // namespace belljar::cli::validate
