// Fronts: the APIs of other services that an operator has enabled, and the tools that they call.
//
//   Fronts fronts({.tools = …, .piston = terms, …}, calls);
//   HttpServer::Listen(…, fronts.handlers());
#ifndef BELLJAR_SERVER_FRONTS_FRONTS_H_
#define BELLJAR_SERVER_FRONTS_FRONTS_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "server/calls/calls.h"
#include "server/calls/tool.h"
#include "server/core/web.h"
#include "server/fronts/program.h"
#include "server/fronts/submission_store.h"

namespace belljar::server::fronts {

class Fronts {
 public:
  struct Parts {
    // execute_code, which must answer in full detail, and, if there are sessions, open_session and
    // close_session; others are not used.
    std::vector<std::shared_ptr<Tool>> tools;
    // nullopt: not enabled.
    std::optional<FrontTerms> sandbox_fusion;
    std::optional<FrontTerms> piston;
    std::optional<FrontTerms> judge0;
    std::string version;
    std::string python_version;
    size_t queue = 0;  // maximum number of waiting calls
  };
  // `calls` is borrowed. Stop its queue before this is destroyed.
  Fronts(Parts parts, Calls& calls);

  std::vector<WebHandler*> handlers() const;

 private:
  const std::vector<std::shared_ptr<Tool>> tools_;
  MemorySubmissions submissions_;
  std::vector<std::unique_ptr<WebHandler>> handlers_;
};

}  // namespace belljar::server::fronts

#endif  // BELLJAR_SERVER_FRONTS_FRONTS_H_
