// LocalBackend: runs each request in a fresh sealed worker on this machine.
#ifndef BELLJAR_ENGINE_OUTSIDE_LOCAL_BACKEND_H_
#define BELLJAR_ENGINE_OUTSIDE_LOCAL_BACKEND_H_

#include <string>

#include "engine/outside/backend.h"
#include "engine/outside/spare_pool.h"

namespace belljar {

class LocalBackend : public Backend {
 public:
  // `mode` and `language` ("strict", "restricted", …) are repeated in every outcome.
  LocalBackend(SparePoolOptions pool, std::string mode, std::string language);

  Result<Outcome> Run(const Request& request, const RunOptions& options) override;

  SparePool& pool() { return pool_; }

 private:
  const std::string mode_;
  const std::string language_;
  SparePool pool_;
};

}  // namespace belljar

#endif  // BELLJAR_ENGINE_OUTSIDE_LOCAL_BACKEND_H_
