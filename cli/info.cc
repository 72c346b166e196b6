#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/exit_code.h"
#include "engine/core/text.h"
#include "engine/host/limit_fields.h"
#include "engine/host/version.h"
#include "engine/outside/machine.h"
#include "engine/profiles/profile_catalogue.h"
#include "engine/profiles/profile_facts.h"
#include "server/serve.h"

namespace belljar::cli {
namespace {

using Json = nlohmann::ordered_json;

struct InfoArguments {
  bool names = false;
  bool json = false;
  bool schemas = false;
};

// One row per limit: its name and its formatted values.
struct LimitRow {
  std::string name;
  std::string defaults;
  std::string maximum;
};

std::vector<LimitRow> LimitRows(const core::Profile& profile) {
  std::vector<LimitRow> rows;
  host::ForEachField<core::Limits>([&](auto row) {
    rows.push_back({host::LimitTitle(row), host::LimitText(row.Of(profile.default_limits)),
                    host::LimitText(row.Of(profile.maximum_limits))});
  });
  return rows;
}

std::string Padded(std::string text, size_t width) {
  text.resize(std::max(width, text.size() + 1), ' ');
  return text;
}

const core::Profile* FindBasic(const profiles::ProfileCatalogue& catalogue) {
  for (const core::Profile& profile : catalogue.profiles()) {
    if (profile.name == "basic") return &profile;
  }
  return nullptr;
}

// For a tier, only what it adds: the rest is listed for the profile that it extends.
std::string ModulesText(const core::Profile& profile, const core::Profile* basic, bool names) {
  const std::vector<const core::ModuleExports*> own = profiles::OwnModules(profile, basic);
  const bool is_all = own.size() == profile.modules.size();
  std::string text = "  modules (" + std::to_string(profile.modules.size()) +
                     (is_all ? "" : ", in addition to those of basic") + ")\n";
  std::vector<std::string> list;
  for (const core::ModuleExports* module : own) {
    list.push_back(module->name);
    if (names) text += "    " + module->name + "\n" + Wrapped(module->exports, 6);
  }
  return names || list.empty() ? text : text + Wrapped(list, 4);
}

// `name`, followed by each text on a separate line.
std::string ListText(const char* name, const std::vector<std::string>& texts) {
  std::string text = std::string("  ") + name + "\n";
  for (const std::string& each : texts) text += "    " + each + "\n";
  return texts.empty() ? "" : text;
}

std::string PackagesText(const core::Profile& profile,
                         const installation::Installation& installation) {
  std::vector<std::string> packages;
  for (const installation::InstalledPackage& each :
       profiles::InstalledPackages(profile, installation)) {
    packages.push_back(core::Printable(each.name + " " + each.version));
  }
  std::string text;
  if (!packages.empty()) {
    text = "  packages (" + std::to_string(packages.size()) + ")\n" + Wrapped(packages, 4);
  }
  std::vector<std::string> missing;
  for (const installation::MissingPackages& each : installation.Missing(profile)) {
    std::string modules;
    for (const std::string& module : each.modules) {
      modules += (modules.empty() ? "" : ", ") + module;
    }
    std::string why = "the packages of " + each.set + " are not installed, so an import of " +
                      modules + " fails.";
    for (const std::string& differing : each.differing) why += " There is " + differing + ".";
    missing.push_back(why + " To install them:");
    missing.push_back(each.command);
  }
  return text + ListText("missing", missing);
}

std::string PlacesText(const core::Profile& profile) {
  std::string text;
  if (profile.workspace) {
    text += "  " + Padded("workspace", 14) + core::kWorkspacePath + " and " + core::kTemporaryPath +
            ", " + profile.workspace->size.ToString() + " and " +
            std::to_string(profile.workspace->inodes) + " files and folders each\n";
  }
  if (profile.egress) {
    text +=
        "  " + Padded("network", 14) + "an egress proxy to the hosts that the operator allows\n";
  }
  return text;
}

std::string ProfileText(const core::Profile& profile, const profiles::ProfileCatalogue& catalogue,
                        bool names) {
  std::string text = "\nProfile " + profile.name + "\n  " + profile.summary + "\n";
  text += ListText("attack surface that it adds", profile.attack_surface);
  text += PackagesText(profile, catalogue.installation()) + PlacesText(profile);
  text += "  " + Padded("limit", 14) + Padded("default", 10) + "maximum\n";
  for (const LimitRow& row : LimitRows(profile)) {
    text += "  " + Padded(row.name, 14) + Padded(row.defaults, 10) + row.maximum + "\n";
  }
  return text + ModulesText(profile, FindBasic(catalogue), names);
}

int PrintText(const profiles::ProfileCatalogue& catalogue, bool names) {
  const std::string restricted = catalogue.installation().PackageVersion("restrictedpython");
  std::string text = std::string("belljar ") + host::kBelljarVersion + "\nCPython " +
                     host::kPythonVersion + "\nRestrictedPython " +
                     (restricted.empty() ? "not found" : restricted) +
                     "\n\nLayers of this machine (details: \"belljar doctor\")\n";
  for (const outside::MachineCheck& check : outside::CheckKernel()) {
    text += "  " + Padded(check.name, 14) + (check.found ? "yes  " : "no   ") +
            core::Printable(check.detail) + "\n";
  }
  for (const core::Profile& profile : catalogue.profiles()) {
    text += ProfileText(profile, catalogue, names);
  }
  return Answer(text, kExitOk);
}

int PrintJson(const profiles::ProfileCatalogue& catalogue) {
  const std::string restricted = catalogue.installation().PackageVersion("restrictedpython");
  Json layers = Json::array();
  for (const outside::MachineCheck& check : outside::CheckKernel()) {
    layers.push_back({{"name", check.name}, {"found", check.found}, {"detail", check.detail}});
  }
  Json profiles = Json::array();
  for (const core::Profile& profile : catalogue.profiles()) {
    profiles.push_back(Json::parse(profiles::ProfileToJson(profile, catalogue.installation())));
  }
  const Json object = {{"version", host::kBelljarVersion},
                       {"python", host::kPythonVersion},
                       {"restricted_python", restricted.empty() ? Json() : Json(restricted)},
                       {"layers", layers},
                       {"profiles", profiles}};
  return Answer(JsonText(object), kExitOk);
}

int PrintSchemas() { return Answer(JsonText(Json::parse(server::FullAnswerSchemas())), kExitOk); }

int ExecuteInfo(const InfoArguments& arguments) {
  if (arguments.schemas) return PrintSchemas();
  const core::Result<profiles::ProfileCatalogue> catalogue = profiles::ProfileCatalogue::Open();
  if (!catalogue) return OwnFailure(catalogue.error());
  return arguments.json ? PrintJson(*catalogue) : PrintText(*catalogue, arguments.names);
}

}  // namespace

Command MakeInfoCommand(CLI::App& app) {
  auto arguments = std::make_shared<InfoArguments>();
  CLI::App* parser = AddCommand(app, "info", "Show the profiles, what each provides, and versions");
  AddFlag(parser, "--names", arguments->names, "also list the names of each module");
  AddFlag(parser, "--json", arguments->json, "print one JSON object, with all names");
  AddFlag(parser, "--schemas", arguments->schemas,
          "print the JSON Schemas of the MCP tools' full answers, by tool; that of execute_code "
          "also describes run --json");
  SetExamples(parser, {"belljar info  # profiles, limits, modules",
                       "belljar info --names  # every name of every module",
                       "belljar info --json  # the same for a program"});
  return {parser, [arguments] { return ExecuteInfo(*arguments); }};
}

}  // namespace belljar::cli
