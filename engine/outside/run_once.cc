#include "engine/outside/run_once.h"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

namespace belljar::outside {
namespace {

constexpr char kWholeLibrary[] = "*";  // for belljar_policy/preload.py

constexpr std::string_view kNote =
    "belljar: the program was started again, because it imports a module that its text does not "
    "name; its output is different now:\n";

std::string_view Outermost(std::string_view module) { return module.substr(0, module.find('.')); }

bool IsOfWord(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

core::Result<host::Outcome> RunIn(SandboxOptions options, const host::Request& request,
                                  const RunOptions& run) {
  core::Result<std::unique_ptr<Sandbox>> sandbox = Sandbox::Open(std::move(options));
  if (!sandbox) return sandbox.error();
  return (*sandbox)->Run(request, run);
}

}  // namespace

bool MayStartOver(const SandboxOptions& options, const host::Request& request) {
  return request.mode == host::Request::Mode::kRun && request.functions.empty() &&
         !options.profile.egress;
}

std::vector<std::string> NamedModules(const core::Profile& profile, std::string_view source) {
  std::set<std::string_view> known, named;
  for (const core::ModuleExports& module : profile.modules) known.insert(Outermost(module.name));
  for (const core::PackageSet& set : profile.packages) {
    for (const std::string& module : set.modules) known.insert(Outermost(module));
  }
  while (!source.empty()) {
    const auto begin = std::ranges::find_if(source, IsOfWord);
    const auto end = std::find_if_not(begin, source.end(), IsOfWord);
    if (const auto found = known.find(std::string_view(begin, end)); found != known.end()) {
      named.insert(*found);
    }
    source = std::string_view(end, source.end());
  }
  return {named.begin(), named.end()};
}

OutputOfBoth::OutputOfBoth(const OutputSink& sink) : sink_(sink) {
  through_.on_stdout = [this](std::string_view bytes) { Show(stdout_, sink_.on_stdout, bytes); };
  through_.on_stderr = [this](std::string_view bytes) { Show(stderr_, sink_.on_stderr, bytes); };
}

void OutputOfBoth::Show(Stream& stream, const std::function<void(std::string_view)>& show,
                        std::string_view bytes) {
  if (!show) return;
  if (!is_second_) {
    stream.shown += bytes;
    return show(bytes);
  }
  if (!stream.differs) {
    const std::string_view left = std::string_view(stream.shown).substr(stream.repeated);
    const size_t both = std::min(left.size(), bytes.size());
    if (left.substr(0, both) == bytes.substr(0, both)) {
      stream.repeated += both;
      bytes.remove_prefix(both);
    } else {
      stream.differs = true;
      if (!std::exchange(has_said_so_, true) && sink_.on_stderr) sink_.on_stderr(kNote);
      show(std::string_view(stream.shown).substr(0, stream.repeated));
    }
  }
  if (!bytes.empty()) show(bytes);
}

core::Result<host::Outcome> RunWithNamed(SandboxOptions options, const host::Request& request,
                                         const RunOptions& run, const Runner& whole) {
  std::optional<OutputOfBoth> output;
  RunOptions through = run;
  if (run.sink) through.sink = &output.emplace(*run.sink).sink();
  options.single_run = true;
  options.named_modules = NamedModules(options.profile, request.source);
  // Such a program may import any module of the standard library, and those import each other.
  if (LanguageOf(options) == Language::kFull) options.named_modules->push_back(kWholeLibrary);
  RunOptions first = through;
  first.deferred = nullptr;  // its sandbox ends here
  core::Result<host::Outcome> outcome = RunIn(std::move(options), request, first);
  if (outcome || outcome.error().operation != kStartOver) return outcome;
  if (output) output->StartOver();
  return whole(through);
}

core::Result<host::Outcome> RunOnce(SandboxOptions options, const host::Request& request,
                                    const RunOptions& run) {
  options.single_run = true;
  if (!MayStartOver(options, request)) return RunIn(std::move(options), request, run);
  return RunWithNamed(options, request, run, [&](const RunOptions& through) {
    return RunIn(std::move(options), request, through);
  });
}

}  // namespace belljar::outside
