#include "server/compatible/api_terms.h"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace belljar::server::compatible {
namespace {

// Smallest limits of execute_code.
constexpr double kLeastSeconds = 0.1;
constexpr double kLeastBytes = 8 << 20;

}  // namespace

double ClampedSeconds(double seconds, const ApiTerms& terms) {
  const double most = std::chrono::duration<double>(terms.maximum.timeout).count();
  return std::clamp(seconds, kLeastSeconds, std::max(kLeastSeconds, most));
}

double ClampedBytes(double bytes, const ApiTerms& terms) {
  const double most = static_cast<double>(terms.maximum.memory.count);
  return std::floor(std::clamp(bytes, kLeastBytes, std::max(kLeastBytes, most)));
}

std::string NoWorkspace(const ApiTerms& terms) {
  if (terms.profile.empty()) {
    return "this server has no files; an operator enables them with "
           "SANDBOX_ENABLE_FILESYSTEM=true";
  }
  return "profile " + terms.profile +
         " of this server has no files; an operator enables them with " + terms.setting +
         " = \"filesystem\"";
}

nlohmann::json ProfileArgument(const ApiTerms& terms) {
  if (terms.profile.empty()) return nlohmann::json::object();
  return {{"profile", terms.profile}};
}

}  // namespace belljar::server::compatible
