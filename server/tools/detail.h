// The argument `detail` of the tools: whether an answer is lean or has everything.
#ifndef BELLJAR_SERVER_TOOLS_DETAIL_H_
#define BELLJAR_SERVER_TOOLS_DETAIL_H_

#include <string>
#include <vector>

#include "server/core/config.h"
#include "server/tools/arguments.h"

namespace belljar::server::tools {

Parameter DetailParameter(const AnswersConfig& config, std::string description);

// Appends to `problems` if the argument is neither "lean" nor "full".
bool WantsFull(const AnswersConfig& config, const Arguments& arguments,
               std::vector<std::string>& problems);

}  // namespace belljar::server::tools

#endif  // BELLJAR_SERVER_TOOLS_DETAIL_H_
