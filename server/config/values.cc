#include "server/config/values.h"

#include <arpa/inet.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "engine/core/text.h"
#include "engine/egress/egress_rules.h"
#include "engine/host/number.h"

namespace belljar::server::config {
namespace {

constexpr char kListenHint[] =
    "write ADDRESS:PORT, such as 127.0.0.1:9015 or [::1]:9015, or off for stdio";

bool IsGraphic(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7f; });
}

// Empty: not an address.
std::string CanonicalAddress(std::string_view text) {
  const std::string address(text);
  unsigned char bytes[16];
  char canonical[INET6_ADDRSTRLEN];
  for (const int family : {AF_INET, AF_INET6}) {
    if (inet_pton(family, address.c_str(), bytes) != 1) continue;
    return inet_ntop(family, bytes, canonical, sizeof canonical) ? canonical : "";
  }
  return "";
}

// Splits at the colon before the port, which an IPv6 address keeps in brackets.
core::Result<ListenAddress> ParseAddressAndPort(std::string_view text) {
  const core::Error malformed = core::MakeError("", kListenHint);
  const HttpConfig defaults;
  ListenAddress listen{defaults.address, defaults.port};
  if (const auto port = host::NumberFrom<uint16_t>(text)) {
    listen.port = *port;
    return listen;
  }
  std::string_view host = text;
  std::string_view port;
  if (text.starts_with('[')) {
    const size_t close = text.find(']');
    if (close == std::string_view::npos) return malformed;
    host = text.substr(1, close - 1);
    port = text.substr(close + 1);
    if (host.find(':') == std::string_view::npos) return malformed;
  } else if (const size_t colon = text.find(':'); colon != std::string_view::npos) {
    host = text.substr(0, colon);
    port = text.substr(colon);
  }
  if (!port.empty()) {
    const auto number = host::NumberFrom<uint16_t>(port.substr(1));
    if (port[0] != ':' || !number) return malformed;
    listen.port = *number;
  }
  if (host == "localhost") return listen;
  listen.address = CanonicalAddress(host);
  if (listen.address.empty())
    return core::MakeError("", std::string(kListenHint) + "; names are not looked up");
  return listen;
}

}  // namespace

bool IsPlainText(std::string_view text) { return core::Printable(text) == text; }

std::string PathViolation(std::string_view path) {
  return path.empty() ? "write a name or a path" : "";
}

std::string JobStoreViolation(std::string_view store) {
  if (store.empty()) return "write a path, or a postgresql:// URL";
  const size_t scheme = store.find("://");
  if (scheme == store.npos) return "";
  const bool is_postgres = store.starts_with("postgresql://") || store.starts_with("postgres://");
  if (!is_postgres) return "write a path, or a postgresql:// URL";
  // The value is displayed, so it must not contain a password.
  const std::string_view authority =
      store.substr(scheme + 3, store.find('/', scheme + 3) - scheme - 3);
  const size_t at = authority.rfind('@');
  const bool has_password =
      (at != authority.npos && authority.substr(0, at).find(':') != authority.npos) ||
      store.find("password=") != store.npos;
  return has_password
             ? "do not put a password into this setting, which is displayed: put it into the "
               "variable PGPASSWORD or the file ~/.pgpass"
             : "";
}

std::string ImageViolation(std::string_view image) {
  // It becomes an argument of a container engine, so it must not look like an option.
  const bool is_image = !image.empty() && IsGraphic(image) && image[0] != '-';
  return is_image ? "" : "write the name of an image, such as registry.example.com/belljar:1";
}

std::string IndexViolation(std::string_view index) {
  const bool is_web = index.starts_with("https://") || index.starts_with("http://");
  if (!is_web || !IsGraphic(index) || index.find_first_of("?#\\") != index.npos) {
    return "write a URL as for pip, such as https://index.example.org/simple";
  }
  // Settings are displayed, so they must not contain credentials.
  return index.find('@') == index.npos
             ? ""
             : "put a user name and password into PIP_INDEX_URL, or for npm "
               "NPM_CONFIG_REGISTRY, instead";
}

