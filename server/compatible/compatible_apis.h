// CompatibleApis: the APIs of other services that an operator has enabled, with the tools that they
// call. Each is a folder, which translates requests to programs and reports to answers.
//
//   CompatibleApis apis(tools, calls, {.version = …, …});
//   apis.Add<piston::Piston>(terms);
//   HttpServer::Listen(…, apis.handlers());
#ifndef BELLJAR_SERVER_COMPATIBLE_COMPATIBLE_APIS_H_
#define BELLJAR_SERVER_COMPATIBLE_COMPATIBLE_APIS_H_

#include <memory>
#include <utility>
#include <vector>

#include "server/calls/calls.h"
#include "server/calls/tool.h"
#include "server/compatible/api_terms.h"
#include "server/core/web.h"

namespace belljar::server::compatible {

class CompatibleApis {
 public:
  // `tools`: execute_code, and if there are sessions open_session and close_session; others are not
  // used. `calls` is borrowed. Stop its queue before this is destroyed.
  CompatibleApis(std::vector<std::shared_ptr<Tool>> tools, Calls& calls, About about);

  // `Api` is a WebHandler.
  template <typename Api>
  void Add(const ApiTerms& terms) {
    handlers_.push_back(std::make_unique<Api>(calls_, api_tools_, terms, about_));
  }
  std::vector<WebHandler*> handlers() const;

 private:
  const std::vector<std::shared_ptr<Tool>> tools_;
  const ApiTools api_tools_;
  Calls& calls_;
  const About about_;
  std::vector<std::unique_ptr<WebHandler>> handlers_;
};

}  // namespace belljar::server::compatible

#endif  // BELLJAR_SERVER_COMPATIBLE_COMPATIBLE_APIS_H_
