// FunctionCalls: validates and answers calls of the request's functions, from a worker
// (worker_channel.h) or a container (container/wire). Every byte of a call is hostile.
//
//   FunctionCalls calls(request, options.call);
//   if (!calls.MayBe(name_size, arguments_size)) …     as announced, before it arrives
//   if (!calls.Has(name)) …                            after it has arrived
//   std::optional<std::string> answer = calls.Answer(name, arguments);
#ifndef BELLJAR_ENGINE_RUN_FUNCTION_CALLS_H_
#define BELLJAR_ENGINE_RUN_FUNCTION_CALLS_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "engine/core/limits.h"
#include "engine/host/request.h"
#include "engine/run/run_options.h"

namespace belljar::run {

class FunctionCalls {
 public:
  // Both are borrowed.
  FunctionCalls(const host::Request& request, const FunctionCall& call)
      : request_(request), call_(call) {}

  // Whether there are functions to call and a handler. Validated code calls none.
  bool any() const;
  // `of_earlier`: also a function of an earlier request.
  bool MayBe(size_t name_size, size_t arguments_size, bool of_earlier = false) const;
  bool Has(std::string_view name) const;

  // Calls the function, on this thread. Precondition: Has(name). An empty answer means that the run
  // is being cancelled; the program waits for its end. nullopt: no runner makes this call
  // (kRefusedCall); the run ends.
  std::optional<std::string> Answer(std::string_view name, std::string_view arguments) const;

  // Whether the program's clock stands still during the call: while a person thinks, and in a cell
  // while all that the program can do is wait for the caller.
  static bool StopsClock(std::string_view name, bool is_cell);

  // The answer for a function that the request does not have.
  static std::string NotGiven();

  // In a cell, replaces an empty answer, so that the session survives.
  static std::string Interrupted();

  // Limit for name and arguments together, and for answers.
  static size_t MaxCall(const core::Limits& limits);
  static size_t MaxAnswer(const core::Limits& limits);

 private:
  const host::Request& request_;
  const FunctionCall& call_;
};

}  // namespace belljar::run

#endif  // BELLJAR_ENGINE_RUN_FUNCTION_CALLS_H_
