#include "engine/egress/address_policy.h"

#include <ifaddrs.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>

#include "engine/core/text.h"
#include "engine/egress/host_name.h"
#include "engine/host/number.h"

namespace belljar::egress {
namespace {

namespace ip = boost::asio::ip;
using Bits = ip::address_v6::bytes_type;

constexpr unsigned kMappedPrefix = 96;

Bits BitsOf(const ip::address& address) {
  if (address.is_v6()) return address.to_v6().to_bytes();
  return ip::make_address_v6(ip::v4_mapped, address.to_v4()).to_bytes();
}

struct Special {
  const char* block;
  const char* what;
};

// IANA IPv4 Special-Purpose Address Registry, all blocks that are not globally reachable; multicast
// by RFC 5771. 192.88.99.0/24 is the relay of 6to4 (RFC 7526), whose other end is unknown.
constexpr Special kSpecialV4[] = {
    {"0.0.0.0/8", "this network (RFC 791): most systems treat it as their own"},
    {"10.0.0.0/8", "private (RFC 1918)"},
    {"100.64.0.0/10", "shared by a provider's customers (RFC 6598)"},
    {"127.0.0.0/8", "loopback (RFC 1122)"},
    {"169.254.0.0/16", "link-local (RFC 3927), where clouds serve metadata"},
    {"172.16.0.0/12", "private (RFC 1918)"},
    {"192.0.0.0/24", "for protocols (RFC 6890)"},
    {"192.0.2.0/24", "for documentation (RFC 5737)"},
    {"192.88.99.0/24", "a relay of 6to4 (RFC 7526)"},
    {"192.168.0.0/16", "private (RFC 1918)"},
    {"198.18.0.0/15", "for benchmarks (RFC 2544)"},
    {"198.51.100.0/24", "for documentation (RFC 5737)"},
    {"203.0.113.0/24", "for documentation (RFC 5737)"},
    {"224.0.0.0/4", "multicast (RFC 5771)"},
    {"240.0.0.0/4", "reserved, or broadcast (RFC 1112)"},
    // Azure's metadata and health service uses this public address, reachable only from inside.
    {"168.63.129.16/32", "a cloud's own service"},
};

// IANA IPv6 Special-Purpose Address Registry. Outside 2000::/3 nothing is global unicast (RFC
// 4291), except the well-known prefix of NAT64, which is judged by the IPv4 address in it.
constexpr Special kSpecialV6[] = {
    {"::/128", "unspecified (RFC 4291)"},
    {"::1/128", "loopback (RFC 4291)"},
    {"::/96", "compatible with IPv4, deprecated (RFC 4291)"},
    {"64:ff9b:1::/48", "a translator's own network (RFC 8215)"},
    {"100::/64", "discarded (RFC 6666)"},
    {"2001::/23", "for protocols, Teredo among them (RFC 2928, RFC 4380)"},
    {"2001:db8::/32", "for documentation (RFC 3849)"},
    {"2002::/16", "6to4, deprecated (RFC 7526)"},
    {"3fff::/20", "for documentation (RFC 9637)"},
    {"5f00::/16", "for segment routing (RFC 9602)"},
    {"fc00::/7", "private (RFC 4193); clouds serve metadata there"},
    {"fe80::/10", "link-local (RFC 4291)"},
    {"fec0::/10", "site-local, deprecated (RFC 3879)"},
    {"ff00::/8", "multicast (RFC 4291)"},
};
constexpr char kGlobalUnicast[] = "2000::/3";
constexpr char kNat64[] = "64:ff9b::/96";  // RFC 6052

struct SpecialBlock {
  AddressBlock block;
  const char* what;
};

// Only for this file's own tables, which are valid.
AddressBlock Block(const char* text) { return *AddressBlock::Parse(text); }

template <size_t N>
std::vector<SpecialBlock> Blocks(const Special (&table)[N]) {
  std::vector<SpecialBlock> blocks;
  for (const Special& special : table) blocks.push_back({Block(special.block), special.what});
  return blocks;
}

std::string SpecialUse(const ip::address& address) {
  static const std::vector<SpecialBlock> v4 = Blocks(kSpecialV4);
  static const std::vector<SpecialBlock> v6 = Blocks(kSpecialV6);
  static const AddressBlock global = Block(kGlobalUnicast);
  static const AddressBlock nat64 = Block(kNat64);
  for (const SpecialBlock& special : address.is_v4() ? v4 : v6) {
    if (special.block.Contains(address)) return special.what;
  }
  if (address.is_v4() || global.Contains(address)) return "";
  if (!nat64.Contains(address)) return "not global unicast (RFC 4291)";
  const Bits bits = address.to_v6().to_bytes();
  const std::string inner = SpecialUse(ip::address_v4({bits[12], bits[13], bits[14], bits[15]}));
  return inner.empty() ? "" : "a translator's name for one that is " + inner;
}

std::optional<ip::address> AddressOf(const sockaddr* socket_address) {
  if (!socket_address) return std::nullopt;
  if (socket_address->sa_family == AF_INET) {
    sockaddr_in v4;
    memcpy(&v4, socket_address, sizeof v4);
    return ip::address_v4(ntohl(v4.sin_addr.s_addr));
  }
  if (socket_address->sa_family != AF_INET6) return std::nullopt;
  sockaddr_in6 v6;
  memcpy(&v6, socket_address, sizeof v6);
  Bits bits;
  memcpy(bits.data(), &v6.sin6_addr, bits.size());
  return ip::address_v6(bits);
}

// A connection to one of the machine's own public addresses does not leave it: it bypasses
// firewalls, and services may trust local callers. Checked each time, since addresses change. If
// they cannot be listed, every address is treated as the machine's own.
bool IsOfThisMachine(const ip::address& address) {
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return true;
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(list, freeifaddrs);
  for (const ifaddrs* item = list; item; item = item->ifa_next) {
    if (AddressOf(item->ifa_addr) == address) return true;
  }
  return false;
}

}  // namespace

core::Result<AddressBlock> AddressBlock::Parse(const std::string& text) {
  const core::Error malformed =
      core::MakeError("", "write an address or a block, such as 10.1.2.3 or 10.0.0.0/8");
  const size_t slash = text.find('/');
  const std::optional<HostName> host = HostName::Parse(text.substr(0, slash));
  if (!host || !host->address) return malformed;
  const bool is_v4 = host->address->is_v4();
  unsigned length = is_v4 ? 32 : 128;
  if (slash != text.npos) {
    const auto given = host::NumberFrom<unsigned>(std::string_view(text).substr(slash + 1));
    if (!given || *given > length) return malformed;
    length = *given;
  }
  AddressBlock block{BitsOf(*host->address), is_v4 ? kMappedPrefix + length : length};
  // Bits after the prefix are probably a mistake: 10.1.2.3/8 may mean less than it allows.
  for (unsigned bit = block.prefix; bit < 128; ++bit) {
    if (block.bits[bit / 8] & (0x80 >> bit % 8)) {
      return core::MakeError("",
                             "it has bits after its prefix: write the first address of the block");
    }
  }
  return block;
}

bool AddressBlock::Contains(const ip::address& address) const {
  // "::/0" means all of IPv6, but not IPv4 in its mapped form.
  if (address.is_v4() && prefix < kMappedPrefix) return false;
  const Bits other = BitsOf(address);
  const unsigned whole = prefix / 8;
  if (!std::equal(bits.begin(), bits.begin() + whole, other.begin())) return false;
  if (prefix % 8 == 0) return true;
  const auto mask = static_cast<unsigned char>(0xff << (8 - prefix % 8));
  return (bits[whole] & mask) == (other[whole] & mask);
}

core::Result<AddressPolicy> AddressPolicy::Make(const std::vector<std::string>& allowed) {
  AddressPolicy policy;
  for (const std::string& entry : allowed) {
    core::Result<AddressBlock> block = AddressBlock::Parse(entry);
    if (!block)
      return core::MakeError("private address " + core::Quoted(entry), block.error().detail);
    policy.allowed_.push_back(*block);
  }
  return policy;
}

std::string AddressPolicy::Violation(const ip::address& written) const {
  const ip::address address = Unmapped(written);
  const bool excepted =
      std::any_of(allowed_.begin(), allowed_.end(),
                  [&](const AddressBlock& block) { return block.Contains(address); });
  if (excepted) return "";
  std::string use = SpecialUse(address);
  if (!use.empty()) return "is " + use;
  if (IsOfThisMachine(address)) return "is an address of this machine";
  return "";
}

}  // namespace belljar::egress
