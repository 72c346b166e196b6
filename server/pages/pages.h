// Pages: what a person sees who opens this server in a browser: GET /, which says what is here, and
// GET /docs, the reference of the HTTP API. `belljar serve` runs it; it trusts the configuration,
// and what it shows of anything is escaped.
//
//   Pages pages({.version = …, .open_api = rest.open_api()});
//   HttpServer::Listen(…, {&pages, …});
#ifndef BELLJAR_SERVER_PAGES_PAGES_H_
#define BELLJAR_SERVER_PAGES_PAGES_H_

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "server/core/web.h"

namespace belljar::server::pages {

class Pages final : public WebHandler {
 public:
  struct Api {
    std::string name;   // "Judge0"
    std::string paths;  // "POST /submissions"
  };
  struct Parts {
    std::string version;
    std::string python_version;
    std::vector<std::string> profiles;
    std::string open_api;  // the OpenAPI document; empty: there is no HTTP API
    std::vector<Api> compatible_apis;
    bool has_events = false;
  };
  explicit Pages(Parts parts) : parts_(std::move(parts)) {}

  const std::vector<WebRoute>& routes() const override;
  void Handle(size_t route, WebRequest request, std::shared_ptr<WebReply> reply) override;

 private:
  std::string Front(const Caller& caller) const;
  const std::string& Reference();

  const Parts parts_;
  std::once_flag made_;
  std::string reference_;  // made at the first request
};

}  // namespace belljar::server::pages

#endif  // BELLJAR_SERVER_PAGES_PAGES_H_
