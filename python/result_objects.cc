#include "python/result_objects.h"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "python/objects.h"
#include "python/plain_data.h"

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

template <typename T, typename Convert>
py::object OptionalObject(const std::optional<T>& value, Convert convert) {
  return value ? py::object(convert(*value)) : py::none();
}

// A frozen dataclass of _result.py. Its objects are made without its __init__, which would take
// longer than all the rest of a result.
class Record {
 public:
  Record(const py::module_& module, const char* name)
      : type_(module.attr(name)), fields_(type_.attr("__match_args__")) {}

  // With a value for each field, in their order.
  template <typename... Values>
  py::object operator()(Values&&... values) const {
    const py::tuple given = py::make_tuple(std::forward<Values>(values)...);
    if (given.size() != fields_.size()) throw std::logic_error("a record of other fields");
    auto* const type = reinterpret_cast<PyTypeObject*>(type_.ptr());
    const py::object made = Owned(type->tp_alloc(type, 0));
    for (size_t i = 0; i < given.size(); ++i) {
      // What its own __setattr__, which refuses everything, stands before.
      PyObject* const field = PyTuple_GET_ITEM(fields_.ptr(), i);
      PyObject* const value = PyTuple_GET_ITEM(given.ptr(), i);
      if (PyObject_GenericSetAttr(made.ptr(), field, value) != 0) throw py::error_already_set();
    }
    return made;
  }

 private:
  const py::object type_;
  const py::tuple fields_;
};

// The last that was made: nearly all runs of a program have the same.
template <typename Key>
class Latest {
 public:
  template <typename Convert>
  py::object operator()(const Key& key, Convert convert) {
    if (!made_ || key != key_) {
      made_ = convert(key);
      key_ = key;
    }
    return made_;
  }

 private:
  Key key_;
  py::object made_;
};

// What the package is, as it was imported last.
struct Records {
  py::module_ results;
  py::module_ plain;
  Record result{results, "Result"};
  Record validation{results, "Validation"};
  Record finding{results, "Finding"};
  Record error{results, "ErrorReport"};
  Record usage{results, "Usage"};
  Record limits{results, "Limits"};
  Record layer{results, "Layer"};
  Record isolation{results, "Isolation"};
  Record security_event{results, "SecurityEvent"};
  Record network_event{results, "NetworkEvent"};
  Record container{results, "Container"};
  Record artifact{results, "Artifact"};
  Record analysis{results, "Analysis"};
  Latest<Isolation> latest_isolation = {};
  Latest<Limits> latest_limits = {};
};

// Never destroyed: the interpreter may end before this library's statics do, and what one import of
// the package has made may still be made when another begins.
Records*& Known() {
  static Records* records = nullptr;
  return records;
}

Records& Make() { return *Known(); }

py::object FindingObject(const Finding& finding) {
  return Make().finding(TextObject(finding.rule), TextObject(finding.name), OrNone(finding.line),
                        OrNone(finding.column), OrNone(finding.end_line),
                        OrNone(finding.end_column), TextObject(finding.reason),
                        OrNone(finding.hint), OrNone(finding.profile));
}

py::object ErrorObject(const GuestError& error) {
  return Make().error(TextObject(error.type), TextObject(error.message), OrNone(error.line),
                      OrNone(error.column), OrNone(error.traceback), OrNone(error.hint));
}

py::object UsageObject(const Usage& usage) {
  return Make().usage(Seconds(usage.wall_time), Seconds(usage.cpu_time), usage.max_rss_bytes);
}

py::object LimitsObject(const Limits& limits) {
  return Make().limits(Seconds(limits.timeout), Seconds(limits.cpu), limits.memory.count,
                       limits.output.count, limits.result.count, limits.source.count,
                       limits.file_size.count, limits.artifact.count, limits.artifacts.count,
                       limits.open_files, limits.processes);
}

py::object LayerObject(const LayerState& layer) {
  return Make().layer(TextObject(layer.name), layer.held, TextObject(layer.detail));
}

py::object IsolationObject(const Isolation& isolation) {
  return Make().isolation(TextObject(isolation.mode), TextObject(isolation.language),
                          TupleOf(isolation.layers, LayerObject));
}

py::object SecurityEventObject(const SecurityEvent& event) {
  return Make().security_event(TextObject(event.layer), TextObject(event.action),
                               TextObject(event.detail), event.count);
}

