// "did you mean" suggestions for error messages: the nearest of a list of names.
#ifndef BELLJAR_ENGINE_HOST_SUGGEST_H_
#define BELLJAR_ENGINE_HOST_SUGGEST_H_

#include <string>
#include <string_view>
#include <vector>

namespace belljar::host {

// "; did you mean \"memory\"?", or empty if nothing is close. Can be appended to a message.
std::string Suggestion(std::string_view name, const std::vector<std::string>& known);

}  // namespace belljar::host

#endif  // BELLJAR_ENGINE_HOST_SUGGEST_H_
