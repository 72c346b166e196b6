// Containers: the sandboxes of a server whose runs are in containers, one for each profile that a
// call has asked for one.
//
//   Containers containers(config.container, most, [&](const Profile& profile) { … });
//   Result<std::shared_ptr<Sandbox>> sandbox = containers.Get(profile);   // starts it, if need be
//
// That there is no engine, or that it has stopped, is no failure of the server: those calls are
// told, the others go on, and the next one tries again.
#ifndef BELLJAR_SERVER_TOOLS_CONTAINERS_H_
#define BELLJAR_SERVER_TOOLS_CONTAINERS_H_

#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "engine/core/result.h"
#include "engine/outside/sandbox.h"
#include "server/core/config.h"

namespace belljar::server::tools {

class Containers {
 public:
  using MakeOptions = std::function<outside::SandboxOptions(const core::Profile&)>;

  // At most so many profiles have containers waiting; where one more is wanted, the one that has
  // not been used for longest is closed, when the last call in it is over.
  Containers(ContainerConfig config, size_t max_profiles, MakeOptions make_options);
  Containers(const Containers&) = delete;
  ~Containers();

  // Where they are enabled: starts those of this profile, which the first calls will ask for, on a
  // thread of its own. Once.
  void WarmUp(const core::Profile& default_profile);

  // Any thread. An error is our machine's and says what to do; the next call tries again.
  // Precondition: state().enabled.
  core::Result<std::shared_ptr<outside::Sandbox>> Get(const core::Profile& profile);

  struct State {
    bool enabled = false;  // by the operator
    // The last that was asked for could be had; with an engine and an image, of the default
    // profile.
    bool available = false;
    std::string message;
    std::string engine;   // "Docker Engine"; where it is available
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
  std::string default_profile_;  // name of the default profile

  mutable std::mutex mutex_;
  std::list<std::shared_ptr<Slot>> slots_;  // the one used last in front
  State state_;
  std::thread warming_;
};

}  // namespace belljar::server::tools

#endif  // BELLJAR_SERVER_TOOLS_CONTAINERS_H_
