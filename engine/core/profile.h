// Profile: what code may use, as data. Read from profiles/*.toml by engine/profiles/loader.h.
#ifndef BELLJAR_ENGINE_CORE_PROFILE_H_
#define BELLJAR_ENGINE_CORE_PROFILE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/core/limits.h"

namespace belljar::core {

struct ModuleExports {
  std::string name;
  std::vector<std::string> exports;
};

// A tree that stays readable inside the private root. "{stdlib}" stands for the embedded
// interpreter's own library.
struct PathRule {
  std::string path;
  bool optional = false;                  // a machine without it still starts
  std::vector<std::string> without = {};  // folders in it that are not shown, by their names
  std::vector<std::string> only = {};     // paths in it that are shown; none: all
};

// What one argument of a system call has to be: (args[argument] & mask) equal to `value`, or
// args[argument] below it.
struct SyscallCondition {
  unsigned argument = 0;
  uint64_t mask = ~uint64_t{0};
  uint64_t value = 0;
  bool below = false;
};

// One entry of a system call list. It applies where all conditions hold; the rest of that call is
// denied.
struct SyscallRule {
  std::string name;
  std::vector<SyscallCondition> conditions;  // each of another argument
};

// Two private file systems of one worker, each of this size: its working directory and what
// programs expect at /tmp.
inline constexpr char kWorkspacePath[] = "/workspace";
inline constexpr char kTemporaryPath[] = "/tmp";
struct WorkspaceRule {
  Bytes size{0};
  uint32_t inodes = 0;  // files, directories and links
};

// The one way out of a worker's own network namespace: a proxy that the host serves.
struct EgressListener {
  uint16_t port = 0;  // on 127.0.0.1, inside
};

// Packages that do not come with Belljar: a folder of their own below share/belljar/packages.
struct PackageSet {
  std::string name;                  // of the folder, and of requirements/NAME.txt
  std::vector<std::string> modules;  // each of them imported ahead; without one, none of it works
};

struct Profile {
  std::string name;                // "basic", or the tiers with "+" between them
  std::vector<std::string> tiers;  // in order, what was added to the profile that they extend
  std::string summary;
  std::vector<std::string> attack_surface;  // what it adds for an attacker, one sentence each
  Limits default_limits;
  Limits maximum_limits;  // a call may ask for up to these
  std::vector<ModuleExports> modules;
  std::vector<PathRule> paths;
  std::vector<PackageSet> packages;
  std::vector<std::string> environment;  // of the zygote: "NAME=value"
  bool huge_pages = false;               // for the interpreter's heap
  Bytes artifacts{0};  // in all, of the figures and tables that a run shows; 0: none are taken
  std::optional<WorkspaceRule> workspace;
  std::optional<EgressListener> egress;
  std::vector<SyscallRule> allowed_syscalls;
  std::vector<std::string> spawning_syscalls;  // the zygote's own, never a guest's
  std::vector<std::string> hostile_syscalls;   // kill the worker
  std::string document;                        // the whole TOML as JSON, for the policy inside
};

}  // namespace belljar::core

#endif  // BELLJAR_ENGINE_CORE_PROFILE_H_
