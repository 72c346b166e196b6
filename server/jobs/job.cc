#include "server/jobs/job.h"

#include "engine/core/text.h"
#include "engine/host/random.h"

namespace belljar::server::jobs {
namespace {

constexpr std::array<std::string_view, kJobStates> kStateNames = {
    "queued", "running", "succeeded", "failed", "cancelled", "interrupted", "expired"};

}  // namespace

std::string_view JobStateName(JobState state) { return kStateNames.at(static_cast<size_t>(state)); }

std::optional<JobState> JobStateNamed(std::string_view name) {
  for (size_t i = 0; i < kStateNames.size(); ++i) {
    if (kStateNames[i] == name) return static_cast<JobState>(i);
  }
  return std::nullopt;
}

std::string NewJobId() { return core::Hex(host::RandomBytes()); }

bool IsJobId(std::string_view text) { return core::IsHex(text, 32); }

}  // namespace belljar::server::jobs
