// Stands in for sandbox.cc and probe.cc at link time, so that the real tools run without a process
// or a namespace. A program that links this defines all that those two do: the linker then leaves
// them in their archive.
#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>

#include "engine/egress/egress_proxy.h"
#include "engine/outside/backend.h"
#include "engine/outside/probe.h"
#include "engine/outside/sandbox.h"
#include "engine/run/report.h"
#include "engine/run/run_options.h"

namespace belljar::outside {
namespace {

// In pieces that cut characters apart, as a pipe may.
void Print(const std::string& text, const run::OutputSink* sink) {
  if (!sink) return;
  for (size_t at = 0; at < text.size(); at += 3) {
    const std::string_view piece = std::string_view(text).substr(at, 3);
    if (sink->on_stdout) sink->on_stdout(piece);
    if (sink->on_stderr) sink->on_stderr(piece);
  }
}

// The code is the worker's report, where it is one; standard input is what the guest prints.
class StandIn : public Backend {
 public:
  core::Result<host::Outcome> Run(const host::Request& request,
                                  const run::RunOptions& options) override {
    if (request.source == "fail") return core::MakeError("run", "a failure of the machine");
    host::Outcome outcome;
    outcome.status = host::Status::kOk;
    outcome.limits = request.limits;
    outcome.stdout_stream.text = request.standard_input.value_or(request.source);
    Print(outcome.stdout_stream.text, options.sink);
    if (!run::ReadReport(request.source, outcome)) outcome.status = host::Status::kException;
    return outcome;
  }
  core::Result<std::shared_ptr<sessions::Session>> OpenSession(const sessions::SessionOptions&,
                                                               const run::RunOptions&) override {
    return core::MakeError("open a session", "there are none");
  }
  core::Result<void> WaitForSpare(core::Deadline) override { return {}; }
  Counters counters() const override { return {}; }
};

}  // namespace

core::Result<void> ProbeNamespaces() { return {}; }

core::Result<std::unique_ptr<egress::EgressService>> StartEgressService(const SandboxOptions&) {
  return std::unique_ptr<egress::EgressService>();
}

std::vector<std::string> RequiredLayers(const SandboxOptions&) { return {"seccomp"}; }

Sandbox::Sandbox(std::shared_ptr<const SandboxOptions> options, std::unique_ptr<Backend> backend,
                 bool is_local)
    : is_local_(is_local), options_(std::move(options)), backend_(std::move(backend)) {}
Sandbox::~Sandbox() = default;

core::Result<std::unique_ptr<Sandbox>> Sandbox::Open(SandboxOptions options) {
  return Over(std::move(options), std::make_unique<StandIn>());
}

std::unique_ptr<Sandbox> Sandbox::Over(SandboxOptions options, std::unique_ptr<Backend> backend) {
  return std::unique_ptr<Sandbox>(
      new Sandbox(std::make_shared<const SandboxOptions>(std::move(options)), std::move(backend),
                  /*is_local=*/false));
}

core::Result<host::Outcome> Sandbox::Run(const host::Request& request,
                                         const run::RunOptions& options) {
  if (is_local_) abort();  // Over makes none
  return backend_->Run(request, options);
}

core::Result<std::shared_ptr<sessions::Session>> Sandbox::OpenSession(
    const sessions::SessionOptions& options, const run::RunOptions& run) {
  return backend_->OpenSession(options, run);  // a Backend's own: there are none
}

core::Result<host::Outcome> Sandbox::RunCell(sessions::Session&, const host::Request&,
                                             const run::RunOptions&, sessions::Patience) {
  abort();  // without a session
}

sessions::Kernel Sandbox::AsKernel(std::shared_ptr<sessions::Session>) {
  abort();  // likewise
}

core::Result<host::Outcome> RunOnce(SandboxOptions, const host::Request& request,
                                    const run::RunOptions& options, bool) {
  return StandIn().Run(request, options);
}

}  // namespace belljar::outside
