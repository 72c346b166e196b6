#include "container/wire/request_text.h"

#include <cstdint>

#include "container/wire/fields.h"
#include "engine/host/request_fields.h"

namespace belljar::container::wire {
namespace {

using nlohmann::json;

constexpr host::JsonBounds kRequestBounds{.depth = 4, .values = 500'000};
constexpr size_t kMaxInputs = 10'000;
constexpr size_t kMaxFiles = 100'000;

EgressBounds ReadEgressBounds(const json& form) {
  Fields fields(form);
  EgressBounds egress;
  egress.at_a_time = fields.Number("at_a_time", UINT32_MAX);
  egress.in_all = fields.Number("in_all", UINT32_MAX - 1);  // plus the one beyond the maximum
  fields.End();
  return egress;
}

// Sizes are announced only after their sum has been checked.
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

// Parses the request's inputs or files: name and size of each.
template <typename Part>
void ReadParts(const json& list, std::string Part::*name, std::string Part::*content,
               std::vector<Part>& parts, ContentPlan& plan) {
  // Must not be resized again: the plan points to their contents.
  parts.resize(list.size());
  for (size_t i = 0; i < list.size(); ++i) {
    Fields fields(list[i]);
    parts[i].*name = fields.Text("name", host::kNameBounds.max);
    plan.Add(&(parts[i].*content), fields.Number("size", kMaxRequestContent.count));
    fields.End();
  }
}

}  // namespace

core::Result<std::string> RequestToText(const host::Request& request, const EgressBounds& egress) {
  json inputs = json::array();
  for (const host::InputVariable& input : request.inputs) {
    inputs.push_back({{"name", input.name}, {"size", input.json.size()}});
  }
  json files = json::array();
  for (const host::InputFile& file : request.files) {
    files.push_back({{"name", file.path}, {"size", file.content.size()}});
  }
  json form = ToForm<host::kSent>(request);
  form["source_size"] = request.source.size();
  form["stdin_size"] = nullptr;
  form["inputs"] = std::move(inputs);
  form["files"] = std::move(files);
  form["door"] = {{"at_a_time", egress.at_a_time}, {"in_all", egress.in_all}};
  if (request.standard_input) form["stdin_size"] = request.standard_input->size();
  uint64_t total = 0;
  for (const std::string_view part : RequestContent(request)) total += part.size();
  std::string text = FormText(form);
  if (text.size() > kMaxRequestText || total > kMaxRequestContent.count) {
    return core::MakeError("send a request to a container",
                           "source, standard input, inputs and files exceed the " +
                               kMaxRequestContent.ToString() +
                               " limit of a container; leave some out");
  }
  return text;
}

std::vector<std::string_view> RequestContent(const host::Request& request) {
  std::vector<std::string_view> content = {request.source};
  if (request.standard_input) content.push_back(*request.standard_input);
  for (const host::InputVariable& input : request.inputs) content.push_back(input.json);
  for (const host::InputFile& file : request.files) content.push_back(file.content);
  return content;
}

core::Result<void> ReadRequestText(std::string_view text, host::Request& request,
                                   EgressBounds& egress, Content& content) {
  ContentPlan plan;
  core::Result<void> read = ReadForm(text, kRequestBounds, "read a request", [&](const json& form) {
    Fields fields(form);
    fields.Rows<host::kSent>(request);
    plan.Add(&request.source, fields.Number("source_size", kMaxRequestContent.count));
    if (const auto size = fields.NumberOrNull("stdin_size", kMaxRequestContent.count)) {
      plan.Add(&request.standard_input.emplace(), *size);
    }
    ReadParts(fields.List("inputs", kMaxInputs), &host::InputVariable::name,
              &host::InputVariable::json, request.inputs, plan);
    ReadParts(fields.List("files", kMaxFiles), &host::InputFile::path, &host::InputFile::content,
              request.files, plan);
    egress = ReadEgressBounds(fields.Any("door"));
    fields.End();
  });
  if (read) plan.Announce(content);
  return read;
}

}  // namespace belljar::container::wire
