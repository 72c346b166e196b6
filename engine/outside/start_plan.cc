#include "engine/outside/start_plan.h"

#include <algorithm>
#include <utility>

#include "engine/core/text.h"
#include "engine/outside/input_of_both.h"
#include "engine/outside/output_of_both.h"
#include "engine/workspace/workspace.h"

namespace belljar::outside {
namespace {

// Always among the modules that a zygote loads: the whole standard library
// (belljar_policy/preload.py).
constexpr char kWholeLibrary[] = "*";

bool IsOfWord(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// Modules that need the whole library, and that most programs with their names do not mean. One
// that imports them in another way is started over.
bool IsOfEverydayUse(std::string_view word) { return word == "profile" || word == "cmd"; }

// Calls `found` with each word until that returns true. Returns whether it did.
template <typename Found>
bool FindWord(std::string_view source, Found found) {
  while (!source.empty()) {
    const auto begin = std::ranges::find_if(source, IsOfWord);
    const auto end = std::find_if_not(begin, source.end(), IsOfWord);
    if (begin != end && found(std::string_view(begin, end))) return true;
    source = std::string_view(end, source.end());
  }
  return false;
}

// Whether running the request twice would go unnoticed.
bool MayStartOver(const host::Request& request, bool has_network) {
  const bool only_asks = std::ranges::all_of(
      request.functions, [](const std::string& name) { return name == host::kAsksInput; });
  return request.mode == host::Request::Mode::kRun && only_asks && !has_network;
}

bool NamesAny(const Names& names, std::string_view source) {
  return FindWord(source, [&](std::string_view word) { return names.contains(word); });
}

}  // namespace

StartPlan PlanStart(const host::Request& request, const Ways& ways) {
  if (!MayStartOver(request, ways.has_network)) return {ways.whole, {}};
  if (ways.own_named) return {WorkerSource::kOwnNamed, ways.whole};
  if (ways.light_lacks && !NamesAny(*ways.light_lacks, ProgramText(request))) {
    return {WorkerSource::kLightSpare, ways.whole, true};
  }
  return {ways.whole, {}};
}

core::Result<host::Outcome> CarryOut(const StartPlan& plan, const run::RunOptions& run,
                                     const RunFrom& run_from) {
  if (!plan.fallback) return run_from(plan.first, run);
  std::optional<OutputOfBoth> output;
  run::RunOptions through = run;
  if (run.sink) through.sink = &output.emplace(*run.sink).sink();
  InputOfBoth input(run.call);
  if (run.call) through.call = input.call();
  core::Result<host::Outcome> outcome = run_from(plan.first, through);
  if (outcome) return outcome;
  if (!plan.fallback_on_any_failure && outcome.error().cause != core::Cause::kStartOver)
    return outcome;
  if (output) output->StartOver();
  input.StartOver();
  return run_from(*plan.fallback, through);
}

workers::ZygoteKind ZygoteFor(WorkerSource source, const SandboxOptions& options,
                              std::string_view program) {
  workers::ZygoteKind kind;
  switch (source) {
    case WorkerSource::kSpare: kind.single_run = options.single_run; return kind;
    case WorkerSource::kOwn: kind.single_run = true; return kind;
    case WorkerSource::kLightSpare: kind.modules = options.profile.light_packages; break;
    case WorkerSource::kOwnNamed:
      kind.single_run = true;
      kind.modules = NamedModules(options.profile, program);
      break;
  }
  // Such a program may import any standard library module, and those import each other.
  if (PolicyOf(options) == Policy::kOff) kind.modules->emplace_back(kWholeLibrary);
  return kind;
}

std::string ProgramText(const host::Request& request) {
  std::string text = request.source;
  for (const host::InputFile& file : request.files) {
    if (workspace::IsModule(file.path)) text += "\n" + file.content;
  }
  return text;
}

std::vector<std::string> NamedModules(const core::Profile& profile, std::string_view source) {
  std::set<std::string_view> known, named;
  for (const core::ModuleExports& module : profile.modules)
    known.insert(core::TopLevelName(module.name));
  for (const core::PackageSet& set : profile.packages) {
    for (const std::string& module : set.modules) known.insert(core::TopLevelName(module));
  }
  std::string_view before;
  FindWord(source, [&](std::string_view word) {
    if (word == "help") word = "inspect";  // help() shows signatures
    const auto found = known.find(word);
    if (found != known.end() && (!IsOfEverydayUse(word) || before == "import" || before == "from"))
      named.insert(*found);
    before = word;
    return false;
  });
  return {named.begin(), named.end()};
}

Names LightLacks(const core::Profile& profile) {
  Names lacks;
  for (const core::PackageSet& set : profile.packages) {
    for (const std::string& module : set.modules) lacks.emplace(core::TopLevelName(module));
  }
  for (const std::string& package : profile.light_packages) lacks.erase(package);
  return lacks;
}

}  // namespace belljar::outside
