#include "server/mcp/conversations.h"

#include <algorithm>
#include <string_view>

#include "engine/core/text.h"
#include "engine/host/random.h"

namespace belljar::server::mcp {
namespace {

constexpr std::string_view kPrefix = "belljar-";
constexpr size_t kRandomDigits = 32;

bool HasForm(const std::string& name) {
  return name.size() == kPrefix.size() + kRandomDigits && name.starts_with(kPrefix) &&
         std::all_of(name.begin() + kPrefix.size(), name.end(),
                     [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

}  // namespace

std::string Conversations::NewName() {
  return std::string(kPrefix) + core::Hex(host::RandomBytes());
}

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
