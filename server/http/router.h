// Router: finds the route of a request among those of all web handlers. Constant after
// construction; any thread.
#ifndef BELLJAR_SERVER_HTTP_ROUTER_H_
#define BELLJAR_SERVER_HTTP_ROUTER_H_

#include <boost/beast/http/verb.hpp>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/core/web.h"

namespace belljar::server::http {

// Maximum length of a path; longer ones match nothing.
constexpr size_t kMaxPath = 4096;

struct RouteMatch {
  WebHandler* handler = nullptr;
  size_t index = 0;  // into handler->routes()
  std::vector<std::string> parameters;

  const WebRoute& route() const { return handler->routes()[index]; }
};

class Router {
 public:
  Router() = default;
  // The handlers must outlive this object. If two patterns match a path, literal segments win.
  explicit Router(const std::vector<WebHandler*>& handlers);

  struct Found {
    std::optional<RouteMatch> match;
    // Without a match: the methods allowed for this path, "GET, HEAD, POST"; empty: no such path.
    std::string allow;
    // The pattern of the path, for logs; empty: no such path.
    std::string_view pattern;
    WebRoute::Login login = WebRoute::Login::kDefault;  // of the path
  };
  bool empty() const { return entries_.empty(); }
  Found Find(boost::beast::http::verb method, std::string_view path) const;

 private:
  struct Entry {
    WebHandler* handler;
    size_t index;
    std::vector<std::string_view> segments;  // of its pattern
  };
  std::vector<Entry> entries_;
};

}  // namespace belljar::server::http

#endif  // BELLJAR_SERVER_HTTP_ROUTER_H_
