// LocalBackend: runs each request in a fresh sealed worker on this machine.
#ifndef BELLJAR_ENGINE_OUTSIDE_LOCAL_BACKEND_H_
#define BELLJAR_ENGINE_OUTSIDE_LOCAL_BACKEND_H_

#include <memory>
#include <optional>
#include <string>

#include "engine/door/door.h"
#include "engine/outside/backend.h"
#include "engine/outside/spare_pool.h"

namespace belljar {

class LocalBackend : public Backend {
 public:
  // `mode` and `language` ("strict", "restricted", …) are repeated in every outcome. Of a profile
  // with a door, `doors` or whoever keeps it instead; else neither.
  LocalBackend(SparePoolOptions pool, std::string mode, std::string language,
               std::unique_ptr<DoorService> doors, DoorKeeper keeper);

  Result<Outcome> Run(const Request& request, const RunOptions& options) override;

  Result<void> WaitForSpare(Deadline deadline) override { return pool_.WaitForSpare(deadline); }
  Counters counters() const override { return pool_.counters(); }

 private:
  const std::string mode_;
  const std::string language_;
  const std::unique_ptr<DoorService> doors_;
  const DoorKeeper keeper_;
  SparePool pool_;
};

}  // namespace belljar

#endif  // BELLJAR_ENGINE_OUTSIDE_LOCAL_BACKEND_H_
