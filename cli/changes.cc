#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/colors.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/pending_changes.h"
#include "engine/core/text.h"
#include "engine/host/state_path.h"
#include "engine/projects/apply.h"
#include "engine/projects/diff.h"
#include "engine/projects/project.h"

namespace belljar::cli {
namespace {

using Json = nlohmann::ordered_json;
using projects::Change;
using projects::ChangeKind;
using projects::ChangeSet;
using projects::SavedChanges;

constexpr char kChanges[] = "changes";

struct ChangesArguments {
  std::optional<std::string> folder;
  std::optional<std::string> id;
  std::vector<std::string> only;
  bool diff = false;
  bool apply = false;
  bool review = false;
  bool discard = false;
  bool with_git = false;
  bool all = false;
  bool json = false;
};

std::string Counted(size_t count, const char* what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

// "1 added, 2 changed".
std::string Summary(const ChangeSet& set) {
  std::string text;
  for (const ChangeKind kind : {ChangeKind::kAdded, ChangeKind::kChanged, ChangeKind::kRemoved}) {
    const size_t count = set.count(kind);
    if (count == 0) continue;
    text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + projects::ChangeName(kind);
  }
  return text.empty() ? "no changes" : text;
}

char LetterOf(ChangeKind kind) {
  switch (kind) {
    case ChangeKind::kAdded: return 'A';
    case ChangeKind::kChanged: return 'M';
    case ChangeKind::kRemoved: break;
  }
  return 'D';
}

// Why --apply leaves it out; empty: it does not.
std::string RefusalText(const Change& change, const ChangesArguments& arguments) {
  const char* const why = projects::Refusal(change, {arguments.with_git});
  if (!why) return "";
  return std::string(why) + (projects::IsOfGit(change.path) ? " (--with-git)" : "");
}

std::string HeadOf(const SavedChanges& saved) {
  return saved.id + "  " + core::Printable(saved.folder) + ": " + Summary(saved.set) + "\n";
}

std::string Listing(const SavedChanges& saved, const ChangesArguments& arguments) {
  std::string text = HeadOf(saved);
  for (const Change& change : saved.set.changes) {
    const bool is_directory = change.after.kind == projects::FileKind::kDirectory ||
                              (change.after.kind == projects::FileKind::kNone &&
                               change.before.kind == projects::FileKind::kDirectory);
    text += std::string("  ") + LetterOf(change.kind) + "  " + core::Printable(change.path);
    if (is_directory) text += "/";
    if (change.has_conflict)
      text += "  (conflict: it was also changed outside while the session was open)";
    if (const std::string why = RefusalText(change, arguments); !why.empty())
      text += "  (left out: " + why + ")";
    text += "\n";
  }
  return text;
}

Json JsonOf(const SavedChanges& saved, const ChangesArguments& arguments) {
  Json changes = Json::array();
  for (const Change& change : saved.set.changes) {
    Json each = {{"path", core::Printable(change.path)},
                 {"change", projects::ChangeName(change.kind)}};
    if (change.has_conflict) each["conflict"] = true;
    if (const std::string why = RefusalText(change, arguments); !why.empty())
      each["left_out"] = why;
    changes.push_back(std::move(each));
  }
  return {{"id", saved.id},
          {"folder", core::Printable(saved.folder)},
          {"made", std::chrono::system_clock::to_time_t(saved.made)},
          {"changes", std::move(changes)}};
}

// For a terminal: what a guest wrote moves no cursor there.
std::string ForTerminal(std::string_view diff, bool is_colored) {
  std::string text;
  if (diff.ends_with('\n')) diff.remove_suffix(1);
  for (const std::string_view line : core::SplitAt(diff, '\n')) {
    std::string shown;
    for (const std::string_view part : core::SplitAt(line, '\t'))
      shown += (shown.empty() ? "" : "\t") + core::Printable(part);
    const bool is_plain = !is_colored || line.empty();
    text += is_plain                ? shown
            : line.front() == '+'   ? Colored(shown, Color::kGreen)
            : line.front() == '-'   ? Colored(shown, Color::kRed)
            : line.starts_with("@") ? Colored(shown, Color::kCyan)
                                    : shown;
    text += "\n";
  }
  return text;
}

std::string DiffText(const core::UniqueFd& folder, const ChangeSet& set) {
  std::string diff = projects::UnifiedDiff(folder, set);
  if (!isatty(STDOUT_FILENO) || diff.empty()) return diff;
  return ForTerminal(diff, UsesColors("auto", STDOUT_FILENO));
}

bool IsBelow(const std::string& path, std::string_view top) {
  while (top.ends_with('/')) top.remove_suffix(1);
  return path == top || path.starts_with(std::string(top) + "/");
}

// Those that --only names.
core::Result<ChangeSet> Named(const SavedChanges& saved, const ChangesArguments& arguments) {
  if (arguments.only.empty()) return saved.set;
  for (const std::string& path : arguments.only) {
    const bool is_there = std::ranges::any_of(
        saved.set.changes, [&](const Change& change) { return IsBelow(change.path, path); });
    if (!is_there) return UsersError("--only " + core::Quoted(path) + ": nothing changed there");
  }
  return projects::Select(saved.set, [&](const Change& change) {
    return std::ranges::any_of(arguments.only,
                               [&](const std::string& path) { return IsBelow(change.path, path); });
  });
}

// Asks for each file.
ChangeSet Reviewed(const core::UniqueFd& folder, const ChangeSet& set) {
  bool is_over = false, takes_all = false;
  const bool is_colored = UsesColors("auto", STDOUT_FILENO);
  return projects::Select(set, [&](const Change& change) {
    if (takes_all) return true;
    if (is_over) return false;
    const std::string diff = projects::UnifiedDiff(folder, change);
    std::cout << (diff.empty() ? std::string(projects::ChangeName(change.kind)) + " " +
                                     core::Printable(change.path) + "\n"
                               : ForTerminal(diff, is_colored));
    for (std::string line;;) {
      std::cout << "apply this? [y,n,a,q,?] " << std::flush;
      if (!std::getline(std::cin, line)) line = "q";
      if (line == "y") return true;
      if (line == "n") return false;
      if (line == "a") return takes_all = true;
      if (line == "q") {
        is_over = true;
        return false;
      }
      std::cout << "y: apply it, n: not this one, a: this and all that follow, q: neither this nor "
                   "any that follows\n";
    }
  });
}

int Failed(const core::Error& error) {
  if (error.cause != core::Cause::kWorkspace) return OwnFailure(error);
  Say("belljar changes: " + error.ToString() + "\n");
  return kExitFindings;
}

// What was chosen, without what is refused, which stays pending.
int MakeReal(const projects::ChangeStore& store, SavedChanges saved, const core::UniqueFd& folder,
             const ChangeSet& chosen, const ChangesArguments& arguments) {
  const ChangeSet applied = projects::Select(chosen, [&](const Change& change) {
    const std::string why = RefusalText(change, arguments);
    if (!why.empty()) Say("left out: " + core::Printable(change.path) + ": " + why + "\n");
    return why.empty();
  });
  if (auto done = projects::Apply(folder, applied, {arguments.with_git}); !done)
    return Failed(done.error());
  saved.set = projects::Without(saved.set, applied);
  if (auto done = store.Replace(saved); !done) return OwnFailure(done.error());
  const std::string rest =
      saved.set.changes.empty()
          ? ""
          : "; " + Counted(saved.set.changes.size(), "change") + " still pending";
  return Answer("applied: " + Summary(applied) + rest + "\n",
                saved.set.changes.empty() ? kExitOk : kExitFindings);
}

int ListAll(const projects::ChangeStore& store, const ChangesArguments& arguments) {
  const core::Result<std::vector<SavedChanges>> all = store.List("");
  if (!all) return OwnFailure(all.error());
  std::string text;
  Json json = Json::array();
  for (const SavedChanges& saved : *all) {
    text += HeadOf(saved);
    json.push_back(JsonOf(saved, arguments));
  }
  if (arguments.json) return Answer(JsonText(json), kExitOk);
  return Answer(text.empty() ? "no pending changes\n" : text, kExitOk);
}

// The newest of the folder, or the one that --id names.
core::Result<SavedChanges> Choose(const projects::ChangeStore& store,
                                  const ChangesArguments& arguments) {
  std::error_code code;
  const std::string named = arguments.folder.value_or(".");
  const std::string folder = std::filesystem::canonical(named, code).string();
  if (code && !arguments.id) return UsersError(core::Quoted(named) + ": " + code.message());
  core::Result<std::vector<SavedChanges>> all = store.List(arguments.id ? "" : folder);
  if (!all) return all.error();
  for (SavedChanges& saved : *all) {
    if (!arguments.id || saved.id == *arguments.id) return std::move(saved);
  }
  return UsersError(arguments.id ? "there are no changes " + core::Quoted(*arguments.id) +
                                       "; \"belljar changes --all\" lists what there is"
                                 : "no pending changes of " + core::Quoted(folder) +
                                       "; \"belljar run --project DIR -- COMMAND\" makes some");
}

int Execute(const ChangesArguments& arguments) {
  core::Result<projects::ChangeStore> store = OpenChangeStore();
  if (!store) return OwnFailure(store.error());
  const int actions =
      arguments.diff + arguments.apply + arguments.review + arguments.discard + arguments.all;
  if (actions > 1)
    return UsageError(kChanges, "use one of --diff, --apply, --review, --discard and --all");
  if (arguments.all) return ListAll(*store, arguments);
  core::Result<SavedChanges> saved = Choose(*store, arguments);
  if (!saved && saved.error().error_number == 0)
    return UsageError(kChanges, saved.error().ToString());
  if (!saved) return OwnFailure(saved.error());
  if (arguments.discard) {
    if (auto removed = store->Remove(saved->id); !removed) return OwnFailure(removed.error());
    return Answer("discarded: " + Summary(saved->set) + "\n", kExitOk);
  }
  core::Result<ChangeSet> named = Named(*saved, arguments);
  if (!named) return UsageError(kChanges, named.error().ToString());
  if (!arguments.diff && !arguments.apply && !arguments.review) {
    saved->set = std::move(*named);
    return Answer(arguments.json ? JsonText(JsonOf(*saved, arguments)) : Listing(*saved, arguments),
                  kExitOk);
  }
  const core::Result<core::UniqueFd> folder = projects::OpenFolder(saved->folder);
  if (!folder) return UsageError(kChanges, folder.error().ToString());
  if (arguments.diff) return Answer(DiffText(*folder, *named), kExitOk);
  if (arguments.review) {
    if (isatty(STDIN_FILENO) != 1)
      return UsageError(kChanges, "--review asks at a terminal; use --diff and --apply elsewhere");
    *named = Reviewed(*folder, *named);
    if (named->changes.empty()) return Answer("nothing applied\n", kExitOk);
  }
  return MakeReal(*store, std::move(*saved), *folder, *named, arguments);
}

}  // namespace

core::Result<projects::ChangeStore> OpenChangeStore() {
  std::string folder = host::StatePath(kChanges);
  if (folder.empty())
    return core::MakeError("find a folder for changes", "set HOME or XDG_STATE_HOME");
  return projects::ChangeStore(std::move(folder));
}

core::Result<void> KeepChanges(const projects::ProjectChanges& changes) {
  if (changes.set.changes.empty()) return {};
  core::Result<projects::ChangeStore> store = OpenChangeStore();
  if (!store) return store.error();
  const core::Result<std::string> id = store->Save({.id = {},
                                                    .folder = changes.folder->path,
                                                    .made = std::chrono::system_clock::now(),
                                                    .set = changes.set});
  if (!id) return id.error();
  Say("belljar: " + Summary(changes.set) + " in " + core::Printable(changes.folder->path) +
      ", not applied; \"belljar changes\" shows them there, and applies them\n");
  return {};
}

Command MakeChangesCommand(CLI::App& app) {
  auto arguments = std::make_shared<ChangesArguments>();
  CLI::App* parser =
      AddCommand(app, kChanges, "Review what a session did to a project, and make it real");
  AddText(parser, "dir", arguments->folder, "DIR", "the project (default: the current folder)");
  AddFlag(parser, "--diff", arguments->diff,
          "print the changes as a unified diff, which git apply understands");
  AddFlag(parser, "--apply", arguments->apply,
          "make them real: all, or none if a file was changed meanwhile");
  AddFlag(parser, "--review", arguments->review, "show each file and ask; then apply the chosen");
  AddFlag(parser, "--discard", arguments->discard, "forget them");
  AddFlag(parser, "--all", arguments->all, "list those of all projects");
  AddRepeatable(parser, "--only", arguments->only, "PATH",
                "a file or folder of the project; the others stay pending. Repeatable");
  AddText(parser, "--id", arguments->id, "ID", "those of an earlier session (default: the newest)");
  AddFlag(parser, "--with-git", arguments->with_git,
          "also what is in .git, whose hooks and settings git executes");
  AddFlag(parser, "--json", arguments->json, "print the list as JSON");
  SetExamples(parser, {"belljar run --project . -- make  # a session over this folder",
                       "belljar changes  # what it has changed",
                       "belljar changes --diff | less  # as a patch",
                       "belljar changes --review  # file by file",
                       "belljar changes --apply --only src  # the rest stays pending"});
  return {parser, [arguments] { return Execute(*arguments); }};
}

}  // namespace belljar::cli
