#include "python/plain_data.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "engine/host/json_reader.h"
#include "python/gil.h"
#include "python/objects.h"

namespace belljar::python {
namespace {

namespace py = pybind11;

// Plain data is nested at most 64 levels deep, and its tagged forms have a list in an object.
constexpr size_t kMaxDepth = 2 * 64 + 2;
// JSON parsers disagree about larger numbers.
constexpr int64_t kSafeInteger = (int64_t{1} << 53) - 1;

[[noreturn]] void Refuse(const char* why) { throw py::value_error(why); }

// Builds Python objects directly from parser events, without an intermediate JSON document.
class Builder final : public host::JsonEvents {
 public:
  explicit Builder(const py::function& tagged) : tagged_(tagged) {}

  py::object TakeRoot() { return std::move(root_); }

  bool null() override { return Add(py::none()); }
  bool boolean(bool value) override { return Add(py::bool_(value)); }
  bool number_integer(number_integer_t value) override {
    if (value < -kSafeInteger || value > kSafeInteger) RefuseNumber();
    return Add(Owned(PyLong_FromLongLong(value)));
  }
  bool number_unsigned(number_unsigned_t value) override {
    if (value > static_cast<uint64_t>(kSafeInteger)) RefuseNumber();
    return Add(Owned(PyLong_FromUnsignedLongLong(value)));
  }
  bool Number(double value, bool is_integer) override {
    if (is_integer) RefuseNumber();
    return Add(Owned(PyFloat_FromDouble(value)));
  }
  bool string(string_t& value) override { return Add(TextObject(value)); }
  bool start_object(size_t) override { return Open(Owned(PyDict_New())); }
  bool start_array(size_t) override { return Open(Owned(PyList_New(0))); }
  bool end_array() override { return Add(TakeInnermost().made); }

  bool key(string_t& name) override {
    Frame& frame = open_.back();
    // Equal keys share one object, as in Python's json module.
    const py::object made = TextObject(name);
    PyObject* const known = PyDict_SetDefault(keys_.ptr(), made.ptr(), made.ptr());
    if (!known) throw py::error_already_set();
    frame.key = py::reinterpret_borrow<py::object>(known);
    frame.is_tagged |= name.starts_with('$');
    return true;
  }

  bool end_object() override {
    Frame frame = TakeInnermost();
    return Add(frame.is_tagged ? CallPython(tagged_, frame.made) : std::move(frame.made));
  }

 private:
  struct Frame {
    py::object made;      // a list, or a dict
    py::object key = {};  // where the next value of a dict goes
    bool is_tagged = false;
  };

  [[noreturn]] static void RefuseNumber() { Refuse("a number on which JSON parsers disagree"); }

  bool Fail(const host::JsonFailure& failure) override {
    const bool is_number = failure.reason == host::JsonFailure::Reason::kNumber;
    Refuse(is_number ? "a number that does not fit a float" : "not JSON");
  }

  bool Open(py::object made) {
    if (open_.size() >= kMaxDepth) Refuse("nests too deep");
    open_.push_back({.made = std::move(made)});
    return true;
  }

  Frame TakeInnermost() {
    Frame frame = std::move(open_.back());
    open_.pop_back();
    return frame;
  }

  bool Add(py::object value) {
    // Lets other threads run: a megabyte of lists takes 0.1 s.
    if (++values_ % 4096 == 0) WithoutGil([] {});
    if (open_.empty()) {
      root_ = std::move(value);
      return true;
    }
    const Frame& frame = open_.back();
    PyObject* const made = frame.made.ptr();
    if (PyList_Check(made)) {
      if (PyList_Append(made, value.ptr()) != 0) throw py::error_already_set();
      return true;
    }
    const Py_ssize_t before = PyDict_Size(made);
    if (PyDict_SetItem(made, frame.key.ptr(), value.ptr()) != 0) throw py::error_already_set();
    if (PyDict_Size(made) == before) Refuse("a duplicate key");
    return true;
  }

  const py::function& tagged_;
  py::object root_;
  py::dict keys_;
  std::vector<Frame> open_;  // innermost last
  size_t values_ = 0;
};

}  // namespace

py::object ReadPlain(std::string_view json, const py::function& tagged) {
  // A byte order mark, which the parser would skip.
  if (json.starts_with("\xef\xbb\xbf")) Refuse("not JSON");
  Builder builder(tagged);
  builder.Read(json);  // throws instead of returning false
  return builder.TakeRoot();
}

}  // namespace belljar::python
