#include "python/answer_objects.h"

#include <string>

#include "engine/host/answer.h"
#include "engine/host/outcome_fields.h"
#include "python/objects.h"

namespace belljar::python {
namespace {

namespace py = pybind11;

// Empty for None. Lone surrogates, which the engine's texts do not have, become escapes.
std::string Text(const py::handle& text) {
  if (text.is_none()) return "";
  const py::object bytes =
      Owned(PyUnicode_AsEncodedString(text.ptr(), "utf-8", "backslashreplace"));
  return std::string(py::bytes(bytes));
}

template <typename Number>
Number NumberOf(const py::handle& number) {
  return number.is_none() ? Number{0} : number.cast<Number>();
}

host::Finding FindingOf(const py::handle& finding) {
  host::Finding made;
  made.rule = Text(finding.attr("rule"));
  made.line = NumberOf<int>(finding.attr("line"));
  made.reason = Text(finding.attr("reason"));
  made.hint = Text(finding.attr("hint"));
  return made;
}

host::GuestError ErrorOf(const py::handle& error) {
  host::GuestError made;
  made.type = Text(error.attr("type"));
  made.message = Text(error.attr("message"));
  made.traceback = Text(error.attr("traceback"));
  made.hint = Text(error.attr("hint"));
  return made;
}

host::Artifact ArtifactOf(const py::handle& artifact) {
  host::Artifact made;
  made.name = Text(artifact.attr("name"));
  made.size = NumberOf<uint64_t>(artifact.attr("size"));
  made.note = Text(artifact.attr("note"));
  return made;
}

host::NetworkEvent NetworkEventOf(const py::handle& event) {
  host::NetworkEvent made;
  made.host = Text(event.attr("host"));
  made.port = NumberOf<uint16_t>(event.attr("port"));
  made.allowed = event.attr("allowed").cast<bool>();
  made.detail = Text(event.attr("detail"));
  return made;
}

host::Isolation IsolationOf(const py::handle& isolation) {
  host::Isolation made;
  made.mode = Text(isolation.attr("mode"));
  for (const py::handle layer : isolation.attr("layers")) {
    made.layers.push_back({Text(layer.attr("name")), layer.attr("held").cast<bool>(), ""});
  }
  return made;
}

template <typename Item, typename Convert>
std::vector<Item> ListOf(const py::handle& objects, Convert convert) {
  std::vector<Item> items;
  for (const py::handle object : objects) items.push_back(convert(object));
  return items;
}

host::Stream StreamOf(const py::object& result, const std::string& name) {
  const py::object bytes = result.attr((name + "_bytes").c_str());
  return {bytes.is_none() ? Text(result.attr(name.c_str())) : bytes.cast<std::string>(),
          NumberOf<uint64_t>(result.attr((name + "_dropped").c_str()))};
}

// The parts shown in an answer.
host::Outcome OutcomeOf(const py::object& result) {
  host::Outcome outcome;
  const std::string status = Text(result.attr("status"));
  const std::optional<host::Status> known = host::ValueNamed<host::Status>(status);
  if (!known) throw py::value_error("status: not one of a result");
  outcome.status = *known;
  outcome.stdout_stream = StreamOf(result, "stdout");
  outcome.stderr_stream = StreamOf(result, "stderr");
  if (const py::object repr = result.attr("value_repr"); !repr.is_none()) {
    outcome.result_repr = Text(repr);
  }
  if (const py::object error = result.attr("error"); !error.is_none()) {
    outcome.error = ErrorOf(error);
  }
  for (const py::handle part : result.attr("truncated")) {
    if (Text(part) == "value_repr") outcome.truncated.emplace_back("result_repr");
  }
  outcome.findings = ListOf<host::Finding>(result.attr("findings"), FindingOf);
  outcome.artifacts = ListOf<host::Artifact>(result.attr("artifacts"), ArtifactOf);
  outcome.artifacts_left_out = NumberOf<uint64_t>(result.attr("artifacts_left_out"));
  outcome.artifacts_note = Text(result.attr("artifacts_note"));
  outcome.network = ListOf<host::NetworkEvent>(result.attr("network"), NetworkEventOf);
  outcome.isolation = IsolationOf(result.attr("isolation"));
  if (!result.attr("container").is_none()) outcome.container.emplace();
  return outcome;
}

}  // namespace

py::str AnswerText(const py::object& result, const py::object& json, size_t characters) {
  host::Outcome outcome = OutcomeOf(result);
  if (!json.is_none()) {
    outcome.result_json = Text(json);
  } else if (result.attr("has_value").cast<bool>()) {
    outcome.result_json = "null";  // whether it has a value that its repr shows completely
  }
  return TextObject(
      host::AnswerText(outcome, {.characters = characters, .output_limit = "output"}));
}

py::str FailureText(const py::object& result, size_t characters) {
  return TextObject(host::FailureText(OutcomeOf(result), {characters}));
}

py::str ProgramText(const py::str& text, size_t characters) {
  return TextObject(host::ProgramText(Text(text), {characters}));
}

}  // namespace belljar::python
