#include "server/tools/containers.h"

#include <algorithm>
#include <utility>

#include "container/backend/container_choice.h"
#include "container/backend/container_sandbox.h"

namespace belljar::server::tools {
namespace {

constexpr const char* kAlternatives =
    ", or enabled = true in [container] of the configuration file. Without a container, runs are "
    "sealed by the kernel layers listed in isolation";

}  // namespace

Containers::Containers(ContainerConfig config, size_t max_profiles, MakeOptions make_options)
    : config_(std::move(config)),
      max_profiles_(std::max<size_t>(max_profiles, 1)),
      make_options_(std::move(make_options)) {
  state_.enabled = config_.enabled;
  state_.message = config_.enabled ? "no call has requested one yet"
                                   : std::string(kContainersNotEnabled) + kAlternatives;
}

Containers::~Containers() { warming_.Join(); }

void Containers::WarmUp(const core::Profile& default_profile) {
  default_profile_ = default_profile.name;
  if (!config_.enabled) return;
  // Failures are recorded in state() and reported to calls that request a container.
  const core::Result<void> started = warming_.Start(
      "start a container", [this, profile = default_profile] { (void)Get(profile); });
  if (started) return;
  const std::lock_guard lock(mutex_);
  state_.message = started.error().ToString();
}

std::shared_ptr<Containers::Slot> Containers::Use(const std::string& profile) {
  std::shared_ptr<Slot> closed;  // its sandbox must be destroyed without the lock
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(slots_.begin(), slots_.end(),
                                  [&](const auto& each) { return each->profile == profile; });
  if (found != slots_.end()) {
    slots_.splice(slots_.begin(), slots_, found);
  } else {
    slots_.push_front(std::make_shared<Slot>(profile));
  }
  if (slots_.size() > max_profiles_) {
    closed = std::move(slots_.back());
    slots_.pop_back();
  }
  return slots_.front();
}

core::Result<std::shared_ptr<outside::Sandbox>> Containers::Open(const core::Profile& profile) {
  container::backend::ContainerOptions options;
  options.selection = {.engine = config_.engine,
                       .socket = config_.socket,
                       .runtime = config_.runtime,
                       .require_gvisor = config_.require_gvisor,
                       .image = profile.name == default_profile_ ? config_.image : "",
                       .folder = ""};
  options.spares = std::min(config_.spares, config_.max_containers);
  options.max_containers = config_.max_containers;
  core::Result<container::backend::ContainerChoice> choice =
      container::backend::ChooseContainer(options.selection, profile);
  const std::string engine = choice ? choice->facts.name : "";
  const std::string runtime = choice ? choice->runtime : "";
  core::Result<std::unique_ptr<outside::Sandbox>> opened =
      choice ? container::backend::OpenContainerSandbox(make_options_(profile), options,
                                                        std::move(*choice))
             : core::Result<std::unique_ptr<outside::Sandbox>>(choice.error());
  const std::lock_guard lock(mutex_);
  // The error of another profile may contain text from a caller's packages: it is only for that
  // call and says nothing about other containers.
  if (!opened && choice && profile.name != default_profile_) return opened.error();
  state_.available = opened.ok();
  if (!opened) {
    state_.message = opened.error().ToString();
    return opened.error();
  }
  state_.engine = engine;
  state_.runtime = runtime;
  state_.message = "use_container runs the code in a separate container, started by " + runtime +
                   (runtime == "runsc" ? " (gVisor)" : "");
  return std::shared_ptr<outside::Sandbox>(std::move(*opened));
}

core::Result<std::shared_ptr<outside::Sandbox>> Containers::Get(const core::Profile& profile) {
  const std::shared_ptr<Slot> slot = Use(profile.name);
  const std::lock_guard lock(slot->mutex);
  if (!slot->sandbox) {
    core::Result<std::shared_ptr<outside::Sandbox>> opened = Open(profile);
    if (!opened) return opened.error();
    slot->sandbox = std::move(*opened);
  }
  return slot->sandbox;
}

Containers::State Containers::state() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

}  // namespace belljar::server::tools
