#include "engine/host/known_names.h"

#include <algorithm>
#include <iterator>

namespace belljar::host {
namespace {

constexpr std::string_view kOther = "other";

// Those of CPython 3.11 to 3.14, and Belljar's own; sorted. A test compares the list with CPython.
// clang-format off
constexpr std::string_view kErrorTypes[] = {
    "ArithmeticError", "AssertionError", "AttributeError", "BaseException", "BaseExceptionGroup",
    "BlockingIOError", "BrokenPipeError", "BufferError", "BytesWarning", "Cancelled",
    "ChildProcessError", "ConnectionAbortedError", "ConnectionError", "ConnectionRefusedError",
    "ConnectionResetError", "CpuLimit", "DeprecationWarning", "EOFError", "EncodingWarning",
    "Exception", "ExceptionGroup", "FileExistsError", "FileNotFoundError", "FloatingPointError",
    "FutureWarning", "GeneratorExit", "ImportError", "ImportWarning", "IndentationError",
    "IndexError", "InterruptedError", "IsADirectoryError", "KeyError", "KeyboardInterrupt",
    "Killed", "LookupError", "MemoryError", "MemoryLimit", "ModuleNotFoundError", "NameError",
    "NotADirectoryError", "NotImplementedError", "OSError", "OverflowError",
    "PendingDeprecationWarning", "PermissionError", "PolicyError", "ProcessLookupError",
    "PythonFinalizationError", "RecursionError", "ReferenceError", "ResourceWarning",
    "RuntimeError", "RuntimeWarning", "StopAsyncIteration", "StopIteration", "SyntaxError",
    "SyntaxWarning", "SystemError", "SystemExit", "TabError", "Timeout", "TimeoutError",
    "TypeError", "UnboundLocalError", "UnicodeDecodeError", "UnicodeEncodeError", "UnicodeError",
    "UnicodeTranslateError", "UnicodeWarning", "UserWarning", "ValueError", "Warning",
    "ZeroDivisionError",
};
// clang-format on

}  // namespace

std::string_view KnownErrorType(std::string_view type) {
  const auto* const found = std::find(std::begin(kErrorTypes), std::end(kErrorTypes), type);
  return found == std::end(kErrorTypes) ? kOther : *found;
}

std::string_view KnownRule(std::string_view rule) {
  constexpr size_t kSize = std::string_view("BJ201").size();
  const bool is_known =
      rule.size() == kSize && rule.starts_with("BJ") &&
      std::all_of(rule.begin() + 2, rule.end(), [](char c) { return c >= '0' && c <= '9'; });
  return is_known ? rule : kOther;
}

}  // namespace belljar::host