py::object ArtifactObject(const Artifact& artifact) {
  return Make().artifact(
      TextObject(artifact.name),
      TextObject(artifact.origin == Artifact::Origin::kFile ? "file" : "display"),
      TextObject(artifact.media_type), artifact.size, OrNone(artifact.sha256),
      OptionalObject(artifact.content, [](const std::string& text) { return py::bytes(text); }),
      OrNone(artifact.note));
}

py::object NetworkEventObject(const NetworkEvent& event) {
  return Make().network_event(TextObject(event.host), event.port, TextObject(event.protocol),
                              event.allowed, OrNone(event.detail), event.sent, event.received,
                              Seconds(event.started), Seconds(event.lasted));
}

py::object ContainerObject(const ContainerReport& container) {
  return Make().container(TextObject(container.engine), TextObject(container.runtime),
                          TextObject(container.image_digest), container.warm,
                          Seconds(container.started_in), TextsOf(container.not_limited),
                          TextsOf(container.packages));
}

py::object AnalysisObject(const Analysis& analysis) {
  return Make().analysis(TextsOf(analysis.imports), analysis.branches, analysis.nesting);
}

// nullopt: no plain data, or not as this worker was to write it.
std::optional<py::object> ValueOf(const std::optional<std::string>& json) {
  if (!json) return std::nullopt;
  try {
    return ReadPlain(*json, Make().plain.attr("read_tagged"));
  } catch (const py::value_error&) {
    return std::nullopt;
  } catch (const py::error_already_set& error) {
    if (!error.matches(PyExc_ValueError)) throw;
    return std::nullopt;
  }
}

// A part of the engine's report as the field that it becomes.
std::string_view FieldOf(std::string_view part) {
  if (part == "result") return "value";
  if (part == "result_repr") return "value_repr";
  return part;
}

py::tuple TruncatedObject(const Outcome& outcome, bool is_unreadable) {
  std::vector<std::string> fields;
  const auto add = [&](bool is_cut, std::string_view field) {
    if (is_cut && std::find(fields.begin(), fields.end(), field) == fields.end()) {
      fields.emplace_back(field);
    }
  };
  for (const std::string& part : outcome.truncated) add(true, FieldOf(part));
  add(is_unreadable, "value");
  add(outcome.stdout_stream.dropped_bytes > 0, "stdout");
  add(outcome.stderr_stream.dropped_bytes > 0, "stderr");
  add(outcome.artifacts_left_out > 0, "artifacts");
  add(outcome.network_left_out > 0, "network");
  return TextsOf(fields);
}

}  // namespace

void KnowResults(const py::module_& results, const py::module_& plain) {
  Known() = new Records{.results = results, .plain = plain};
}

py::object ResultObject(const Outcome& outcome) {
  const std::optional<py::object> value = ValueOf(outcome.result_json);
  const bool is_unreadable = outcome.result_json && !value;
  Records& make = Make();
  return make.result(
      outcome.success(), TextObject(StatusName(outcome.status)), value.value_or(py::none()),
      value.has_value(), OptionalObject(outcome.result_repr, TextObject),
      TextObject(outcome.stdout_stream.text), TextObject(outcome.stderr_stream.text),
      outcome.stdout_stream.dropped_bytes, outcome.stderr_stream.dropped_bytes,
      OptionalObject(outcome.error, ErrorObject),
      OptionalObject(outcome.exit_code, [](int code) { return py::int_(code); }),
      TupleOf(outcome.findings, FindingObject), TextsOf(outcome.variables),
      TupleOf(outcome.artifacts, ArtifactObject), outcome.artifacts_left_out,
      OrNone(outcome.artifacts_note), make.latest_isolation(outcome.isolation, IsolationObject),
      UsageObject(outcome.usage), make.latest_limits(outcome.limits, LimitsObject),
      TupleOf(outcome.security_events, SecurityEventObject),
      TupleOf(outcome.network, NetworkEventObject), outcome.network_left_out,
      OptionalObject(outcome.container, ContainerObject), TruncatedObject(outcome, is_unreadable),
      TextObject(outcome.execution_id));
}

py::object ValidationObject(const Outcome& outcome) {
  const bool is_judged = outcome.status == Status::kOk || outcome.status == Status::kRefused;
  return Make().validation(outcome.success() && outcome.findings.empty(),
                           TupleOf(outcome.findings, FindingObject),
                           OptionalObject(outcome.analysis, AnalysisObject),
                           is_judged ? py::none() : OptionalObject(outcome.error, ErrorObject));
}

}  // namespace belljar::python
