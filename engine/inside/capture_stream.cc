// sys.stdout and sys.stderr of a worker: objects that look like text files and write into the
// capture. Static types, so that guest code cannot modify them.
#include <Python.h>

#include "engine/inside/capture.h"

namespace belljar::inside {
namespace {

struct StreamObject {
  PyObject_HEAD CaptureStreamKind kind;
  bool is_binary;
  PyObject* buffer;  // the binary stream of a text stream; null in a binary stream
};

StreamObject* AsStream(PyObject* self) { return reinterpret_cast<StreamObject*>(self); }

PyObject* WriteText(StreamObject* self, PyObject* text) {
  if (!PyUnicode_Check(text)) {
    return PyErr_Format(PyExc_TypeError, "write() argument must be str, not %.200s",
                        Py_TYPE(text)->tp_name);
  }
  // As in CPython, stdout rejects what UTF-8 cannot encode, and stderr escapes it.
  if (self->kind == CaptureStreamKind::kStdout || PyUnicode_IS_ASCII(text)) {
    Py_ssize_t size = 0;
    const char* utf8 = PyUnicode_AsUTF8AndSize(text, &size);
    if (!utf8) return nullptr;
    WriteOutput(self->kind, {utf8, static_cast<size_t>(size)});
  } else {
    PyObject* encoded = PyUnicode_AsEncodedString(text, "utf-8", "backslashreplace");
    if (!encoded) return nullptr;
    WriteOutput(self->kind,
                {PyBytes_AS_STRING(encoded), static_cast<size_t>(PyBytes_GET_SIZE(encoded))});
    Py_DECREF(encoded);
  }
  return PyLong_FromSsize_t(PyUnicode_GET_LENGTH(text));
}

PyObject* WriteBytes(StreamObject* self, PyObject* bytes) {
  Py_buffer view;
  if (PyObject_GetBuffer(bytes, &view, PyBUF_SIMPLE) != 0) return nullptr;
  const Py_ssize_t size = view.len;
  WriteOutput(self->kind, {static_cast<const char*>(view.buf), static_cast<size_t>(size)});
  PyBuffer_Release(&view);
  return PyLong_FromSsize_t(size);
}

PyObject* Write(PyObject* self, PyObject* data) {
  StreamObject* stream = AsStream(self);
  return stream->is_binary ? WriteBytes(stream, data) : WriteText(stream, data);
}

PyObject* WriteLines(PyObject* self, PyObject* lines) {
  PyObject* iterator = PyObject_GetIter(lines);
  if (!iterator) return nullptr;
  while (PyObject* line = PyIter_Next(iterator)) {
    PyObject* written = Write(self, line);
    Py_DECREF(line);
    if (!written) {
      Py_DECREF(iterator);
      return nullptr;
    }
    Py_DECREF(written);
  }
  Py_DECREF(iterator);
  if (PyErr_Occurred()) return nullptr;
  Py_RETURN_NONE;
}

PyObject* None(PyObject*, PyObject*) { Py_RETURN_NONE; }
PyObject* True(PyObject*, PyObject*) { Py_RETURN_TRUE; }
PyObject* False(PyObject*, PyObject*) { Py_RETURN_FALSE; }

PyObject* FileNumber(PyObject*, PyObject*) {
  PyObject* io = PyImport_ImportModule("io");
  if (!io) return nullptr;
  PyObject* unsupported = PyObject_GetAttrString(io, "UnsupportedOperation");
  Py_DECREF(io);
  if (!unsupported) return nullptr;
  PyErr_SetString(unsupported, "the sandbox's streams have no file descriptor");
  Py_DECREF(unsupported);
  return nullptr;
}

PyMethodDef g_methods[] = {
    {"write", Write, METH_O, nullptr},
    {"writelines", WriteLines, METH_O, nullptr},
    {"flush", None, METH_NOARGS, nullptr},
    {"close", None, METH_NOARGS, nullptr},
    {"isatty", False, METH_NOARGS, nullptr},
    {"readable", False, METH_NOARGS, nullptr},
    {"seekable", False, METH_NOARGS, nullptr},
    {"writable", True, METH_NOARGS, nullptr},
    {"fileno", FileNumber, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

PyObject* GetName(PyObject* self, void*) {
  return PyUnicode_FromString(AsStream(self)->kind == CaptureStreamKind::kStdout ? "<stdout>"
                                                                                 : "<stderr>");
}
PyObject* GetMode(PyObject* self, void*) {
  return PyUnicode_FromString(AsStream(self)->is_binary ? "wb" : "w");
}
PyObject* GetEncoding(PyObject*, void*) { return PyUnicode_FromString("utf-8"); }
PyObject* GetErrors(PyObject* self, void*) {
  return PyUnicode_FromString(
      AsStream(self)->kind == CaptureStreamKind::kStdout ? "strict" : "backslashreplace");
}
PyObject* GetClosed(PyObject*, void*) { Py_RETURN_FALSE; }
PyObject* GetNewlines(PyObject*, void*) { Py_RETURN_NONE; }
PyObject* GetLineBuffering(PyObject*, void*) { Py_RETURN_TRUE; }
PyObject* GetBuffer(PyObject* self, void*) { return Py_NewRef(AsStream(self)->buffer); }

PyGetSetDef g_text_attributes[] = {
    {"name", GetName, nullptr, nullptr, nullptr},
    {"mode", GetMode, nullptr, nullptr, nullptr},
    {"closed", GetClosed, nullptr, nullptr, nullptr},
    {"encoding", GetEncoding, nullptr, nullptr, nullptr},
    {"errors", GetErrors, nullptr, nullptr, nullptr},
    {"newlines", GetNewlines, nullptr, nullptr, nullptr},
    {"line_buffering", GetLineBuffering, nullptr, nullptr, nullptr},
    {"buffer", GetBuffer, nullptr, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

PyGetSetDef g_binary_attributes[] = {
    {"name", GetName, nullptr, nullptr, nullptr},
    {"mode", GetMode, nullptr, nullptr, nullptr},
    {"closed", GetClosed, nullptr, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

PyTypeObject MakeType(const char* name, PyGetSetDef* attributes) {
  PyTypeObject type = {PyVarObject_HEAD_INIT(nullptr, 0)};
  type.tp_name = name;
  type.tp_basicsize = sizeof(StreamObject);
  type.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION;
  type.tp_methods = g_methods;
  type.tp_getset = attributes;
  return type;
}

PyTypeObject g_text_type = MakeType("belljar.TextStream", g_text_attributes);
PyTypeObject g_binary_type = MakeType("belljar.BinaryStream", g_binary_attributes);

// A new reference; lives as long as the interpreter.
PyObject* NewStream(CaptureStreamKind kind) {
  StreamObject* binary = PyObject_New(StreamObject, &g_binary_type);
  if (!binary) return nullptr;
  binary->kind = kind;
  binary->is_binary = true;
  binary->buffer = nullptr;
  StreamObject* text = PyObject_New(StreamObject, &g_text_type);
  if (!text) return nullptr;
  text->kind = kind;
  text->is_binary = false;
  text->buffer = reinterpret_cast<PyObject*>(binary);
  return reinterpret_cast<PyObject*>(text);
}

bool Install(CaptureStreamKind kind, const char* name, const char* original_name) {
  PyObject* stream = NewStream(kind);
  return stream && PySys_SetObject(name, stream) == 0 &&
         PySys_SetObject(original_name, stream) == 0;
}

}  // namespace

core::Result<void> InstallCaptureStreams() {
  if (PyType_Ready(&g_text_type) == 0 && PyType_Ready(&g_binary_type) == 0 &&
      Install(CaptureStreamKind::kStdout, "stdout", "__stdout__") &&
      Install(CaptureStreamKind::kStderr, "stderr", "__stderr__")) {
    return {};
  }
  PyErr_Clear();
  return core::MakeError("install capture streams", "Python refused the stream objects");
}

}  // namespace belljar::inside
