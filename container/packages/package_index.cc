#include "container/packages/package_index.h"

#include <algorithm>

#include "engine/core/text.h"
#include "engine/egress/egress_rules.h"

namespace belljar::container::packages {
namespace {

constexpr size_t kMaxIndexAddress = 2048;

core::Error InvalidIndex(const std::string& shown, const std::string& what) {
  return core::MakeError("package index" + (shown.empty() ? "" : " " + core::Quoted(shown)),
                         what + "; write an address as for pip: https://index.example.org/simple");
}

}  // namespace

core::Result<PackageIndex> PackageIndex::Parse(const PackageSource& source) {
  PackageIndex index;
  index.address_ = source.index;
  if (source.index.empty()) {
    return InvalidIndex("", "no index is set, and there is no default");
  }
  // Not in any message before it is parsed: it may contain a password.
  const std::string_view address = source.index;
  const bool is_plain = address.starts_with("http://");
  if (!is_plain && !address.starts_with("https://")) {
    return InvalidIndex("", "it begins neither with https:// nor with http://");
  }
  const bool is_visible = std::all_of(address.begin(), address.end(),
                                      [](char c) { return c > ' ' && c < '\x7f' && c != '\\'; });
  if (!is_visible || address.size() > kMaxIndexAddress) {
    return InvalidIndex("", "it is not a valid address");
  }
  if (address.find_first_of("?#") != address.npos) {
    return InvalidIndex("", "it has a query or a fragment");
  }
  const size_t scheme = address.find("//") + 2;
  const size_t slash = std::min(address.find('/', scheme), address.size());
  const size_t at = address.substr(0, slash).rfind('@');
  const size_t host = at == address.npos ? scheme : at + 1;
  index.account_ = address.substr(scheme, host - scheme);
  if (!index.account_.empty()) index.account_.pop_back();  // the @
  const std::string place(address.substr(host, slash - host));
  index.shown_ = std::string(address.substr(0, scheme)) + std::string(address.substr(host));
  if (place.empty() || place.find('*') != place.npos)
    return InvalidIndex(index.shown_, "it has no host");
  const size_t port = place.rfind(':');
  const bool has_port = port != place.npos && place.find(']', port) == place.npos;
  const bool is_port = place.find_first_not_of("0123456789", port + 1) == place.npos;
  if (has_port && !is_port && address.find('@', slash) != address.npos) {
    return InvalidIndex("", "a slash before the @ must be written as %2F");
  }
  if (is_plain) index.trusted_host_ = place.substr(0, has_port ? port : place.npos);

  index.network_.allowed_domains = {place};
  index.network_.allowed_domains.insert(index.network_.allowed_domains.end(), source.hosts.begin(),
                                        source.hosts.end());
  index.network_.allow_private = source.allow_private;
  index.network_.resolve = source.resolve;
  if (const core::Result<egress::EgressRules> rules = egress::EgressRules::Make(index.network_);
      !rules) {
    return InvalidIndex(index.shown_, rules.error().ToString());
  }
  return index;
}

std::string PackageIndex::WithoutAccount(std::string text) const {
  const size_t colon = account_.find(':');
  const std::string password = colon == account_.npos ? "" : account_.substr(colon + 1);
  for (const std::string& secret : {account_, password}) {
    if (secret.empty()) continue;
    constexpr std::string_view kInstead = "****";
    for (size_t found = text.find(secret); found != text.npos;
         found = text.find(secret, found + kInstead.size())) {
      text.replace(found, secret.size(), kInstead);
    }
  }
  return text;
}

}  // namespace belljar::container::packages
