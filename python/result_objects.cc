#include "python/result_objects.h"

#include <algorithm>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/host/outcome_fields.h"
#include "python/objects.h"
#include "python/plain_data.h"

namespace belljar::python {
namespace {

namespace py = pybind11;

template <typename T>
py::object ToObject(const T& value);

// The name of the dataclass, and the fields that no row can produce, with their annotations.
struct ClassNames {
  const char* name;
  std::span<const std::pair<const char*, const char*>> by_hand = {};
};
template <typename T>
constexpr ClassNames kClass = {};

// A frozen dataclass of _result.py, whose fields have rows in T's table or are set by hand. Objects
// are created without __init__, which would take longer than the rest of a result.
template <typename T>
class Record {
 public:
  explicit Record(const py::module_& module) : type_(module.attr(kClass<T>.name)) {
    host::ForEachField<T>([&](auto row) {
      if constexpr (row.Is(host::kInPython)) slots_.push_back(type_.attr(row.name));
    });
    for (const auto& [field, type] : kClass<T>.by_hand) slots_.push_back(type_.attr(field));
    // Each slot has a row or is set by hand, so none stays without a value.
    if (slots_.size() != py::len(type_.attr("__match_args__"))) {
      throw std::logic_error(std::string(kClass<T>.name) +
                             " has other fields than its table: run tools/result_fields.py");
    }
  }

  // `by_hand`: in the order of kClass.
  template <typename... Values>
  py::object operator()(const T& value, const Values&... by_hand) const {
    auto* const type = reinterpret_cast<PyTypeObject*>(type_.ptr());
    const py::object made = Owned(type->tp_alloc(type, 0));
    size_t next = 0;
    host::ForEachField<T>([&](auto row) {
      if constexpr (row.Is(host::kInPython)) {
        const auto& field = row.Of(value);
        Set(made, next++,
            row.Is(host::kNullable) && host::IsUnset(field) ? py::object(py::none())
                                                            : ToObject(field));
      }
    });
    (Set(made, next++, by_hand), ...);
    return made;
  }

 private:
  // Uses the slot directly: the __setattr__ of a frozen dataclass refuses everything.
  void Set(const py::object& made, size_t index, const py::object& value) const {
    PyObject* const slot = slots_[index].ptr();
    if (Py_TYPE(slot)->tp_descr_set(slot, made.ptr(), value.ptr()) != 0) {
      throw py::error_already_set();
    }
  }

