// ContainedPython: the Python of one session, in a container of its own. The guest in it keeps the
// worker (inside/guest.h); the container is destroyed with this object.
#ifndef BELLJAR_CONTAINER_BACKEND_CONTAINED_PYTHON_H_
#define BELLJAR_CONTAINER_BACKEND_CONTAINED_PYTHON_H_

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "container/backend/container_pool.h"
#include "container/wire/session_text.h"
#include "engine/core/result.h"
#include "engine/host/outcome.h"
#include "engine/host/request.h"
#include "engine/sessions/live_interpreter.h"

namespace belljar::container::backend {

class ContainedPython final : public sessions::LiveInterpreter {
 public:
  // Belongs to the backend, which outlives this object.
  struct Host {
    std::function<core::Result<host::Outcome>(const PooledContainer&, const host::Request&,
                                              const run::RunOptions&)>
        run;
    std::function<void(PooledContainer)> retire;
    bool has_workspace = false;
  };

  // Its guest has opened a session.
  ContainedPython(PooledContainer container, Host host)
      : container_(std::move(container)), host_(std::move(host)) {}
  ~ContainedPython() override { host_.retire(std::move(container_)); }

  core::Result<host::Outcome> Run(const host::Request& request,
                                  const run::RunOptions& options) override {
    return host_.run(container_, request, options);
  }
  core::Result<std::string> Ask(const run::Question& question, int kill_fd) override;
  core::Result<std::vector<sessions::SessionFile>> Files(int kill_fd) override;
  core::Result<std::string> ReadFile(std::string_view path, int kill_fd) override;
  core::Result<void> WriteFiles(const std::vector<host::InputFile>& files, int kill_fd) override;
  core::Result<void> RemoveFile(std::string_view path, int kill_fd) override;
  bool HasEnded() const override { return container_.guest->HasEnded(); }
  bool has_workspace() const override { return host_.has_workspace; }
  std::vector<pid_t> processes() const override { return {}; }

 private:
  core::Result<wire::Reply> Inquire(const wire::Inquiry& inquiry, int kill_fd);

  PooledContainer container_;
  const Host host_;
};

}  // namespace belljar::container::backend

#endif  // BELLJAR_CONTAINER_BACKEND_CONTAINED_PYTHON_H_
