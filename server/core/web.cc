#include "server/core/web.h"

#include <algorithm>
#include <boost/beast/http/status.hpp>
#include <nlohmann/json.hpp>

#include "engine/core/text.h"

namespace belljar::server {
namespace {

std::optional<std::string> DecodeForm(std::string_view text) {
  std::string spaced(text);
  std::replace(spaced.begin(), spaced.end(), '+', ' ');
  return DecodeUrlText(spaced);
}

}  // namespace

std::string_view NameOf(WebMethod method) {
  switch (method) {
    case WebMethod::kGet: return "GET";
    case WebMethod::kPost: return "POST";
    case WebMethod::kPut: return "PUT";
    case WebMethod::kPatch: return "PATCH";
    case WebMethod::kDelete: return "DELETE";
  }
  return "";
}

std::optional<std::string> DecodeUrlText(std::string_view text) {
  std::string decoded;
  decoded.reserve(text.size());
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '%') {
      decoded += text[at];
      continue;
    }
    const std::optional<std::string> byte = core::DecodeHex(text.substr(at + 1, 2));
    if (!byte || byte->empty()) return std::nullopt;
    decoded += *byte;
    at += 2;
  }
  if (core::HasControls(decoded)) return std::nullopt;
  return decoded;
}

core::Result<WebParameters> ParseQuery(std::string_view query) {
  WebParameters parameters;
  while (!query.empty()) {
    const size_t end = std::min(query.find('&'), query.size());
    const std::string_view part = query.substr(0, end);
    query.remove_prefix(std::min(end + 1, query.size()));
    if (part.empty()) continue;
    const size_t equals = std::min(part.find('='), part.size());
    std::optional<std::string> name = DecodeForm(part.substr(0, equals));
    std::optional<std::string> value = DecodeForm(part.substr(std::min(equals + 1, part.size())));
    if (!name || !value) {
      return core::MakeError("read the query",
                             core::Quoted(part) + " is not percent-encoded UTF-8");
    }
    const bool is_repeated = std::any_of(parameters.begin(), parameters.end(),
                                         [&](const auto& each) { return each.first == *name; });
    if (is_repeated) {
      return core::MakeError("read the query", core::Quoted(*name) + " occurs twice");
    }
    parameters.emplace_back(std::move(*name), std::move(*value));
  }
  return parameters;
}

bool HasItem(std::string_view list, std::string_view item) {
  return std::ranges::any_of(core::SplitAt(list, ','), [&](std::string_view each) {
    each.remove_prefix(std::min(each.find_first_not_of(' '), each.size()));
    return core::LowerCase(each.substr(0, each.find_first_of(" ;"))) == item;
  });
}

std::string RetryAfter(std::chrono::seconds wait) {
  return "Retry-After: " + std::to_string(wait.count()) + "\r\n";
}

WebAnswer Problem(unsigned status, std::string_view detail, std::string headers) {
  const auto title = boost::beast::http::obsolete_reason(boost::beast::http::int_to_status(status));
  const nlohmann::ordered_json problem = {{"type", "about:blank"},
                                          {"title", std::string(title.data(), title.size())},
                                          {"status", status},
                                          {"detail", core::ValidUtf8(detail)}};
  return {status, "application/problem+json", problem.dump(), std::move(headers)};
}

}  // namespace belljar::server
