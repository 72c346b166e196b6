#include "cli/info.h"

#include <unistd.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/console.h"
#include "cli/exit_code.h"
#include "engine/core/text.h"
#include "engine/core/version.h"
#include "engine/outside/machine.h"
#include "engine/outside/profile_catalogue.h"
#include "engine/outside/profile_facts.h"

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

const Profile* FindBasic(const ProfileCatalogue& catalogue) {
  for (const Profile& profile : catalogue.profiles()) {
    if (profile.name == "basic") return &profile;
  }
  return nullptr;
}

// Of a tier what it brings: the rest stands at the profile that it extends.
std::string ModulesText(const Profile& profile, const Profile* basic, bool names) {
  const std::vector<const ModuleExports*> own = OwnModules(profile, basic);
  const bool is_all = own.size() == profile.modules.size();
  std::string text = "  modules (" + std::to_string(profile.modules.size()) +
                     (is_all ? "" : ", these beside those of basic") + ")\n";
  std::vector<std::string> list;
  for (const ModuleExports* module : own) {
    list.push_back(module->name);
    if (names) text += "    " + module->name + "\n" + Wrapped(module->exports, 6);
  }
  return names || list.empty() ? text : text + Wrapped(list, 4);
}

// `name` and what belongs to it, each text below it with a line of its own.
std::string ListText(const char* name, const std::vector<std::string>& texts) {
  std::string text = std::string("  ") + name + "\n";
  for (const std::string& each : texts) text += "    " + each + "\n";
  return texts.empty() ? "" : text;
}

std::string PackagesText(const Profile& profile, const Installation& installation) {
  std::vector<std::string> packages;
  for (const InstalledPackage& each : InstalledPackages(profile, installation)) {
    packages.push_back(Printable(each.name + " " + each.version));
  }
  std::string text;
  if (!packages.empty()) {
    text = "  packages (" + std::to_string(packages.size()) + ")\n" + Wrapped(packages, 4);
  }
  std::vector<std::string> missing;
  for (const MissingPackages& each : installation.Missing(profile)) {
    std::string modules;
    for (const std::string& module : each.modules) {
      modules += (modules.empty() ? "" : ", ") + module;
    }
    missing.push_back("the packages of " + each.set + " are not installed, so an import of " +
                      modules + " fails. To install them:");
    for (const std::string& differing : each.differing) {
      missing.back().insert(missing.back().rfind(" To install"), " There is " + differing + ".");
    }
    missing.push_back(each.command);
  }
  return text + ListText("missing", missing);
}

std::string PlacesText(const Profile& profile) {
  std::string text;
  if (profile.workspace) {
    text += "  " + Padded("workspace", 14) + kWorkspacePath + " and " + kTemporaryPath + ", " +
            profile.workspace->size.ToString() + " and " +
            std::to_string(profile.workspace->inodes) + " files and folders each\n";
  }
  if (profile.door) {
    text += "  " + Padded("network", 14) +
            "one proxy of the host's, to the hosts that an operator allows\n";
  }
  return text;
}

std::string ProfileText(const Profile& profile, const ProfileCatalogue& catalogue, bool names) {
  std::string text = "\nProfile " + profile.name + "\n  " + profile.summary + "\n";
  text += ListText("what it adds for an attacker", profile.attack_surface);
  text += PackagesText(profile, catalogue.installation()) + PlacesText(profile);
  text += "  " + Padded("limit", 14) + Padded("default", 10) + "maximum\n";
  for (const LimitRow& row : LimitRows(profile)) {
    text += "  " + Padded(row.name, 14) + Padded(row.usual, 10) + row.most + "\n";
  }
  return text + ModulesText(profile, FindBasic(catalogue), names);
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
  for (const Profile& profile : catalogue.profiles()) {
    text += ProfileText(profile, catalogue, names);
  }
  return Answer(text, kExitOk);
}

int PrintJson(const ProfileCatalogue& catalogue) {
  const std::string restricted = catalogue.installation().PackageVersion("restrictedpython");
  Json layers = Json::array();
  for (const MachineCheck& check : CheckKernel()) {
    layers.push_back({{"name", check.name}, {"found", check.found}, {"detail", check.detail}});
  }
  Json profiles = Json::array();
  for (const Profile& profile : catalogue.profiles()) {
    profiles.push_back(Json::parse(ProfileToJson(profile, catalogue.installation())));
  }
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
  CLI::App* parser = AddCommand(app, "info", "Show profiles, what each has and adds, and versions");
  AddFlag(parser, "--names", arguments->names, "list the names of each module too");
  AddFlag(parser, "--json", arguments->json, "print one JSON object, with all names");
  SetExamples(parser, {"belljar info  # profiles, limits, modules",
                       "belljar info --names  # every name of every module",
                       "belljar info --json  # the same for a program"});
  return {parser, [arguments] { return Execute(*arguments); }};
}

}  // namespace belljar
