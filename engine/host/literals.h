// Plain data as source of another language than Python: the variables that a program is given, and
// the values that pass between the kernels of a session. A language's file says how
// (core::ValueForms).
#ifndef BELLJAR_ENGINE_HOST_LITERALS_H_
#define BELLJAR_ENGINE_HOST_LITERALS_H_

#include <string>
#include <string_view>
#include <vector>

#include "engine/core/profile.h"
#include "engine/core/result.h"
#include "engine/host/request.h"

namespace belljar::host {

// Statements that set the variables, all in one line, so that a program after them keeps the
// numbers of its lines. An error is the caller's: a value that has no form in this language.
// Precondition: names are checked, and the values are JSON.
core::Result<std::string> Assignments(const std::vector<InputVariable>& variables,
                                      const core::ValueForms& forms);

// The source whose value is a list with that of the variable.
std::string Reading(std::string_view name, const core::ValueForms& forms);

}  // namespace belljar::host

#endif  // BELLJAR_ENGINE_HOST_LITERALS_H_
