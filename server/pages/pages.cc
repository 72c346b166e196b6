#include "server/pages/pages.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "engine/core/text.h"
#include "server/pages/html.h"
#include "server/pages/reference.h"

namespace belljar::server::pages {
namespace {

WebAnswer PageAnswer(std::string document) {
  return {200, "text/html; charset=utf-8", std::move(document), PageHeaders()};
}

// A row of the front page: a path, and what is there.
void AddPath(Html& html, std::string_view path, std::string_view what) {
  html.Open("tr").Open("td").Link(path, path).Close().Put("td", what).Close();
}

}  // namespace

const std::vector<WebRoute>& Pages::routes() const {
  constexpr auto kLogin = WebRoute::Login::kBrowser;
  static const std::vector<WebRoute> kFront = {
      {WebMethod::kGet, "/", WebRoute::Body::kNone, {}, kLogin}};
  static const std::vector<WebRoute> kBoth = {
      kFront[0], {WebMethod::kGet, "/docs", WebRoute::Body::kNone, {}, kLogin}};
  return parts_.open_api.empty() ? kFront : kBoth;
}

void Pages::Handle(size_t route, WebRequest request, std::shared_ptr<WebReply> reply) {
  reply->Finish(PageAnswer(route == 0 ? Front(request.caller) : Reference()));
}

std::string Pages::Front(const Caller& caller) const {
  Html html("Belljar");
  html.Put("h1", "Belljar").Put("p", "This server runs untrusted Python programs in a sandbox.");
  html.Open("table");
  AddPath(html, "/mcp", "MCP over Streamable HTTP, for clients that POST");
  if (!parts_.open_api.empty()) {
    AddPath(html, "/docs", "the HTTP API at /v1, to read");
    AddPath(html, "/openapi.json", "the same as an OpenAPI document");
    AddPath(html, "/v1/info", "what programs may use here");
    AddPath(html, "/v1/limits", "limits");
    AddPath(html, "/v1/statistics", "the load");
  }
  if (parts_.has_events) AddPath(html, "/v1/events", "what happens, as server-sent events");
  for (const Api& api : parts_.compatible_apis) {
    html.Open("tr").Put("td", api.paths).Put("td", "the API of " + api.name).Close();
  }
  AddPath(html, "/metrics", "metrics for Prometheus");
  AddPath(html, "/healthz", "whether this server is alive");
  AddPath(html, "/readyz", "whether it is ready for calls");
  html.Close();
  const std::vector<std::string>& profiles = caller.profiles ? *caller.profiles : parts_.profiles;
  html.Open("p").Text("Belljar " + parts_.version + ", Python " + parts_.python_version);
  html.Text(". Profiles: " + core::Joined(profiles) + ". You are " + caller.name + ".").Close();
  return std::move(html).Finish();
}

const std::string& Pages::Reference() {
  std::call_once(made_, [this] {
    reference_ = ReferencePage(nlohmann::ordered_json::parse(parts_.open_api));
  });
  return reference_;
}

}  // namespace belljar::server::pages
