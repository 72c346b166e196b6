// For tests of the spare pool itself: a pool for profile basic with all of Python, and a zygote
// whose start-up the test controls.
#ifndef BELLJAR_TESTS_SUPPORT_POOL_SUPPORT_H_
#define BELLJAR_TESTS_SUPPORT_POOL_SUPPORT_H_

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "engine/core/fd.h"
#include "engine/installation/installation.h"
#include "engine/pool/spare_pool.h"
#include "engine/seal/seccomp.h"
#include "tests/support/support.h"

namespace belljar::tests {

inline pool::SparePoolOptions PoolOptions() {
  const core::Profile profile = BasicProfile();
  pool::SparePoolOptions options;
  options.zygote.installation = *installation::Installation::Find();
  options.zygote.profile_document = profile.document;
  options.zygote.other_profiles = "{}";
  options.zygote.layout = {core::Bytes::Mebi(1), core::Bytes::Mebi(1)};
  options.zygote.plan.paths = profile.paths;
  options.zygote.plan.ceiling = profile.maximum_limits;
  options.zygote.plan.filter =
      *seal::CompileFilter(profile.allowed_syscalls, profile.hostile_syscalls);
  options.spares = 2;
  return options;
}

// Fails the test and returns null if the pool cannot be started.
inline std::unique_ptr<pool::SparePool> StartPool(pool::SparePoolOptions options) {
  auto pool = pool::SparePool::Start(std::move(options));
  if (pool) return std::move(*pool);
  ADD_FAILURE() << pool.error().ToString();
  return nullptr;
}

// A replacement for the zygote program that runs the real one unless the test requests otherwise.
// Requests apply to subsequent starts.
class ScriptedZygote {
 public:
  explicit ScriptedZygote(pool::SparePoolOptions& options) {
    const std::string script = folder_.Write(
        "zygote", "#!/bin/sh\necho >>" + File("starts") + "\n[ -e " + File("slow") +
                      " ] && sleep 1\n[ -e " + File("fail") +
                      " ] && { echo told to fail >&2; exit 1; }\n[ -e " + File("hang") +
                      " ] && exec sleep 1000\nexec " + options.zygote.installation.zygote + "\n");
    chmod(script.c_str(), 0755);
    options.zygote.installation.zygote = script;
  }

  void Slow(bool on) { Say("slow", on); }  // starts a second later
  void Fail(bool on) { Say("fail", on); }
  void Hang(bool on) { Say("hang", on); }

  // Number of starts so far.
  size_t starts() const {
    const core::Result<std::string> lines = core::ReadFile(File("starts"), 1 << 20);
    return lines ? static_cast<size_t>(std::count(lines->begin(), lines->end(), '\n')) : 0;
  }

 private:
  std::string File(const std::string& name) const { return folder_.path() + "/" + name; }
  void Say(const std::string& name, bool on) {
    if (on) {
      folder_.Write(name, "");
    } else {
      std::filesystem::remove(File(name));
    }
  }

  TemporaryFolder folder_;
};

}  // namespace belljar::tests

#endif  // BELLJAR_TESTS_SUPPORT_POOL_SUPPORT_H_
