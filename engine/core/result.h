// Result<T>: returned by functions that can fail because of our own machine.
//
//   Result<UniqueFd> fd = OpenProfile(path);
//   if (!fd) return fd.error();
//   Use(*fd);
//
// What the guest did is never an Error; it is an Outcome (outcome.h). A broken invariant aborts.
#ifndef BELLJAR_ENGINE_CORE_RESULT_H_
#define BELLJAR_ENGINE_CORE_RESULT_H_

#include <cerrno>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace belljar::core {

// What callers decide by where the errno is not specific enough. Code never compares the texts of
// an error, which are for people.
enum class Cause {
  kOther,
  kStartOver,        // a run needs a module that its zygote has omitted
  kRefusedByKernel,  // a clone; the process that was to clone itself continues without it
  kNoTurn,           // a session is busy
  kNoCheckpoint,     // a session has none with that name
  kNoSuchCells,      // a session has not run that many, or cannot undo them
  kWorkspace,        // something that a guest has created is in the way; not a failure of ours
};

// A failure of our own machine: the operation, the errno if a system call failed, and what the
// reader can do about it.
struct Error {
  std::string operation;
  int error_number = 0;
  std::string detail;
  Cause cause = Cause::kOther;

  // "mount private root: Operation not permitted (EPERM): user namespaces are switched off"
  std::string ToString() const;
};

// Call it directly after the failing system call: it reads errno.
Error SystemError(std::string operation, std::string detail = {});
Error SystemErrorOf(int error_number, std::string operation, std::string detail = {});
Error MakeError(std::string operation, std::string detail);
Error WithCause(Cause cause, Error error);

// Whether the errno means that the machine is out of descriptors or memory at the moment. It says
// nothing about what the machine allows, and an immediate retry fails the same way.
bool IsExhaustion(int error_number);

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  // Precondition: ok().
  T& operator*() & { return std::get<0>(state_); }
  const T& operator*() const& { return std::get<0>(state_); }
  T&& operator*() && { return std::get<0>(std::move(state_)); }
  T* operator->() { return &std::get<0>(state_); }
  const T* operator->() const { return &std::get<0>(state_); }

  // Precondition: !ok().
  const Error& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}  // NOLINT

  bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  const Error& error() const { return *error_; }

 private:
  std::optional<Error> error_;
};

}  // namespace belljar::core

#endif  // BELLJAR_ENGINE_CORE_RESULT_H_
