#include "server/http/host_check.h"

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <boost/beast/core/string.hpp>
#include <utility>

namespace belljar::server::http {
namespace {

using boost::asio::ip::make_address_v4;
using boost::asio::ip::make_address_v6;

bool EqualNames(std::string_view a, std::string_view b) {
  return boost::beast::iequals({a.data(), a.size()}, {b.data(), b.size()});
}

bool IsHostCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_';
}

bool IsPort(std::string_view port) {
  return port.size() <= 5 &&
         std::all_of(port.begin(), port.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// An IPv6 address as it appears in Host headers.
std::string Bracketed(std::string_view address) {
  std::string text(address);
  if (text.find(':') == std::string::npos || text.front() == '[') return text;
  return "[" + text + "]";
}

}  // namespace

std::optional<std::string_view> HostWithoutPort(std::string_view host) {
  size_t end = 0;
  if (host.starts_with('[')) {
    end = host.find(']');
    if (end == std::string_view::npos) return std::nullopt;
    boost::system::error_code error;
    make_address_v6(std::string(host.substr(1, end - 1)), error);
    if (error) return std::nullopt;
    ++end;
  } else {
    while (end < host.size() && IsHostCharacter(host[end])) ++end;
    if (end == 0) return std::nullopt;
  }
  std::string_view rest = host.substr(end);
  if (!rest.empty() && (rest.front() != ':' || !IsPort(rest.substr(1)))) return std::nullopt;
  return host.substr(0, end);
}

bool IsLoopbackHost(std::string_view host) {
  if (EqualNames(host, "localhost")) return true;
  boost::system::error_code error;
  if (host.starts_with('[') && host.ends_with(']')) {
    auto address = make_address_v6(std::string(host.substr(1, host.size() - 2)), error);
    return !error && address.is_loopback();
  }
  auto address = make_address_v4(std::string(host), error);
  return !error && address.is_loopback();
}

HostRules::HostRules(std::string_view address, std::vector<std::string> hosts,
                     std::vector<std::string> origins)
    : address_(Bracketed(address)), hosts_(std::move(hosts)), origins_(std::move(origins)) {
  for (std::string& host : hosts_) {
    if (std::count(host.begin(), host.end(), ':') > 1) host = Bracketed(host);
  }
}

bool HostRules::AllowsHost(std::string_view host) const {
  std::optional<std::string_view> name = HostWithoutPort(host);
  if (!name) return false;
  if (IsLoopbackHost(*name) || EqualNames(*name, address_)) return true;
  return std::any_of(hosts_.begin(), hosts_.end(), [&](const std::string& allowed) {
    return allowed == "*" || EqualNames(allowed, *name) || EqualNames(allowed, host);
  });
}

HostRules::Origin HostRules::CheckOrigin(std::string_view origin) const {
  size_t scheme_end = origin.find("://");
  // This includes "null": any page can get that origin from a sandboxed frame.
  if (scheme_end == std::string_view::npos || scheme_end == 0) return Origin::kRefused;
  std::string_view scheme = origin.substr(0, scheme_end);
  if (!std::all_of(scheme.begin(), scheme.end(),
                   [](char c) { return IsHostCharacter(c) || c == '+'; })) {
    return Origin::kRefused;
  }
  std::optional<std::string_view> name = HostWithoutPort(origin.substr(scheme_end + 3));
  if (!name) return Origin::kRefused;
  for (const std::string& allowed : origins_) {
    if (allowed == "*" || EqualNames(allowed, origin)) return Origin::kNamed;
  }
  bool is_web = EqualNames(scheme, "http") || EqualNames(scheme, "https");
  return is_web && IsLoopbackHost(*name) ? Origin::kAllowed : Origin::kRefused;
}

}  // namespace belljar::server::http