  const py::object type_;
  std::vector<py::object> slots_;
};

// Keeps the most recent object: nearly all runs of a process have the same one.
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

// The result of a validation.
struct Judgement {
  const host::Outcome& outcome;
  bool is_valid() const { return outcome.success() && outcome.findings.empty(); }
  bool is_judged() const {
    return outcome.status == host::Status::kOk || outcome.status == host::Status::kRefused;
  }
  const std::vector<host::Finding>& findings() const { return outcome.findings; }
  const std::optional<host::Analysis>& analysis() const { return outcome.analysis; }
  std::optional<host::GuestError> error() const {
    return is_judged() ? std::nullopt : outcome.error;
  }
};

template <typename Visit>
void VisitFields(host::TableOf<Judgement>, Visit visit) {
  visit(host::Row<host::kInPython>("ok", &Judgement::is_valid));
  visit(host::Row<host::kInPython>("findings", &Judgement::findings));
  visit(host::Row<host::kInPython>("analysis", &Judgement::analysis));
  visit(host::Row<host::kInPython>("error", &Judgement::error));
}

constexpr std::pair<const char*, const char*> kResultByHand[] = {
    {"value", "Any"},
    {"has_value", "bool"},
    {"truncated", "tuple[str, ...]"},
    {"session", "SessionReport | None"}};
template <>
constexpr ClassNames kClass<host::Outcome> = {"Result", kResultByHand};
template <>
constexpr ClassNames kClass<Judgement> = {"Validation"};
template <>
constexpr ClassNames kClass<host::SessionReport> = {"SessionReport"};
template <>
constexpr ClassNames kClass<host::Finding> = {"Finding"};
template <>
constexpr ClassNames kClass<host::GuestError> = {"ErrorReport"};
template <>
constexpr ClassNames kClass<host::Usage> = {"Usage"};
template <>
constexpr ClassNames kClass<core::Limits> = {"Limits"};
template <>
constexpr ClassNames kClass<host::LayerState> = {"Layer"};
template <>
constexpr ClassNames kClass<host::Isolation> = {"Isolation"};
template <>
constexpr ClassNames kClass<host::SecurityEvent> = {"SecurityEvent"};
template <>
constexpr ClassNames kClass<host::NetworkEvent> = {"NetworkEvent"};
template <>
constexpr ClassNames kClass<host::ContainerReport> = {"Container"};
template <>
constexpr ClassNames kClass<host::Artifact> = {"Artifact"};
template <>
constexpr ClassNames kClass<host::Analysis> = {"Analysis"};

template <typename... T>
struct RecordsOf {
  explicit RecordsOf(const py::module_& module) : all(Record<T>(module)...) {}
  template <typename Visit>
  static void ForEach(const Visit& visit) {
    (visit(static_cast<const T*>(nullptr)), ...);
  }
  std::tuple<Record<T>...> all;
};

// The most recent import of the package.
struct Records
    : RecordsOf<host::Outcome, Judgement, host::SessionReport, host::Finding, host::GuestError,
                host::Usage, core::Limits, host::LayerState, host::Isolation, host::SecurityEvent,
                host::NetworkEvent, host::ContainerReport, host::Artifact, host::Analysis> {
  Records(const py::module_& results, const py::module_& plain_module)
      : RecordsOf(results), plain(plain_module) {}

  template <typename T>
  const Record<T>& Of() const {
    return std::get<Record<T>>(all);
  }

  py::module_ plain;
  Latest<host::Isolation> latest_isolation = {};
  Latest<core::Limits> latest_limits = {};
};

// Never destroyed: the interpreter may end before this library's statics are destroyed, and objects
// of an earlier import may still be in use.
Records*& Known() {
  static Records* records = nullptr;
  return records;
}

Records& Make() { return *Known(); }

template <typename T>
py::object ToObject(const T& value) {
  if constexpr (host::OptionalField<T>) {
    return value ? ToObject(*value) : py::object(py::none());
  } else if constexpr (host::ListField<T>) {
    py::tuple tuple(value.size());
    for (size_t i = 0; i < value.size(); ++i) tuple[i] = ToObject(value[i]);
    return tuple;
  } else if constexpr (std::same_as<T, host::Isolation>) {
    return Make().latest_isolation(value, Make().Of<T>());
  } else if constexpr (std::same_as<T, core::Limits>) {
    return Make().latest_limits(value, Make().Of<T>());
  } else if constexpr (host::RecordField<T>) {
    return Make().Of<T>()(value);
  } else if constexpr (std::same_as<T, host::BinaryContent>) {
    return value.bytes ? py::object(py::bytes(*value.bytes)) : py::object(py::none());
  } else if constexpr (std::same_as<T, bool>) {
    return py::bool_(value);
  } else if constexpr (host::NumberField<T>) {
    return py::int_(value);
  } else if constexpr (std::same_as<T, core::Bytes>) {
    return py::int_(value.count);
  } else if constexpr (host::DurationField<T>) {
    return py::float_(host::Seconds(value));
  } else if constexpr (host::EnumField<T>) {
    return TextObject(host::NameOf(value));
  } else {
    return TextObject(value);
  }
}

// As written in an annotation.
template <typename T>
std::string TypeText(bool may_be_none) {
  const std::string none = may_be_none ? " | None" : "";
  if constexpr (host::OptionalField<T>) {
    return TypeText<typename host::ElementOf<T>::Type>(true);
  } else if constexpr (host::ListField<T>) {
    return "tuple[" + TypeText<typename host::ElementOf<T>::Type>(false) + ", ...]";
  } else if constexpr (host::RecordField<T>) {
    return kClass<T>.name + none;
  } else if constexpr (std::same_as<T, host::BinaryContent>) {
    return "bytes | None";
  } else if constexpr (std::same_as<T, bool>) {
    return "bool" + none;
  } else if constexpr (host::NumberField<T> || std::same_as<T, core::Bytes>) {
    return "int" + none;
  } else if constexpr (host::DurationField<T>) {
    return "float" + none;
  } else if constexpr (std::same_as<T, host::Status>) {
    return "Status" + none;
  } else {
    return "str" + none;
  }
}

// nullopt: not plain data, or not in the form that a worker must use.
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

// Converts a part of the engine's report to a field.
std::string_view FieldOf(std::string_view part) {
  if (part == "result") return "value";
  if (part == "result_repr") return "value_repr";
  return part;
}

py::object TruncatedObject(const host::Outcome& outcome, bool is_unreadable) {
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
  return ToObject(fields);
}

}  // namespace

void RegisterResults(const py::module_& results, const py::module_& plain) {
  Known() = new Records(results, plain);
}

py::object ResultObject(const host::Outcome& outcome) {
  const std::optional<py::object> value = ValueOf(outcome.result_json);
  const bool is_unreadable = outcome.result_json && !value;
  return Make().Of<host::Outcome>()(
      outcome, value.value_or(py::none()), py::bool_(value.has_value()),
      TruncatedObject(outcome, is_unreadable), ToObject(outcome.session));
}

py::object ValidationObject(const host::Outcome& outcome) { return ToObject(Judgement{outcome}); }

py::dict ResultFields() {
  py::dict classes;
  Records::ForEach([&]<typename T>(const T*) {
    py::dict fields;
    host::ForEachField<T>([&](auto row) {
      if constexpr (row.Is(host::kInPython)) {
        fields[row.name] = py::make_tuple(
            TypeText<host::FieldType<decltype(row), const T>>(row.Is(host::kNullable)),
            row.meaning);
      }
    });
    for (const auto& [field, type] : kClass<T>.by_hand) fields[field] = py::make_tuple(type, "");
    classes[kClass<T>.name] = fields;
  });
  return classes;
}

}  // namespace belljar::python
