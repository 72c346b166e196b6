#include "python/outcome_objects.h"

#include <optional>
#include <string>
#include <vector>

namespace belljar::python {
namespace {

namespace py = pybind11;

py::object OrNone(const std::string& text) {
  return text.empty() ? py::object(py::none()) : TextObject(text);
}
py::object OrNone(int position) {
  return position == 0 ? py::object(py::none()) : py::int_(position);
}

template <typename Duration>
py::float_ Seconds(Duration time) {
  return std::chrono::duration<double>(time).count();
}

// Each item by its own function, in a tuple.
template <typename Item, typename Convert>
py::tuple TupleOf(const std::vector<Item>& items, Convert convert) {
  py::tuple tuple(items.size());
  for (size_t i = 0; i < items.size(); ++i) tuple[i] = convert(items[i]);
  return tuple;
}

py::tuple TextsOf(const std::vector<std::string>& texts) { return TupleOf(texts, TextObject); }

// These tuples have the order of the fields of their classes in _result.py.

py::tuple FindingObject(const Finding& finding) {
  return py::make_tuple(TextObject(finding.rule), TextObject(finding.name), OrNone(finding.line),
                        OrNone(finding.column), OrNone(finding.end_line),
                        OrNone(finding.end_column), TextObject(finding.reason),
                        OrNone(finding.hint), OrNone(finding.profile));
}

py::tuple ErrorObject(const GuestError& error) {
  return py::make_tuple(TextObject(error.type), TextObject(error.message), OrNone(error.line),
                        OrNone(error.column), OrNone(error.traceback), OrNone(error.hint));
}

py::tuple LimitsObject(const Limits& limits) {
  return py::make_tuple(Seconds(limits.timeout), Seconds(limits.cpu), limits.memory.count,
                        limits.output.count, limits.result.count, limits.source.count,
                        limits.file_size.count, limits.artifact.count, limits.artifacts.count,
                        limits.open_files, limits.processes);
}

py::tuple IsolationObject(const Isolation& isolation) {
  return py::make_tuple(TextObject(isolation.mode), TextObject(isolation.language),
                        TupleOf(isolation.layers, [](const LayerState& layer) {
                          return py::make_tuple(TextObject(layer.name), layer.held,
                                                TextObject(layer.detail));
                        }));
}

py::tuple SecurityEventObject(const SecurityEvent& event) {
  return py::make_tuple(TextObject(event.layer), TextObject(event.action), TextObject(event.detail),
                        event.count);
}

py::tuple ArtifactObject(const Artifact& artifact) {
  return py::make_tuple(
      TextObject(artifact.name),
      artifact.origin == Artifact::Origin::kFile ? py::str("file") : py::str("display"),
      TextObject(artifact.media_type), artifact.size, OrNone(artifact.sha256),
      artifact.content ? py::object(py::bytes(*artifact.content)) : py::none(),
      OrNone(artifact.note));
}

py::tuple NetworkEventObject(const NetworkEvent& event) {
  return py::make_tuple(TextObject(event.host), event.port, TextObject(event.protocol),
                        event.allowed, OrNone(event.detail), event.sent, event.received,
                        Seconds(event.started), Seconds(event.lasted));
}

py::object ContainerObject(const std::optional<ContainerReport>& container) {
  if (!container) return py::none();
  return py::make_tuple(TextObject(container->engine), TextObject(container->runtime),
                        TextObject(container->image_digest), container->warm,
                        Seconds(container->started_in), TextsOf(container->not_limited),
                        TextsOf(container->packages));
}

py::object AnalysisObject(const std::optional<Analysis>& analysis) {
  if (!analysis) return py::none();
  return py::make_tuple(TextsOf(analysis->imports), analysis->branches, analysis->nesting);
}

template <typename T, typename Convert>
py::object OptionalObject(const std::optional<T>& value, Convert convert) {
  return value ? py::object(convert(*value)) : py::none();
}

}  // namespace

py::str TextObject(std::string_view utf8) {
  PyObject* const text =
      PyUnicode_DecodeUTF8(utf8.data(), static_cast<Py_ssize_t>(utf8.size()), "replace");
  if (!text) throw py::error_already_set();
  return py::reinterpret_steal<py::str>(text);
}

py::dict OutcomeObject(const Outcome& outcome) {
  py::dict object;
  object["status"] = TextObject(StatusName(outcome.status));
  object["execution_id"] = TextObject(outcome.execution_id);
  object["result_json"] = OptionalObject(outcome.result_json, TextObject);
  object["result_repr"] = OptionalObject(outcome.result_repr, TextObject);
  object["stdout"] = TextObject(outcome.stdout_stream.text);
  object["stderr"] = TextObject(outcome.stderr_stream.text);
  object["stdout_dropped"] = outcome.stdout_stream.dropped_bytes;
  object["stderr_dropped"] = outcome.stderr_stream.dropped_bytes;
  object["error"] = OptionalObject(outcome.error, ErrorObject);
  object["exit_code"] = outcome.exit_code ? py::object(py::int_(*outcome.exit_code)) : py::none();
  object["findings"] = TupleOf(outcome.findings, FindingObject);
  object["variables"] = TextsOf(outcome.variables);
  object["artifacts"] = TupleOf(outcome.artifacts, ArtifactObject);
  object["artifacts_left_out"] = outcome.artifacts_left_out;
  object["artifacts_note"] = OrNone(outcome.artifacts_note);
  object["isolation"] = IsolationObject(outcome.isolation);
  object["usage"] = py::make_tuple(Seconds(outcome.usage.wall_time),
                                   Seconds(outcome.usage.cpu_time), outcome.usage.max_rss_bytes);
  object["limits"] = LimitsObject(outcome.limits);
  object["security_events"] = TupleOf(outcome.security_events, SecurityEventObject);
  object["network"] = TupleOf(outcome.network, NetworkEventObject);
  object["network_left_out"] = outcome.network_left_out;
  object["container"] = ContainerObject(outcome.container);
  object["truncated"] = TextsOf(outcome.truncated);
  object["analysis"] = AnalysisObject(outcome.analysis);
  return object;
}

}  // namespace belljar::python
