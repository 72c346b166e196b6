// FunctionCalls: the judge of calls of the request's functions, over whichever line they come: a
// worker's (worker_channel.h) or a container's (container/wire). Every byte of a call is hostile.
//
//   FunctionCalls calls(request, options.call);
//   if (!calls.MayBe(name_size, arguments_size)) …     as announced, before it has come
//   if (!calls.Has(name)) …                            as it has
//   std::string answer = calls.Answer(name, arguments);
#ifndef BELLJAR_ENGINE_OUTSIDE_FUNCTION_CALLS_H_
#define BELLJAR_ENGINE_OUTSIDE_FUNCTION_CALLS_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "engine/core/limits.h"
#include "engine/host/request.h"
#include "engine/outside/backend.h"

namespace belljar::outside {

class FunctionCalls {
 public:
  // Both are borrowed.
  FunctionCalls(const host::Request& request, const FunctionCall& call)
      : request_(request), call_(call) {}

  // Whether there is anything to call, and anybody who answers. What is only validated calls
  // nobody.
  bool any() const;
  bool MayBe(size_t name_size, size_t arguments_size) const;
  bool Has(std::string_view name) const;

  // Calls the function, on this thread. Precondition: Has(name). Empty: there is no answer, since
  // the run is being cancelled; the program is left waiting for its end.
  std::string Answer(std::string_view name, std::string_view arguments) const;

  // Of names and arguments together, and of answers.
  static size_t MaxCall(const core::Limits& limits);
  static size_t MaxAnswer(const core::Limits& limits);

 private:
  const host::Request& request_;
  const FunctionCall& call_;
};

}  // namespace belljar::outside

#endif  // BELLJAR_ENGINE_OUTSIDE_FUNCTION_CALLS_H_
