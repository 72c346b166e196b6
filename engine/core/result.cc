#include "engine/core/result.h"

#include <cstring>

namespace belljar::core {

std::string Error::ToString() const {
  std::string text = operation;
  if (error_number != 0) {
    const char* name = strerrorname_np(error_number);
    text += std::string(": ") + strerror(error_number) + " (" + (name ? name : "?") + ")";
  }
  if (!detail.empty()) text += ": " + detail;
  return text;
}

Error SystemError(std::string operation, std::string detail) {
  return SystemErrorOf(errno, std::move(operation), std::move(detail));
}

Error SystemErrorOf(int error_number, std::string operation, std::string detail) {
  return Error{std::move(operation), error_number, std::move(detail), Cause::kOther};
}

Error MakeError(std::string operation, std::string detail) {
  return SystemErrorOf(0, std::move(operation), std::move(detail));
}

Error WithCause(Cause cause, Error error) {
  error.cause = cause;
  return error;
}

bool IsExhaustion(int error_number) {
  return error_number == EMFILE || error_number == ENFILE || error_number == ENOBUFS ||
         error_number == ENOMEM;
}

}  // namespace belljar::core
