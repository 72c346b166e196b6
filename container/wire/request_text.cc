#include "container/wire/request_text.h"

#include <cstdint>

#include "container/wire/fields.h"
#include "engine/core/wire.h"

namespace belljar {
namespace {

using nlohmann::json;

constexpr JsonBounds kBounds{.depth = 4, .values = 500'000};
constexpr size_t kMostNames = 10'000;  // of modules, of domains, of functions
constexpr size_t kMostFiles = 100'000;
constexpr size_t kLongestName = 16 * 1024;
constexpr uint64_t kDay = 86'400'000;  // milliseconds: the longest duration that there is

template <typename T>
json OrNull(const std::optional<T>& value) {
  return value ? json(*value) : json();
}

json LimitsForm(const Limits& limits) {
  return {{"timeout_milliseconds", static_cast<uint64_t>(limits.timeout.count())},
          {"cpu_milliseconds", static_cast<uint64_t>(limits.cpu.count())},
          {"memory", limits.memory.count},
          {"output", limits.output.count},
          {"result", limits.result.count},
          {"source", limits.source.count},
          {"file_size", limits.file_size.count},
          {"artifact", limits.artifact.count},
          {"artifacts", limits.artifacts.count},
          {"open_files", limits.open_files},
          {"processes", limits.processes}};
}

Limits ReadLimits(const json& form) {
  Fields fields(form);
  const auto time = [&](const char* key) {
    return std::chrono::milliseconds(fields.Number(key, kDay));
  };
  const auto bytes = [&](const char* key) { return Bytes{fields.Number(key, INT64_MAX)}; };
  const auto count = [&](const char* key) {
    return static_cast<uint32_t>(fields.Number(key, UINT32_MAX));
  };
  Limits limits;
  limits.timeout = time("timeout_milliseconds");
  limits.cpu = time("cpu_milliseconds");
  limits.memory = bytes("memory");
  limits.output = bytes("output");
  limits.result = bytes("result");
  limits.source = bytes("source");
  limits.file_size = bytes("file_size");
  limits.artifact = bytes("artifact");
  limits.artifacts = bytes("artifacts");
  limits.open_files = count("open_files");
  limits.processes = count("processes");
  fields.End();
  return limits;
}

DoorBounds ReadDoorBounds(const json& form) {
  Fields fields(form);
  DoorBounds door;
  door.at_a_time = fields.Number("at_a_time", UINT32_MAX);
  door.in_all = fields.Number("in_all", UINT32_MAX - 1);  // and one that is one too many
  fields.End();
  return door;
}

Request::Mode ReadMode(const std::string& name) {
  if (name == "run") return Request::Mode::kRun;
  if (name == "validate") return Request::Mode::kValidate;
  throw FormError("mode is neither run nor validate");
}

// Sizes are announced only once their sum is known to be small.
class ContentPlan {
 public:
  void Add(std::string* to, uint64_t size) {
    total_ += size;
    if (total_ > kMaxRequestContent.count) throw FormError("its content is too large");
    places_.push_back({to, size});
  }
  void Announce(Content& content) const {
    for (const auto& [to, size] : places_) content.Announce(to, size);
  }

 private:
  std::vector<std::pair<std::string*, uint64_t>> places_;
  uint64_t total_ = 0;
};

// Of the request's inputs or files: what each is called, and how large it is.
template <typename Part>
void ReadParts(const json& list, std::string Part::*name, std::string Part::*content,
               std::vector<Part>& parts, ContentPlan& plan) {
  // Not to move any more: the plan points to their contents.
  parts.resize(list.size());
  for (size_t i = 0; i < list.size(); ++i) {
    Fields fields(list[i]);
    parts[i].*name = fields.Text("name", kLongestName);
    plan.Add(&(parts[i].*content), fields.Number("size", kMaxRequestContent.count));
    fields.End();
  }
}

}  // namespace

Result<std::string> RequestToText(const Request& request, const DoorBounds& door) {
  json inputs = json::array();
  for (const InputVariable& input : request.inputs) {
    inputs.push_back({{"name", input.name}, {"size", input.json.size()}});
  }
  json files = json::array();
  for (const InputFile& file : request.files) {
    files.push_back({{"name", file.path}, {"size", file.content.size()}});
  }
  json form = {{"mode", request.mode == Request::Mode::kRun ? "run" : "validate"},
               {"filename", request.filename},
               {"source_size", request.source.size()},
               {"stdin_size", nullptr},
               {"allowed_imports", OrNull(request.allowed_imports)},
               {"allowed_domains", OrNull(request.allowed_domains)},
               {"inputs", std::move(inputs)},
               {"files", std::move(files)},
               {"functions", request.functions},
               {"limits", LimitsForm(request.limits)},
               {"door", {{"at_a_time", door.at_a_time}, {"in_all", door.in_all}}},
               {"analysis", request.wants_analysis},
               {"comments", request.wants_comments},
               {"exact_types", request.exact_types}};
  if (request.standard_input) form["stdin_size"] = request.standard_input->size();
  uint64_t total = 0;
  for (const std::string_view part : RequestContent(request)) total += part.size();
  std::string text = FormText(form);
  if (text.size() > kMaxRequestText || total > kMaxRequestContent.count) {
    return MakeError("send a request to a container",
                     "source, standard input, inputs and files are more than the " +
                         kMaxRequestContent.ToString() + " that go into one; leave some out");
  }
  return text;
}

std::vector<std::string_view> RequestContent(const Request& request) {
  std::vector<std::string_view> content = {request.source};
  if (request.standard_input) content.push_back(*request.standard_input);
  for (const InputVariable& input : request.inputs) content.push_back(input.json);
  for (const InputFile& file : request.files) content.push_back(file.content);
  return content;
}

Result<void> ReadRequestText(std::string_view text, Request& request, DoorBounds& door,
                             Content& content) {
  ContentPlan plan;
  Result<void> read = ReadForm(text, kBounds, "read a request", [&](const json& form) {
    Fields fields(form);
    request.mode = ReadMode(fields.Text("mode", kLongestName));
    request.filename = fields.Text("filename", kLongestName);
    plan.Add(&request.source, fields.Number("source_size", kMaxRequestContent.count));
    if (const auto size = fields.NumberOrNull("stdin_size", kMaxRequestContent.count)) {
      plan.Add(&request.standard_input.emplace(), *size);
    }
    request.allowed_imports = fields.TextsOrNull("allowed_imports", kMostNames, kLongestName);
    request.allowed_domains = fields.TextsOrNull("allowed_domains", kMostNames, kLongestName);
    ReadParts(fields.List("inputs", kMostNames), &InputVariable::name, &InputVariable::json,
              request.inputs, plan);
    ReadParts(fields.List("files", kMostFiles), &InputFile::path, &InputFile::content,
              request.files, plan);
    request.functions = fields.Texts("functions", kMostNames, kMaxFunctionName);
    request.limits = ReadLimits(fields.Any("limits"));
    door = ReadDoorBounds(fields.Any("door"));
    request.wants_analysis = fields.Flag("analysis");
    request.wants_comments = fields.Flag("comments");
    request.exact_types = fields.Flag("exact_types");
    fields.End();
  });
  if (read) plan.Announce(content);
  return read;
}

}  // namespace belljar
