// What the host tells a new zygote or launcher (core/wire.h): all of it comes from the operator.
#ifndef BELLJAR_ENGINE_SEAL_START_MESSAGE_H_
#define BELLJAR_ENGINE_SEAL_START_MESSAGE_H_

#include <string>
#include <tuple>
#include <vector>

#include "engine/core/capture_layout.h"
#include "engine/core/profile.h"
#include "engine/seal/seal_plan.h"

namespace belljar::seal {

// The texts in JSON are for the Python half (inside/interpreter.h).
struct ZygoteStart {
  bool single_run = false;
  std::string interpreter;
  std::vector<std::string> package_paths;
  std::string profile_packages;
  std::string missing_modules;
  std::string named_modules;
  std::string profile;
  std::string other_profiles;
  std::string hot_blocks;  // folder of the records
  std::vector<std::string> package_sets;
  bool huge_pages = false;
  core::CaptureLayout layout;
  SealPlan plan;
  static auto Members(auto& start) {
    return std::tie(start.single_run, start.interpreter, start.package_paths,
                    start.profile_packages, start.missing_modules, start.named_modules,
                    start.profile, start.other_profiles, start.hot_blocks, start.package_sets,
                    start.huge_pages, start.layout, start.plan);
  }
};

struct LauncherStart {
  bool single_run = false;
  core::ProgramRule program;  // its commands begin with absolute paths
  core::CaptureLayout layout;
  SealPlan plan;
  static auto Members(auto& start) {
    return std::tie(start.single_run, start.program, start.layout, start.plan);
  }
};

}  // namespace belljar::seal

#endif  // BELLJAR_ENGINE_SEAL_START_MESSAGE_H_
