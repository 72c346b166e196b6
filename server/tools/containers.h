// Containers: the sandboxes of a server that run code in containers, one for each profile requested
// with a container.
//
//   Containers containers(config.container, max, [&](const Profile& profile) { … });
//   Result<std::shared_ptr<Sandbox>> sandbox = containers.Get(profile);   // starts it if necessary
//
// A missing or stopped container engine is not a failure of the server: only calls that need it
// fail, and the next one retries.
#ifndef BELLJAR_SERVER_TOOLS_CONTAINERS_H_
#define BELLJAR_SERVER_TOOLS_CONTAINERS_H_

#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>

#include "engine/core/result.h"
#include "engine/core/thread.h"
#include "engine/outside/sandbox.h"
#include "server/core/config.h"

namespace belljar::server::tools {

// What calls that request a container are told then, and how to enable containers.
inline constexpr char kContainersNotEnabled[] =
    "containers are not enabled on this server; an operator enables them with "
    "SANDBOX_ENABLE_CONTAINER_MODE=true";

class Containers {
 public:
  using MakeOptions = std::function<outside::SandboxOptions(const core::Profile&)>;

  // At most `max_profiles` profiles have warm containers. When another one is needed, the least
  // recently used is closed after its last call.
  Containers(ContainerConfig config, size_t max_profiles, MakeOptions make_options);
  Containers(const Containers&) = delete;
  ~Containers();

  // If containers are enabled, starts those of the default profile on a separate thread. Call once.
  void WarmUp(const core::Profile& default_profile);

  // Any thread. An error is a problem of this machine and says what to do; the next call retries.
  // Precondition: state().enabled.
  core::Result<std::shared_ptr<outside::Sandbox>> Get(const core::Profile& profile);

  struct State {
    bool enabled = false;  // by the operator
    // Whether the last attempt succeeded: there was an engine, and an image of the default profile.
    bool available = false;
    std::string message;
    std::string engine;   // "Docker Engine"; if available
    std::string runtime;  // "runsc"
  };
  State state() const;

 private:
  struct Slot {
    explicit Slot(std::string name) : profile(std::move(name)) {}
    const std::string profile;
    std::mutex mutex;
    std::shared_ptr<outside::Sandbox> sandbox;
  };

  std::shared_ptr<Slot> Use(const std::string& profile);
  core::Result<std::shared_ptr<outside::Sandbox>> Open(const core::Profile& profile);

  const ContainerConfig config_;
  const size_t max_profiles_;
  const MakeOptions make_options_;
  std::string default_profile_;  // name

  mutable std::mutex mutex_;
  std::list<std::shared_ptr<Slot>> slots_;  // most recently used first
  State state_;
  core::Thread warming_;
};

}  // namespace belljar::server::tools

#endif  // BELLJAR_SERVER_TOOLS_CONTAINERS_H_
