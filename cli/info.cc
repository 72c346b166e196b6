#include "cli/info.h"

#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/console.h"
#include "cli/exit_code.h"
#include "engine/core/outcome.h"
#include "engine/core/text.h"
#include "engine/core/version.h"
#include "engine/outside/machine.h"
#include "engine/outside/profile_catalogue.h"

namespace belljar {
namespace {

using Json = nlohmann::ordered_json;

struct Arguments {
  bool names = false;
  bool json = false;
};

// One row a limit: its name, and how it is said.
struct LimitRow {
  const char* name;
  std::string usual;
  std::string most;
};

std::vector<LimitRow> LimitRows(const Profile& profile) {
  const Limits& usual = profile.default_limits;
  const Limits& most = profile.maximum_limits;
  return {{"timeout", FormatDuration(usual.timeout), FormatDuration(most.timeout)},
          {"cpu", FormatDuration(usual.cpu), FormatDuration(most.cpu)},
          {"memory", usual.memory.ToString(), most.memory.ToString()},
          {"output", usual.output.ToString(), most.output.ToString()},
          {"result", usual.result.ToString(), most.result.ToString()},
          {"source", usual.source.ToString(), most.source.ToString()},
          {"file size", usual.file_size.ToString(), most.file_size.ToString()},
          {"artifact", usual.artifact.ToString(), most.artifact.ToString()},
          {"artifacts", usual.artifacts.ToString(), most.artifacts.ToString()},
          {"open files", std::to_string(usual.open_files), std::to_string(most.open_files)},
          {"processes", std::to_string(usual.processes), std::to_string(most.processes)}};
}

std::string Padded(std::string text, size_t width) {
  text.resize(std::max(width, text.size() + 1), ' ');
  return text;
}

std::string ModulesText(const Profile& profile, bool names) {
  std::string text = "  modules (" + std::to_string(profile.modules.size()) + ")\n";
  if (!names) return text + Wrapped(ModuleNames(profile), 4);
  for (const ModuleExports& module : profile.modules) {
    text += "    " + module.name + "\n" + Wrapped(module.exports, 6);
  }
  return text;
}

std::string ProfileText(const Profile& profile, bool names) {
  std::string text = "\nProfile " + profile.name + "\n  " + profile.summary + "\n  " +
                     Padded("limit", 14) + Padded("default", 10) + "maximum\n";
  for (const LimitRow& row : LimitRows(profile)) {
    text += "  " + Padded(row.name, 14) + Padded(row.usual, 10) + row.most + "\n";
  }
  return text + ModulesText(profile, names);
}

int PrintText(const ProfileCatalogue& catalogue, bool names) {
  const std::string restricted = catalogue.installation().PackageVersion("restrictedpython");
  std::string text = std::string("belljar ") + kBelljarVersion + "\nCPython " + kPythonVersion +
                     "\nRestrictedPython " + (restricted.empty() ? "not found" : restricted) +
                     "\n\nLayers of this machine (\"belljar doctor\" tells more)\n";
  for (const MachineCheck& check : CheckKernel()) {
    text += "  " + Padded(check.name, 14) + (check.found ? "yes  " : "no   ") +
            Printable(check.detail) + "\n";
  }
  for (const Profile& profile : catalogue.profiles()) text += ProfileText(profile, names);
  return Answer(text, kExitOk);
}

Json ToJson(const Profile& profile) {
  Json modules = Json::object();
  for (const ModuleExports& module : profile.modules) modules[module.name] = module.exports;
  return {{"name", profile.name},
          {"summary", profile.summary},
          {"limits",
           {{"default", Json::parse(LimitsToJson(profile.default_limits))},
            {"maximum", Json::parse(LimitsToJson(profile.maximum_limits))}}},
          {"modules", modules}};
}

int PrintJson(const ProfileCatalogue& catalogue) {
  const std::string restricted = catalogue.installation().PackageVersion("restrictedpython");
  Json layers = Json::array();
  for (const MachineCheck& check : CheckKernel()) {
    layers.push_back({{"name", check.name}, {"found", check.found}, {"detail", check.detail}});
  }
  Json profiles = Json::array();
  for (const Profile& profile : catalogue.profiles()) profiles.push_back(ToJson(profile));
  const Json object = {{"version", kBelljarVersion},
                       {"python", kPythonVersion},
                       {"restricted_python", restricted.empty() ? Json() : Json(restricted)},
                       {"layers", layers},
                       {"profiles", profiles}};
  const int indent = isatty(STDOUT_FILENO) ? 2 : -1;
  return Answer(object.dump(indent, ' ', false, Json::error_handler_t::replace) + "\n", kExitOk);
}

int Execute(const Arguments& arguments) {
  const Result<ProfileCatalogue> catalogue = ProfileCatalogue::Open();
  if (!catalogue) return OwnFailure(catalogue.error());
  return arguments.json ? PrintJson(*catalogue) : PrintText(*catalogue, arguments.names);
}

}  // namespace

Command MakeInfoCommand(CLI::App& app) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* parser =
      app.add_subcommand("info", "Show profiles, their modules and limits, and versions");
  parser->add_flag("--names", arguments->names, "list the names of each module too");
  parser->add_flag("--json", arguments->json, "print one JSON object, with all names");
  SetExamples(parser, {"belljar info  # profiles, limits, modules",
                       "belljar info --names  # every name of every module",
                       "belljar info --json  # the same for a program"});
  return {parser, [arguments] { return Execute(*arguments); }};
}

}  // namespace belljar
