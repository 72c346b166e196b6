#include "engine/egress/allow_list.h"

#include <algorithm>
#include <utility>

#include "engine/core/text.h"

namespace belljar::egress {
namespace {

using Scope = HostPattern::Scope;
using Ports = HostPattern::Ports;

constexpr uint16_t kHttpPort = 80;
constexpr uint16_t kHttpsPort = 443;

bool IsBelow(std::string_view name, std::string_view parent) {
  return name.size() > parent.size() + 1 && name.ends_with(parent) &&
         name[name.size() - parent.size() - 1] == '.';
}

core::Error InvalidEntry(std::string detail) { return core::MakeError("", std::move(detail)); }

// "2001:db8::1" without brackets is an address without a port.
Authority Split(std::string_view text) {
  const std::optional<Authority> authority = SplitAuthority(text);
  return authority ? *authority : Authority{text, std::nullopt};
}

core::Result<void> ReadPorts(std::string_view text, HostPattern& pattern) {
  if (text == "*") {
    pattern.ports = Ports::kAll;
    return {};
  }
  const std::optional<uint16_t> port = ParsePort(text);
  if (!port) return InvalidEntry("write a port from 1 to 65535 after the colon, or * for all");
  pattern.ports = Ports::kOne;
  pattern.port = *port;
  return {};
}

}  // namespace

core::Result<HostPattern> HostPattern::Parse(std::string_view text) {
  HostPattern pattern;
  if (text.find('/') != std::string_view::npos) {
    return InvalidEntry("write the host alone: no https://, no path, no block of addresses");
  }
  const Authority authority = Split(text);
  std::string_view name = authority.host;
  if (authority.port) {
    if (core::Result<void> read = ReadPorts(*authority.port, pattern); !read) return read.error();
  }
  if (name == "*") {
    pattern.scope = Scope::kAnyName;
    return pattern;
  }
  if (name.starts_with("*.")) {
    pattern.scope = Scope::kBelow;
    name.remove_prefix(2);
  }
  std::optional<HostName> host = HostName::Parse(name);
  if (!host || (host->address && pattern.scope == Scope::kBelow)) {
    return InvalidEntry(
        "write a host such as example.org, *.example.org, example.org:8443 or 192.0.2.7, and "
        "names outside ASCII in their xn-- form");
  }
  pattern.host = std::move(*host);
  return pattern;
}

bool HostPattern::Matches(const HostName& name) const {
  switch (scope) {
    // A name does not match an address, even if it resolves to it, and vice versa.
    case Scope::kExact: return name.text == host.text && name.address == host.address;
    case Scope::kBelow: return !name.address && IsBelow(name.text, host.text);
    case Scope::kAnyName: return !name.address;
  }
  return false;
}

bool HostPattern::Matches(uint16_t requested) const {
  switch (ports) {
    case Ports::kWeb: return requested == kHttpPort || requested == kHttpsPort;
    case Ports::kOne: return requested == port;
    case Ports::kAll: return true;
  }
  return false;
}

bool HostPattern::Covers(const HostPattern& narrower) const {
  if (narrower.ports == Ports::kAll && ports != Ports::kAll) return false;
  if (narrower.ports == Ports::kOne && !Matches(narrower.port)) return false;
  if (narrower.ports == Ports::kWeb && !Matches(kHttpPort) && !Matches(kHttpsPort)) return false;
  switch (narrower.scope) {
    case Scope::kExact: return Matches(narrower.host);
    case Scope::kBelow:
      return scope == Scope::kAnyName ||
             (scope == Scope::kBelow &&
              (narrower.host.text == host.text || IsBelow(narrower.host.text, host.text)));
    case Scope::kAnyName: return scope == Scope::kAnyName;
  }
  return false;
}

core::Result<AllowList> AllowList::Parse(const std::vector<std::string>& entries) {
  AllowList list;
  for (const std::string& entry : entries) {
    core::Result<HostPattern> pattern = HostPattern::Parse(entry);
    if (!pattern)
      return core::MakeError("allowed domain " + core::Quoted(entry), pattern.error().detail);
    list.entries_.push_back({entry, std::move(*pattern)});
  }
  return list;
}

bool AllowList::Allows(const HostName& host, uint16_t port) const {
  return std::any_of(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    return entry.pattern.Matches(host) && entry.pattern.Matches(port);
  });
}

std::string AllowList::Text() const {
  constexpr size_t kMaxShown = 5;
  std::string text;
  for (size_t i = 0; i < std::min(kMaxShown, entries_.size()); ++i) {
    text += (text.empty() ? "" : ", ") + entries_[i].text;
  }
  if (entries_.size() > kMaxShown) {
    text += " and " + std::to_string(entries_.size() - kMaxShown) + " more";
  }
  return text.empty() ? "none" : text;
}

std::optional<std::string> AllowList::NotCovered(const AllowList& narrower) const {
  for (const Entry& wanted : narrower.entries_) {
    const bool covered = std::any_of(entries_.begin(), entries_.end(), [&](const Entry& entry) {
      return entry.pattern.Covers(wanted.pattern);
    });
    if (!covered) return wanted.text;
  }
  return std::nullopt;
}

}  // namespace belljar::egress
