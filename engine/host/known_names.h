// The names in an outcome that may be written where guests cannot write: the operator's log,
// metrics, audit log, events and traces. A program names the classes of its exceptions, and a
// hostile worker the rules of its findings; a name that is not on the list could be anything.
#ifndef BELLJAR_ENGINE_HOST_KNOWN_NAMES_H_
#define BELLJAR_ENGINE_HOST_KNOWN_NAMES_H_

#include <string_view>

namespace belljar::host {

// `type` if it is the class of an exception of CPython's builtins, or one of ours (error.type in
// docs/mcp.md); else "other". Does not point into `type`.
std::string_view KnownErrorType(std::string_view type);

// `rule` if it has the form of a rule of the language policy ("BJ201"); else "other".
std::string_view KnownRule(std::string_view rule);

}  // namespace belljar::host

#endif  // BELLJAR_ENGINE_HOST_KNOWN_NAMES_H_
