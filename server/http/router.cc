#include "server/http/router.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace belljar::server::http {
namespace {

using boost::beast::http::verb;

std::vector<std::string_view> SegmentsOf(std::string_view path) {
  std::vector<std::string_view> segments;
  while (path.starts_with('/')) {
    path.remove_prefix(1);
    const size_t end = std::min(path.find('/'), path.size());
    segments.push_back(path.substr(0, end));
    path.remove_prefix(end);
  }
  return segments;
}

bool IsPlaceholder(std::string_view segment) { return segment.starts_with('{'); }
bool TakesTheRest(std::string_view segment) { return segment.ends_with("*}"); }

// Whether the path matches; `parameters` gets what the placeholders matched.
bool Matches(const std::vector<std::string_view>& pattern,
             const std::vector<std::string_view>& path, std::vector<std::string>& parameters) {
  parameters.clear();
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (i >= path.size()) return false;
    if (!IsPlaceholder(pattern[i])) {
      if (pattern[i] != path[i]) return false;
      continue;
    }
    std::string_view text = path[i];
    const bool takes_the_rest = TakesTheRest(pattern[i]);
    if (takes_the_rest) {
      const std::string_view last = path.back();
      text = {text.data(), static_cast<size_t>(last.data() + last.size() - text.data())};
    }
    std::optional<std::string> decoded = DecodeUrlText(text);
    if (!decoded || decoded->empty()) return false;
    parameters.push_back(std::move(*decoded));
    if (takes_the_rest) return true;
  }
  return pattern.size() == path.size();
}

std::optional<WebMethod> MethodOf(verb method) {
  switch (method) {
    case verb::get:
    case verb::head: return WebMethod::kGet;
    case verb::post: return WebMethod::kPost;
    case verb::put: return WebMethod::kPut;
    case verb::patch: return WebMethod::kPatch;
    case verb::delete_: return WebMethod::kDelete;
    default: return std::nullopt;
  }
}

void AddMethod(std::string& allow, WebMethod method) {
  if (!allow.empty()) allow += ", ";
  allow += NameOf(method);
  if (method == WebMethod::kGet) allow += ", HEAD";
}

}  // namespace

Router::Router(const std::vector<WebHandler*>& handlers) {
  for (WebHandler* handler : handlers) {
    const std::vector<WebRoute>& routes = handler->routes();
    for (size_t i = 0; i < routes.size(); ++i) {
      entries_.push_back({handler, i, SegmentsOf(routes[i].pattern)});
    }
  }
  const auto placeholders = [](const Entry& entry) {
    const auto& segments = entry.segments;
    return std::tuple(!segments.empty() && TakesTheRest(segments.back()),
                      std::count_if(segments.begin(), segments.end(), IsPlaceholder));
  };
  std::stable_sort(entries_.begin(), entries_.end(), [&](const Entry& a, const Entry& b) {
    return placeholders(a) < placeholders(b);
  });
}

Router::Found Router::Find(verb method, std::string_view path) const {
  Found found;
  if (entries_.empty() || path.size() > kMaxPath) return found;
  const std::vector<std::string_view> segments = SegmentsOf(path);
  const std::optional<WebMethod> wanted = MethodOf(method);
  std::vector<std::string> parameters;
  for (const Entry& entry : entries_) {
    const WebRoute& route = entry.handler->routes()[entry.index];
    // Patterns for the same path are not necessarily adjacent: all are examined.
    if (!found.pattern.empty() && route.pattern != found.pattern) continue;
    if (!Matches(entry.segments, segments, parameters)) continue;
    found.pattern = route.pattern;
    found.login = route.login;
    if (route.method == wanted) {
      found.match = RouteMatch{entry.handler, entry.index, std::move(parameters)};
      return found;
    }
    AddMethod(found.allow, route.method);
  }
  return found;
}

}  // namespace belljar::server::http
