// Profile: what code may use, as data. Read from profiles/*.toml by profiles/loader.h.
#ifndef BELLJAR_ENGINE_CORE_PROFILE_H_
#define BELLJAR_ENGINE_CORE_PROFILE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "engine/core/limits.h"

namespace belljar {

struct ModuleExports {
  std::string name;
  std::vector<std::string> exports;
};

// A tree that stays readable inside the private root. "{stdlib}" stands for the embedded
// interpreter's own library.
struct PathRule {
  std::string path;
  bool optional = false;  // a machine without it still starts
};

// One entry of a system call list. With `argument` >= 0 it applies only where
// (args[argument] & mask) equals `value`, or where args[argument] is below it; the rest of that
// call is denied.
struct SyscallRule {
  std::string name;
  int argument = -1;
  uint64_t mask = ~uint64_t{0};
  uint64_t value = 0;
  bool below = false;
};

struct Profile {
  std::string name;
  std::string summary;
  Limits default_limits;
  Limits maximum_limits;  // a call may ask for up to these
  std::vector<ModuleExports> modules;
  std::vector<PathRule> paths;
  std::vector<SyscallRule> allowed_syscalls;
  std::vector<std::string> spawning_syscalls;  // the zygote's own, never a guest's
  std::vector<std::string> hostile_syscalls;   // kill the worker
  std::string document;                        // the whole TOML as JSON, for the policy inside
};

}  // namespace belljar

#endif  // BELLJAR_ENGINE_CORE_PROFILE_H_
