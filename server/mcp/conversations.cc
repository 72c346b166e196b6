#include "server/mcp/conversations.h"

#include <algorithm>
#include <string_view>

#include "engine/core/text.h"
#include "engine/host/random.h"

namespace belljar::server::mcp {
namespace {

constexpr std::string_view kPrefix = "belljar-";
constexpr size_t kRandomDigits = 32;

constexpr std::string_view kCanBeAsked = "-asks";

bool HasForm(std::string_view name) {
  if (!name.starts_with(kPrefix)) return false;
  name.remove_prefix(kPrefix.size());
  if (name.ends_with(kCanBeAsked)) name.remove_suffix(kCanBeAsked.size());
  return name.size() == kRandomDigits && std::ranges::all_of(name, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

}  // namespace

std::string Conversations::NewName(bool can_be_asked) {
  return std::string(kPrefix) + core::Hex(host::RandomBytes()) +
         std::string(can_be_asked ? kCanBeAsked : "");
}

bool Conversations::CanBeAsked(const std::string& name) { return name.ends_with(kCanBeAsked); }

bool Conversations::IsValid(const std::string& caller, const std::string& name) {
  if (!HasForm(name)) return false;
  const std::lock_guard lock(mutex_);
  return !ended_.contains({caller, name});
}

bool Conversations::End(const std::string& caller, const std::string& name) {
  if (!HasForm(name)) return false;
  const std::lock_guard lock(mutex_);
  if (!ended_.emplace(caller, name).second) return false;
  oldest_first_.emplace_back(caller, name);
  if (oldest_first_.size() > kRemembered) {
    ended_.erase(oldest_first_.front());
    oldest_first_.pop_front();
  }
  return true;
}

}  // namespace belljar::server::mcp
