#include <unistd.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/colors.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/sandbox_choice.h"
#include "container/backend/container_choice.h"
#include "engine/core/text.h"
#include "engine/host/version.h"
#include "engine/outside/apparmor_profile.h"
#include "engine/outside/machine.h"
#include "engine/outside/sandbox.h"

namespace belljar::cli {
namespace {

using Json = nlohmann::ordered_json;
using Need = outside::MachineCheck::Need;

struct Section {
  std::string title;
  std::vector<outside::MachineCheck> checks;
};

outside::MachineCheck CheckInstallation(const core::Result<profiles::ProfileCatalogue>& catalogue) {
  outside::MachineCheck check{"installation",
                              Need::kAlways,
                              catalogue.ok(),
                              "",
                              "belljar-zygote, and share/belljar with the policy and the profiles",
                              "build with ./dev build, or install with pip or cmake --install"};
  if (!catalogue) {
    check.detail = catalogue.error().ToString();
    return check;
  }
  const installation::Installation& installation = catalogue->installation();
  check.detail = installation.zygote;
  if (!installation.interpreter.empty()) check.detail += ", in " + installation.interpreter;
  return check;
}

std::string HeldLayers(const host::Outcome& outcome) {
  std::string held;
  std::string missing;
  for (const host::LayerState& layer : outcome.isolation.layers) {
    std::string& list = layer.held ? held : missing;
    list += (list.empty() ? "" : ", ") + layer.name;
  }
  return "held by " + held + (missing.empty() ? "" : "; without " + missing);
}

// Runs a real program in a real sandbox.
outside::MachineCheck TryRun(const std::string& isolation,
                             const core::Result<profiles::ProfileCatalogue>& catalogue) {
  outside::MachineCheck check{
      isolation,
      isolation == "strict" ? Need::kStrict : Need::kAlways,
      false,
      "",
      isolation == "strict" ? "test program with all layers (the default)"
                            : "test program with --isolation standard",
      isolation == "strict"
          ? "see what is missing above; until then, use --isolation standard with "
            "belljar run and belljar serve"
          : "see what is missing above"};
  const auto failed = [&](const std::string& detail) {
    check.detail = detail;
    return check;
  };
  if (!catalogue) return failed("not run: no installation");
  SandboxChoice choice;
  choice.isolation = isolation;
  core::Result<outside::SandboxOptions> options = ResolveSandbox(choice, *catalogue);
  if (!options) return failed(options.error().ToString());
  core::Result<std::unique_ptr<outside::Sandbox>> sandbox =
      outside::Sandbox::Open(std::move(*options));
  if (!sandbox) return failed(sandbox.error().ToString());
  host::Request request;
  request.source = "print(6 * 7)";
  request.limits = (*sandbox)->profile().default_limits;
  core::Result<host::Outcome> outcome = (*sandbox)->Run(request);
  if (!outcome) return failed(outcome.error().ToString());
  check.found = outcome->success() && outcome->stdout_stream.text == "42\n";
  if (check.found) return failed(HeldLayers(*outcome));
  return failed("print(6 * 7) ended as " + std::string(host::StatusName(outcome->status)) +
                (outcome->error ? ": " + outcome->error->message : ""));
}

// Connects to each engine: an installed one may be stopped or not accessible to this user.
std::vector<outside::MachineCheck> CheckContainers() {
  std::vector<outside::MachineCheck> checks;
  for (const container::backend::EngineCheck& engine : container::backend::CheckEngines({})) {
    const bool is_runsc = engine.engine == "runsc";
    checks.push_back(
        {engine.engine, Need::kOptional, engine.found, engine.detail,
         is_runsc ? "belljar run --container with gVisor's runsc, without a daemon"
                  : "belljar run --container, under gVisor if it has runsc",
         "on Debian: apt-get install " +
             std::string(engine.engine == "docker" ? "docker.io runsc" : engine.engine) +
             "; see docs/containers.md"});
  }
  return checks;
}

std::vector<Section> Examine() {
  const core::Result<profiles::ProfileCatalogue> catalogue = profiles::ProfileCatalogue::Open();
  return {{"Machine", outside::CheckKernel()},
          {"Installation", {CheckInstallation(catalogue)}},
          {"Test runs", {TryRun("strict", catalogue), TryRun("standard", catalogue)}},
          {"Containers, all optional", CheckContainers()},
          {"Other programs, all optional", outside::CheckTools()}};
}

// Whether strict isolation works; decides the exit code.
bool IsWell(const std::vector<Section>& sections) {
  for (const Section& section : sections) {
    for (const outside::MachineCheck& check : section.checks) {
      if (check.name == "strict") return check.found;
    }
  }
  return false;
}

std::string MarkOf(const outside::MachineCheck& check, bool has_colors) {
  if (!check.found && check.need == Need::kOptional) return "-    ";
  const std::string mark = check.found ? "yes" : "NO ";
  if (!has_colors) return mark + "  ";
  return Colored(mark, check.found ? Color::kGreen : Color::kRed) + "  ";
}

std::string CheckText(const outside::MachineCheck& check, bool has_colors) {
  constexpr size_t kNameWidth = 14;
  const std::string margin(7, ' ');
  std::string text = "  " + MarkOf(check, has_colors) + check.name;
  text += std::string(kNameWidth - std::min(kNameWidth - 1, check.name.size()), ' ');
  text += core::Printable(check.detail) + "\n" + margin + "why: " + check.why + "\n";
  if (!check.found && !check.how.empty()) text += margin + "how: " + check.how + "\n";
  return text;
}

std::string Text(const std::vector<Section>& sections, bool has_colors) {
  const auto title = [&](const std::string& text) {
    return has_colors ? Colored(text, Color::kBold) : text;
  };
  std::string text =
      std::string("belljar ") + host::kBelljarVersion + " (CPython " + host::kPythonVersion + ")\n";
  for (const Section& section : sections) {
    text += "\n" + title(section.title) + "\n";
    for (const outside::MachineCheck& check : section.checks) text += CheckText(check, has_colors);
  }
  return text + "\n" +
         title(IsWell(sections) ? "Strict isolation works here."
                                : "Strict isolation does not work here.") +
         "\n";
}

const char* NeedName(Need need) {
  switch (need) {
    case Need::kAlways: return "always";
    case Need::kStrict: return "strict";
    case Need::kOptional: return "optional";
  }
  return "";
}

Json ToJson(const std::vector<Section>& sections) {
  Json checks = Json::array();
  for (const Section& section : sections) {
    for (const outside::MachineCheck& check : section.checks) {
      checks.push_back({{"name", check.name},
                        {"needed", NeedName(check.need)},
                        {"found", check.found},
                        {"detail", check.detail},
                        {"why", check.why},
                        {"how", check.found ? Json() : Json(check.how)}});
    }
  }
  return {{"version", host::kBelljarVersion},
          {"python", host::kPythonVersion},
          {"ok", IsWell(sections)},
          {"checks", checks}};
}

int PrintAppArmorProfile() {
  std::error_code code;
  const std::string program = std::filesystem::read_symlink("/proc/self/exe", code);
  if (code) {
    return OwnFailure(core::SystemErrorOf(code.value(), "find the running program"));
  }
  return Answer(outside::AppArmorProfile(program), kExitOk);
}

int ExecuteDoctor(bool json) {
  const std::vector<Section> sections = Examine();
  const int code = IsWell(sections) ? kExitOk : kExitFindings;
  if (!json) return Answer(Text(sections, UsesColors("auto", STDOUT_FILENO)), code);
  return Answer(JsonText(ToJson(sections)), code);
}

}  // namespace

Command MakeDoctorCommand(CLI::App& app) {
  auto json = std::make_shared<bool>(false);
  auto apparmor = std::make_shared<bool>(false);
  CLI::App* parser = AddCommand(
      app, "doctor", "Check which layers this machine supports; how to enable the others");
  AddFlag(parser, "--json", *json, "print one JSON object");
  AddFlag(parser, "--apparmor", *apparmor,
          "print an AppArmor profile that allows only this program user namespaces, and exit");
  SetExamples(parser, {"belljar doctor  # exits with 0 if strict isolation works here, else 1",
                       "belljar doctor --json  # for a health check",
                       "belljar doctor --apparmor > belljar  # for /etc/apparmor.d of Ubuntu"});
  return {parser,
          [json, apparmor] { return *apparmor ? PrintAppArmorProfile() : ExecuteDoctor(*json); }};
}

}  // namespace belljar::cli
