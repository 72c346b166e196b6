// Runs programs from standard input with the kernel layers alone, all in one sandbox:
//
//   jail_runner PROFILE [LAYER TO OMIT]
//   jail_runner PROFILE --session
//
// Each line is a JSON string, the source; the answer is a line with the outcome as JSON. For
// tests/jail, where most of a `belljar run` would be the start of a zygote. Each program has a
// worker of its own, which is sealed as always.
//
// With --session, it has a session of its own, where it is the first cell and once more the second:
// the answer is two lines.
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "engine/host/outcome.h"
#include "engine/outside/sandbox.h"
#include "engine/profiles/profile_catalogue.h"

namespace {

using belljar::core::Error;
using belljar::core::Result;
namespace host = belljar::host;
namespace outside = belljar::outside;
namespace profiles = belljar::profiles;
namespace sessions = belljar::sessions;

int Fail(const Error& error) {
  std::fprintf(stderr, "jail_runner: %s\n", error.ToString().c_str());
  return 1;
}

int RunInSession(outside::Sandbox& sandbox, const host::Request& request) {
  sessions::SessionOptions options;
  options.limits = request.limits;
  const Result<std::shared_ptr<sessions::Session>> session = sandbox.OpenSession(options);
  if (!session) return Fail(session.error());
  for (int cell = 1; cell <= 2; ++cell) {
    const Result<host::Outcome> outcome = sandbox.RunCell(**session, request);
    if (!outcome) return Fail(outcome.error());
    std::cout << host::OutcomeToJson(*outcome) << std::endl;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2)
    return Fail(
        belljar::core::MakeError("start", "usage: jail_runner PROFILE [LAYER | --session]"));
  const Result<profiles::ProfileCatalogue> catalogue = profiles::ProfileCatalogue::Open();
  if (!catalogue) return Fail(catalogue.error());
  Result<belljar::core::Profile> profile = catalogue->Choose(argv[1]);
  if (!profile) return Fail(profile.error());

  outside::SandboxOptions options;
  options.profile = std::move(*profile);
  options.installation = catalogue->installation();
  options.policy = outside::Policy::kOff;
  options.spares = 1;
  const bool in_session = argc > 2 && std::string_view(argv[2]) == "--session";
  if (argc > 2 && !in_session) options.without_layers = {argv[2]};
  Result<std::unique_ptr<outside::Sandbox>> sandbox = outside::Sandbox::Open(std::move(options));
  if (!sandbox) return Fail(sandbox.error());

  for (std::string line; std::getline(std::cin, line);) {
    host::Request request;
    request.source = nlohmann::json::parse(line).get<std::string>();
    request.limits = (*sandbox)->profile().default_limits;
    // On a machine where an attack would reach them before it has begun (tests/README.md).
    // NOLINTNEXTLINE(concurrency-mt-unsafe): nothing here sets variables
    if (std::getenv("BELLJAR_TEST_SLOWNESS") != nullptr) {
      request.limits.timeout = (*sandbox)->profile().maximum_limits.timeout;
      request.limits.cpu = (*sandbox)->profile().maximum_limits.cpu;
    }
    if (in_session) {
      if (const int failed = RunInSession(**sandbox, request); failed != 0) return failed;
      continue;
    }
    const Result<host::Outcome> outcome = (*sandbox)->Run(request);
    if (!outcome) return Fail(outcome.error());
    std::cout << host::OutcomeToJson(*outcome) << std::endl;
  }
}
