#include "engine/egress/host_name.h"

#include <algorithm>
#include <utility>

#include "engine/core/text.h"
#include "engine/host/number.h"

namespace belljar::egress {
namespace {

namespace ip = boost::asio::ip;

// RFC 1035, 2.3.4: without the root's dot.
constexpr size_t kMaxName = 253;
constexpr size_t kMaxLabel = 63;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLetter(char c) { return c >= 'a' && c <= 'z'; }

// Letters, digits and hyphens, and underscores, which many names contain.
bool IsLabel(std::string_view label) {
  if (label.empty() || label.size() > kMaxLabel) return false;
  if (label.front() == '-' || label.back() == '-') return false;
  return std::all_of(label.begin(), label.end(),
                     [](char c) { return IsLetter(c) || IsDigit(c) || c == '-' || c == '_'; });
}

// getaddrinfo and many libraries parse such a name as an IPv4 address in the forms of inet_aton:
// with fewer parts, in octal, in hexadecimal. (The URL standard, "ends in a number".)
bool EndsInNumber(std::string_view name) {
  std::string_view last = name.substr(name.rfind('.') + 1);
  if (last.starts_with("0x")) return true;
  return std::all_of(last.begin(), last.end(), IsDigit);
}

bool IsDomain(std::string_view name) {
  if (name.empty() || name.size() > kMaxName || EndsInNumber(name)) return false;
  for (size_t start = 0; start <= name.size();) {
    const size_t end = std::min(name.find('.', start), name.size());
    if (!IsLabel(name.substr(start, end - start))) return false;
    start = end + 1;
  }
  return true;
}

std::optional<ip::address> ParseAddress(const std::string& text) {
  // Asio's parser accepts zones; a guest has no interface to name.
  if (text.find('%') != text.npos) return std::nullopt;
  boost::system::error_code error;
  const ip::address address = ip::make_address(text, error);
  if (error) return std::nullopt;
  return Unmapped(address);
}

}  // namespace

std::optional<HostName> HostName::Parse(std::string_view text) {
  std::string name = core::LowerCase(text);
  if (name.find(':') != name.npos) {
    if (name.starts_with('[') && name.ends_with(']')) name = name.substr(1, name.size() - 2);
    const std::optional<ip::address> address = ParseAddress(name);
    if (!address) return std::nullopt;
    return HostName{address->to_string(), address};
  }
  if (name.ends_with('.')) name.pop_back();
  // Uses inet_pton, which accepts four decimal parts and nothing else.
  if (const std::optional<ip::address> address = ParseAddress(name)) {
    return HostName{address->to_string(), address};
  }
  if (!IsDomain(name)) return std::nullopt;
  return HostName{std::move(name), std::nullopt};
}

std::string Bracketed(const HostName& host) {
  const bool is_v6 = host.address && host.address->is_v6();
  return is_v6 ? "[" + host.text + "]" : host.text;
}

std::optional<uint16_t> ParsePort(std::string_view text) {
  const auto port = host::NumberFrom<uint16_t>(text);
  return port == 0 ? std::nullopt : port;
}

std::optional<Authority> SplitAuthority(std::string_view text) {
  size_t colon = text.find(':');
  if (text.starts_with('[')) {
    const size_t close = text.find(']');
    if (close == text.npos) return std::nullopt;
    if (close + 1 < text.size() && text[close + 1] != ':') return std::nullopt;
    colon = close + 1 < text.size() ? close + 1 : text.npos;
  } else if (colon != text.npos && text.find(':', colon + 1) != text.npos) {
    return std::nullopt;
  }
  if (colon == text.npos) return Authority{text, std::nullopt};
  return Authority{text.substr(0, colon), text.substr(colon + 1)};
}

ip::address Unmapped(const ip::address& address) {
  if (!address.is_v6() || !address.to_v6().is_v4_mapped()) return address;
  return ip::make_address_v4(ip::v4_mapped, address.to_v6());
}

}  // namespace belljar::egress
