#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/exit_code.h"
#include "engine/core/text.h"
#include "engine/host/version.h"
#include "engine/outside/preparation.h"
#include "engine/outside/program_version.h"
#include "engine/outside/sandbox.h"
#include "engine/profiles/languages.h"
#include "engine/profiles/prepared.h"

namespace belljar::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kTries = 3;

struct LanguagesArguments {
  std::vector<std::string> chosen;  // names, and paths of own files and folders; empty: all
  bool prepare = false;
  bool json = false;
};

// What this machine has of a language.
struct Found {
  const core::Profile* language = nullptr;
  std::string problem;  // empty: it runs
  std::string version;
  double milliseconds = 0;       // median of its example, compiling included
  std::optional<bool> prepared;  // nullopt: nothing can be
};

outside::SandboxOptions OptionsFor(core::Profile profile,
                                   const installation::Installation& installation) {
  outside::SandboxOptions options;
  options.profile = std::move(profile);
  options.installation = installation;
  options.spares = 1;
  return options;
}

host::Request RequestOf(const core::Profile& profile, std::string source) {
  host::Request request;
  request.source = std::move(source);
  request.limits = profile.default_limits;
  return request;
}

Found LookFor(const core::Profile& language, const installation::Installation& installation) {
  Found found{.language = &language, .problem = {}, .version = {}};
  core::Result<core::Profile> installed = profiles::Installed(language);
  if (!installed) {
    found.problem = "not installed: apt install " + language.program->package;
    return found;
  }
  if (!installed->program->prepare.command.empty())
    found.prepared = profiles::FindPrepared(*installed).has_value();
  found.version = outside::ProgramVersion(OptionsFor(*installed, installation));
  const core::Result<std::unique_ptr<outside::Sandbox>> sandbox =
      outside::Sandbox::Open(OptionsFor(*installed, installation));
  if (!sandbox) {
    found.problem = sandbox.error().ToString();
    return found;
  }
  const host::Request request = RequestOf(*installed, language.program->example);
  std::vector<double> times;
  for (int i = 0; i < kTries; ++i) {
    const core::Result<host::Outcome> outcome = (*sandbox)->Run(request);
    if (!outcome || outcome->stdout_stream.text != "hello\n") {
      found.problem = !outcome         ? outcome.error().ToString()
                      : outcome->error ? "its example failed: " + outcome->error->message
                                       : "its example does not print hello";
      return found;
    }
    times.push_back(static_cast<double>(outcome->usage.wall_time.count()) / 1000);
  }
  std::ranges::nth_element(times, times.begin() + kTries / 2);
  found.milliseconds = times[kTries / 2];
  return found;
}

// Makes what is missing. A language that is not installed has nothing to start faster.
core::Result<void> PrepareAll(const std::vector<core::Profile>& languages,
                              const installation::Installation& installation) {
  for (const core::Profile& language : languages) {
    const core::Result<core::Profile> installed = profiles::Installed(language);
    if (!installed || installed->program->prepare.command.empty() ||
        profiles::FindPrepared(*installed)) {
      continue;
    }
    Say("preparing " + language.name + "\n");
    const core::Result<outside::Prepared> prepared =
        outside::Prepare(OptionsFor(*installed, installation));
    if (!prepared) {
      core::Error error = prepared.error();
      error.operation = "prepare " + language.name + ": " + error.operation;
      return error;
    }
    Say("made " + core::Printable(prepared->path) + ", " +
        std::to_string(prepared->size.count >> 20) + " MiB\n");
  }
  return {};
}

std::string TimeText(double milliseconds) {
  char text[32];
  snprintf(text, sizeof text, milliseconds < 10 ? "%.1f ms" : "%.0f ms", milliseconds);
  return text;
}

std::string Cell(std::string text, size_t width) {
  text.resize(std::max(width, text.size()) + 2, ' ');
  return text;
}

std::string Row(const std::string& name, const std::string& title, const std::string& version,
                const std::string& time, const std::string& rest) {
  return "  " + Cell(name, 10) + Cell(title, 20) + Cell(version, 9) + Cell(time, 7) + rest + "\n";
}