std::string PackageViolation(std::string_view pattern) {
  std::string_view name = pattern;
  if (name.ends_with('*')) name.remove_suffix(1);
  const bool is_npm = name.starts_with("npm:");
  if (is_npm) name.remove_prefix(4);
  const auto is_of_names = [&](unsigned char c) {
    return c < 0x80 && (std::isalnum(c) || c == '-' || c == '_' || c == '.' ||
                        (is_npm && (c == '@' || c == '/')));
  };
  const bool is_pattern = !pattern.empty() && std::all_of(name.begin(), name.end(), is_of_names);
  return is_pattern ? "" : "write the name of a package, or its beginning and *: google-*";
}

std::string HostViolation(std::string_view host) {
  if (host == "*") return "";
  const bool is_host = !host.empty() && IsGraphic(host) &&
                       host.find_first_of("/*?#@,\"\\") == std::string_view::npos;
  return is_host ? "" : "write a host as in the Host header, such as belljar.example.com, or *";
}

std::string OriginViolation(std::string_view origin) {
  if (origin == "*") return "";
  const size_t scheme = origin.find("://");
  const bool is_origin = scheme != std::string_view::npos && scheme > 0 && IsGraphic(origin) &&
                         HostViolation(origin.substr(scheme + 3)).empty() &&
                         origin.substr(scheme + 3) != "*";
  return is_origin ? ""
                   : "write scheme and host without a path, such as https://app.example.com, or *";
}

std::string DomainViolation(std::string_view domain) {
  const core::Result<egress::HostPattern> pattern = egress::HostPattern::Parse(domain);
  return pattern ? "" : pattern.error().detail;
}

std::string PrivateViolation(std::string_view network) {
  const core::Result<egress::AddressBlock> block =
      egress::AddressBlock::Parse(std::string(network));
  return block ? "" : block.error().detail;
}

std::string ResolveViolation(std::string_view name_and_address) {
  host::NetworkPolicy policy;
  policy.resolve = {std::string(name_and_address)};
  const core::Result<egress::EgressRules> rules = egress::EgressRules::Make(policy);
  return rules ? "" : rules.error().detail;
}

core::Result<std::optional<ListenAddress>> ParseListenAddress(std::string_view text) {
  if (text == "off") return std::optional<ListenAddress>();
  core::Result<ListenAddress> listen = ParseAddressAndPort(text);
  if (!listen) return listen.error();
  return std::optional<ListenAddress>(std::move(*listen));
}

std::string FormatListenAddress(const ListenAddress& listen) {
  const bool is_v6 = listen.address.find(':') != std::string::npos;
  return (is_v6 ? "[" + listen.address + "]" : listen.address) + ":" + std::to_string(listen.port);
}

bool IsLoopback(const ListenAddress& listen) {
  // Everything else, even ::ffff:127.0.0.1, counts as reachable, which only requires a token.
  return listen.address.starts_with("127.") || listen.address == "::1";
}

std::string TextLiteral(const std::string& text) { return nlohmann::json(text).dump(); }

std::string ListLiteral(const std::vector<std::string>& texts) {
  std::string list;
  for (const std::string& text : texts) list += (list.empty() ? "" : ", ") + TextLiteral(text);
  return "[" + list + "]";
}

std::string FormatNumber(double number) {
  // The first that reads back the same. Not std::to_chars, whose tables are 55 kB of a wheel.
  char text[64];
  for (int digits = 0; std::isfinite(number); ++digits) {
    const int size = snprintf(text, sizeof text, "%.*f", digits, number);
    if (size < 0 || static_cast<size_t>(size) >= sizeof text) break;
    double read = 0;
    (void)std::from_chars(text, text + size, read);
    if (read == number) return {text, static_cast<size_t>(size)};
  }
  return "inf";
}

}  // namespace belljar::server::config
