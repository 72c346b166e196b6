#include "engine/outside/machine.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "engine/core/fd.h"
#include "engine/core/result.h"
#include "engine/core/text.h"
#include "engine/outside/probe.h"
#include "engine/seal/cgroup.h"
#include "engine/seal/landlock.h"

namespace belljar::outside {
namespace {

using Need = MachineCheck::Need;

// The words in a small file of /proc or /sys; empty if it cannot be read.
std::vector<std::string> WordsOf(const std::string& path) {
  std::vector<std::string> words;
  core::Result<std::string> text = core::ReadFile(path, 1 << 20);
  if (!text) return words;
  for (const std::string_view word : core::Words(*text)) words.emplace_back(word);
  return words;
}

MachineCheck CheckVersion() {
  utsname system{};
  uname(&system);
  int major = 0;
  int minor = 0;
  sscanf(system.release, "%d.%d", &major, &minor);
  return {"kernel",
          Need::kAlways,
          major > 5 || (major == 5 && minor >= 13),
          std::string("Linux ") + system.release + ", " + system.machine,
          "5.13 has all system calls that the seal needs; 6.7 and 6.12 extend Landlock",
          "use a kernel of 5.13 or later"};
}

// Each setting known to forbid user namespaces, if it is set on this machine.
std::string NamespaceAdvice() {
  const struct {
    const char* path;
    const char* forbidding;
    const char* advice;
  } kSwitches[] = {
      {"/proc/sys/user/max_user_namespaces", "0", "sysctl user.max_user_namespaces=10000"},
      {"/proc/sys/kernel/unprivileged_userns_clone", "0",
       "sysctl kernel.unprivileged_userns_clone=1"},
      {"/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1",
       "allow them only for this program: belljar doctor --apparmor > /etc/apparmor.d/belljar && "
       "apparmor_parser --replace /etc/apparmor.d/belljar"},
  };
  std::string advice;
  for (const auto& item : kSwitches) {
    if (WordsOf(item.path) != std::vector<std::string>{item.forbidding}) continue;
    advice += (advice.empty() ? "as root: " : "; ") + std::string(item.advice);
  }
  if (advice.empty()) {
    advice =
        "no setting of this kernel forbids them, so a surrounding container does: allow clone3, "
        "unshare, mount and pivot_root in its seccomp profile";
  }
  advice += "; or do without them: --isolation standard";
  return advice;
}

MachineCheck CheckNamespaces() {
  const core::Result<void> probed = ProbeNamespaces();
  return {"namespaces",
          Need::kStrict,
          probed.ok(),
          probed ? "user, mount, pid, net, ipc, uts and cgroup can be created"
                 : probed.error().ToString(),
          "they hide the host's files, processes, network and IPC",
          probed ? "" : NamespaceAdvice()};
}

MachineCheck CheckLandlock() {
  const int abi = seal::LandlockAbi();
  std::string detail = "this kernel does not have it, or it is disabled";
  if (abi > 0) detail = "ABI " + std::to_string(abi) + ": " + seal::LandlockCoverage(abi);
  return {
      "landlock",
      Need::kStrict,
      abi > 0,
      detail,
      "it denies access to files, TCP (Linux 6.7), abstract sockets and signals (6.12) in case a "
      "namespace fails",
      "needs Linux 5.13 with CONFIG_SECURITY_LANDLOCK and \"landlock\" in the boot parameter "
      "lsm="};
}

MachineCheck CheckSeccomp() {
  const std::vector<std::string> actions = WordsOf("/proc/sys/kernel/seccomp/actions_avail");
  const bool found = core::Contains(actions, "kill_process") && core::Contains(actions, "trap");
  return {"seccomp",
          Need::kAlways,
          found,
          found ? "filters with the actions kill_process and trap"
                : "no filters, or none that can kill",
          "it allows the guest only the system calls on its profile's list",
          "needs Linux 4.14 with CONFIG_SECCOMP_FILTER, and /proc"};
}

MachineCheck CheckCgroup() {
  const core::Result<std::string> parent = seal::FindCgroupParent();
  return {"cgroup",
          Need::kOptional,
          parent.ok(),
          parent ? "a leaf can be created under " + *parent : parent.error().ToString(),
          "it limits the memory and the processes of all workers together",
          "needs cgroup v2 with memory and pids, and a writable group: systemd-run --user --scope "
          "belljar …"};
}

std::string FindProgram(const std::string& name) {
  const char* path = getenv("PATH");
  for (const std::string_view folder : core::SplitAt(path ? path : "/usr/bin:/bin", ':')) {
    if (folder.empty()) continue;  // the current folder is not searched
    const std::string program = std::string(folder) + "/" + name;
    if (access(program.c_str(), X_OK) == 0) return program;
  }
  return "";
}

}  // namespace

std::vector<MachineCheck> CheckKernel() {
  std::vector<MachineCheck> checks = {CheckVersion(), CheckNamespaces(), CheckLandlock(),
                                      CheckCgroup(), CheckSeccomp()};
  return checks;
}

std::vector<MachineCheck> CheckTools() {
  const std::string bwrap = FindProgram("bwrap");
  return {{"bwrap", Need::kOptional, !bwrap.empty(), bwrap.empty() ? "not on PATH" : bwrap,
           "the benchmark uses it for comparison", "on Debian: apt-get install bubblewrap"}};
}

}  // namespace belljar::outside