std::string TextOf(const std::vector<Found>& all) {
  std::string text = Row("python", "Python (embedded)", host::kPythonVersion, "", ".py");
  for (const Found& each : all) {
    const core::ProgramRule& program = *each.language->program;
    const std::string extensions = core::Joined(program.extensions);
    text += Row(each.language->name, program.title, each.version,
                each.problem.empty() ? TimeText(each.milliseconds) : "",
                each.problem.empty() ? extensions : each.problem);
  }
  std::string names;
  for (const Found& each : all) {
    if (each.problem.empty() && each.prepared == false) names += " " + each.language->name;
  }
  if (!names.empty()) text += "\nFaster after: belljar languages --prepare" + names + "\n";
  return text +
         "\nPython is held by the language policy and the kernel layers; the others by the kernel "
         "layers\nalone. The time is that of a program that prints hello, with a waiting worker.\n";
}

Json JsonOf(const std::vector<Found>& all) {
  Json list = Json::array();
  list.push_back({{"name", profiles::kPython},
                  {"title", "Python"},
                  {"installed", true},
                  {"version", host::kPythonVersion},
                  {"policy", "on"}});
  for (const Found& each : all) {
    const core::ProgramRule& program = *each.language->program;
    list.push_back({{"name", each.language->name},
                    {"title", program.title},
                    {"installed", each.problem.empty()},
                    {"problem", each.problem.empty() ? Json() : Json(each.problem)},
                    {"version", each.version.empty() ? Json() : Json(each.version)},
                    {"milliseconds", each.problem.empty() ? Json(each.milliseconds) : Json()},
                    {"prepared", each.prepared ? Json(*each.prepared) : Json()},
                    {"policy", "off"},
                    {"aliases", program.aliases},
                    {"extensions", program.extensions},
                    {"package", program.package},
                    {"summary", each.language->summary},
                    {"attack_surface", each.language->attack_surface}});
  }
  return {{"languages", std::move(list)}};
}

core::Result<std::vector<core::Profile>> Choose(const profiles::LanguageCatalogue& catalogue,
                                                const std::vector<std::string>& named) {
  if (named.empty()) return catalogue.languages();
  std::vector<core::Profile> chosen;
  for (const std::string& name : named) {
    const core::Result<std::vector<std::string>> files = profiles::LanguageFiles(name);
    if (!files) return files.error();
    for (const std::string& file : *files) {
      core::Result<std::optional<core::Profile>> found = catalogue.Find(file);
      if (!found) return found.error();
      if (*found) chosen.push_back(std::move(**found));  // else Python, which is always listed
    }
  }
  return chosen;
}

int ExecuteLanguages(const LanguagesArguments& arguments) {
  const core::Result<installation::Installation> installation = installation::Installation::Find();
  if (!installation) return OwnFailure(installation.error());
  const core::Result<profiles::LanguageCatalogue> catalogue =
      profiles::LanguageCatalogue::Open(*installation);
  if (!catalogue) return OwnFailure(catalogue.error());
  const core::Result<std::vector<core::Profile>> chosen = Choose(*catalogue, arguments.chosen);
  if (!chosen) return UsageError("languages", chosen.error().ToString());
  if (arguments.prepare) {
    if (core::Result<void> done = PrepareAll(*chosen, *installation); !done)
      return OwnFailure(done.error());
  }
  std::vector<Found> all;
  all.reserve(chosen->size());
  for (const core::Profile& language : *chosen) all.push_back(LookFor(language, *installation));
  if (arguments.json) return Answer(JsonText(JsonOf(all)), kExitOk);
  return Answer(TextOf(all), kExitOk);
}

}  // namespace

Command MakeLanguagesCommand(CLI::App& app) {
  auto arguments = std::make_shared<LanguagesArguments>();
  CLI::App* parser =
      app.add_subcommand("languages", "List the languages of programs, and which this machine has");
  parser
      ->add_option(
          "languages", arguments->chosen,
          "names, or paths of your own language files or of folders of them (default: all)")
      ->type_name("LANGUAGE");
  parser->add_flag("--prepare", arguments->prepare,
                   "first make what these start faster with, once for each of their versions: for "
                   "Java an archive of its compiler's classes");
  parser->add_flag("--json", arguments->json, "print one JSON object");
  SetExamples(parser, {"belljar languages  # each with its version, and the time of a run",
                       "belljar languages --prepare java  # faster from now on",
                       "belljar languages /etc/belljar/languages/  # those of a folder of your own",
                       "belljar run script.sh  # the language is that of the file's name",
                       "belljar run --language javascript -c 'console.log(1)'  # or named"});
  return {parser, [arguments] { return ExecuteLanguages(*arguments); }};
}

}  // namespace belljar::cli
