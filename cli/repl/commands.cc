#include "cli/repl/commands.h"

#include <algorithm>
#include <ctime>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/repl/questions.h"
#include "cli/run_files.h"
#include "engine/core/text.h"
#include "engine/host/number.h"
#include "engine/host/suggest.h"

namespace belljar::cli::repl {
namespace {

using Argument = std::string;
using Text = core::Result<std::string>;  // the answer, in complete lines

struct CommandRow {
  const char* name;
  const char* arguments;
  const char* help;
  Text (*run)(Live& live, const Argument& argument);
  enum class Takes { kNothing, kMaybe, kOne } takes = Takes::kNothing;
  enum class For { kAll, kPython } language = For::kAll;
};
using Takes = CommandRow::Takes;
using For = CommandRow::For;

sessions::Session& Current(Live& live) { return *live.branches.current().session; }

// "as it was after cell 3 (checkpoint c3)".
std::string StateText(Live& live) {
  for (const sessions::CheckpointInfo& each : Current(live).Checkpoints()) {
    if (!each.is_current) continue;
    const std::string when =
        each.cell == 0 ? "before the first cell" : "after cell " + std::to_string(each.cell);
    return "as it was " + when + " (checkpoint " + each.id + ")";
  }
  return "as it was";
}

Text Undo(Live& live, const Argument& argument) {
  const size_t cells = argument.empty() ? 1 : host::NumberFrom<size_t>(argument).value_or(0);
  if (cells == 0) {
    return UsersError("%undo " + core::Quoted(argument) + " is not a number of cells");
  }
  if (core::Result<void> undone = Current(live).Undo(cells); !undone) return undone.error();
  return "the session is " + StateText(live) + "\n";
}

Text RollBack(Live& live, const Argument& checkpoint) {
  if (core::Result<void> back = Current(live).RollBack(checkpoint); !back) return back.error();
  return "the session is " + StateText(live) + "\n";
}

Text MakeCheckpoint(Live& live, const Argument& label) {
  core::Result<std::string> made = Current(live).Checkpoint(label);
  if (!made) return made.error();
  return "checkpoint " + *made + "; %rollback " + *made + " returns to it\n";
}

std::string ClockText(std::chrono::system_clock::time_point time) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
  std::tm local{};
  char text[16] = "";
  if (localtime_r(&seconds, &local)) (void)std::strftime(text, sizeof text, "%H:%M:%S", &local);
  return text;
}

Text ListCheckpoints(Live& live, const Argument&) {
  std::vector<sessions::CheckpointInfo> checkpoints = Current(live).Checkpoints();
  std::ranges::stable_sort(checkpoints, {}, &sessions::CheckpointInfo::made);
  std::string text;
  for (const sessions::CheckpointInfo& each : checkpoints) {
    text += (each.is_current ? "* " : "  ") + each.id + "  " + ClockText(each.made) + "  " +
            (each.cell == 0 ? "before the first cell" : "after cell " + std::to_string(each.cell)) +
            (each.label.empty() ? "" : "  " + core::Printable(each.label)) + "\n";
  }
  return text.empty() ? std::string("no checkpoints yet\n") : text;
}

Text StartBranch(Live& live, const Argument& name) {
  const std::string from = live.branches.current().name;
  if (core::Result<void> started = live.branches.Start(name); !started) return started.error();
  return "branch " + live.branches.current().name + " of " + from + "; %switch " + from +
         " goes back\n";
}

Text ListBranches(Live& live, const Argument&) {
  std::string text;
  for (const auto& branch : live.branches.all()) {
    const bool is_current = branch.get() == &live.branches.current();
    text += (is_current ? "* " : "  ") + branch->name + "  " + WithThousands(branch->cells) +
            (branch->cells == 1 ? " cell\n" : " cells\n");
  }
  return text;
}

Text Switch(Live& live, const Argument& name) {
  if (core::Result<void> switched = live.branches.SwitchTo(name); !switched) {
    return switched.error();
  }
  return "on branch " + name + "\n";
}

Text ListFiles(Live& live, const Argument&) {
  core::Result<std::vector<sessions::SessionFile>> files = Current(live).Files();
  if (!files) return files.error();
  std::string text;
  for (const sessions::SessionFile& file : *files) {
    text += core::Printable(file.path) + "  " + WithThousands(file.size) +
            (file.size == 1 ? " byte\n" : " bytes\n");
  }
  return text.empty() ? std::string("no files yet\n") : text;
}

Text GetFile(Live& live, const Argument& path) {
  core::Result<std::string> content = Current(live).ReadFile(path);
  if (!content) return content.error();
  core::Result<std::string> saved = live.saver.Fetch(path, std::move(*content));
  if (!saved) return saved.error();
  return *saved + "\n";
}

Text PutFile(Live& live, const Argument& given) {
  core::Result<std::vector<host::InputFile>> files =
      ReadInputFiles({given}, live.sandbox.profile(), "%put");
  if (!files) return files.error();
  if (core::Result<void> put = Current(live).WriteFiles(*files); !put) return put.error();
  const host::InputFile& file = files->front();
  return "put " + core::Printable(file.path) + ", " + WithThousands(file.content.size()) +
         " bytes, into the session\n";
}

Text ListVariables(Live& live, const Argument&) { return VariablesText(live); }

Text Reset(Live& live, const Argument&) {
  if (core::Result<void> reset = live.branches.Reset(live.interruption.fd()); !reset) {
    return reset.error();
  }
  return std::string("a new session\n");
}

Text Help(Live& live, const Argument&);

// %time, %timeit and %quit are not run from here: those are cells, and the last ends the prompt.
constexpr CommandRow kCommands[] = {
    {"undo", "[N]", "undo the last cell, or the last N", Undo, Takes::kMaybe, For::kPython},
    {"checkpoints", "", "list the checkpoints; *: the current state", ListCheckpoints,
     Takes::kNothing, For::kPython},
    {"checkpoint", "[LABEL]", "keep the current state under a label", MakeCheckpoint, Takes::kMaybe,
     For::kPython},
    {"rollback", "ID", "roll back to a checkpoint", RollBack, Takes::kOne, For::kPython},
    {"branch", "[NAME]", "branch this session and continue in the branch", StartBranch,
     Takes::kMaybe, For::kPython},
    {"branches", "", "list the branches and their cells; *: the current one", ListBranches,
     Takes::kNothing, For::kPython},
    {"switch", "NAME", "continue in another branch", Switch, Takes::kOne, For::kPython},
    {"files", "", "list the files in the session's workspace", ListFiles},
    {"get", "FILE", "save a file of the session here, or in --output", GetFile, Takes::kOne},
    {"put", "FILE[:DST]", "copy a local file into the session", PutFile, Takes::kOne},
    {"vars", "", "the variables", ListVariables, Takes::kNothing, For::kPython},
    {"time", "CODE", "run a cell and show time and memory; also %%time above it", nullptr,
     Takes::kOne},
    {"timeit", "CODE", "run it many times and show how long it takes; also %%timeit above a cell",
     nullptr, Takes::kOne, For::kPython},
    {"reset", "", "start a new session in place of this one and its branches", Reset},
    {"help", "", "this text", Help},
    {"quit", "", "end the prompt, like Ctrl-D", nullptr},
};

bool IsOffered(const Live& live, const CommandRow& row) {
  return row.language == For::kAll || !live.program();
}

Text Help(Live& live, const Argument&) {
  std::string text;
  for (const CommandRow& row : kCommands) {
    if (!IsOffered(live, row)) continue;
    std::string usage = std::string("%") + row.name;
    if (*row.arguments) usage += std::string(" ") + row.arguments;
    usage.resize(std::max<size_t>(usage.size(), 20), ' ');
    text += usage + "  " + row.help + "\n";
  }
  if (live.program()) {
    return text + "Ctrl-R searches the history, Ctrl-C interrupts the running cell.\n";
  }
  return text +
         "?NAME, NAME?          describe a name: its signature and documentation\n"
         "Tab completes, Ctrl-R searches the history, Ctrl-C interrupts the running cell.\n";
}

std::string_view Trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r");
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") + 1 - begin);
}

bool IsDottedName(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return c == '_' || c == '.' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
           (c >= 'A' && c <= 'Z') || (static_cast<unsigned char>(c) & 0x80);
  });
}

// The NAME of "?NAME" and "NAME?".
std::optional<std::string> AskedName(std::string_view line) {
  line = Trimmed(line);
  if (line.starts_with('?')) {
    while (line.starts_with('?')) line.remove_prefix(1);
    return std::string(Trimmed(line));
  }
  if (!line.ends_with('?')) return std::nullopt;
  while (line.ends_with('?')) line.remove_suffix(1);
  if (!IsDottedName(line)) return std::nullopt;  // "…" in a comment or a string
  return std::string(line);
}

struct Words {
  std::string name;
  std::string argument;
};

Words SplitCommand(std::string_view line) {
  line = Trimmed(line).substr(1);
  const size_t space = std::min(line.find_first_of(" \t"), line.size());
  return {std::string(line.substr(0, space)), std::string(Trimmed(line.substr(space)))};
}

const CommandRow* FindCommand(const std::string& name) {
  const auto found =
      std::ranges::find_if(kCommands, [&](const auto& row) { return name == row.name; });
  return found == std::end(kCommands) ? nullptr : found;
}

std::vector<std::string> CommandNames(const Live& live) {
  std::vector<std::string> names;
  for (const CommandRow& row : kCommands) {
    if (IsOffered(live, row)) names.emplace_back(row.name);
  }
  return names;
}

core::Error PythonOnly(const Live& live, const std::string& command) {
  return UsersError(command + " is for Python only, not for " + live.program()->title);
}

core::Result<void> CheckArgument(const Live& live, const CommandRow& row,
                                 const std::string& argument) {
  const std::string name = std::string("%") + row.name;
  if (!IsOffered(live, row)) return PythonOnly(live, name);
  if (row.takes == Takes::kOne && argument.empty()) {
    return UsersError(name + " needs an argument: " + name + " " + row.arguments);
  }
  if (row.takes == Takes::kNothing && !argument.empty()) {
    return UsersError(name + " takes no argument");
  }
  return {};
}

// A failed command is the user's error, unless the session is lost.
CommandEnd FailCommand(Live& live, const core::Error& error) {
  const bool is_lost = !live.branches.current().session->closed().empty();
  live.printer.Message("belljar: " + PrintableLines(error.ToString()) + "\n");
  if (is_lost) {
    live.printer.Message("belljar: this session has ended; %reset starts a new one\n");
  }
  return {false, is_lost ? kExitFailure : kExitUsage};
}

CommandEnd AnswerWith(Live& live, const Text& text) {
  if (!text) return FailCommand(live, text.error());
  live.printer.Answer(*text);
  return {};
}

// Possible arguments of a command.
std::vector<std::string> ArgumentsOf(Live& live, const std::string& command) {
  std::vector<std::string> arguments;
  if (command == "switch") return live.branches.Names();
  if (command == "rollback") {
    for (const auto& each : Current(live).Checkpoints()) arguments.push_back(each.id);
  }
  if (command == "get" && live.sandbox.profile().workspace) {
    if (const auto files = Current(live).Files()) {
      for (const sessions::SessionFile& file : *files) {
        arguments.push_back(core::Printable(file.path));
      }
    }
  }
  return arguments;
}

}  // namespace

bool IsCommand(std::string_view line) {
  return Trimmed(line).starts_with('%') || AskedName(line).has_value();
}

void BeginCell(const CellStart& start, CellText& cell) {
  if (start.is_repeated) return cell.AddRepeatingHead();
  if (start.is_head) return cell.AddHead();
  cell.Add(start.code);
}

// One expression, which leaves no name behind, in one line (python/belljar/_cell_magics.py has it
// in several, with options).
std::string TimeitCode(const std::string& statement) {
  return "(lambda timer, text: (lambda loops: (lambda each, mean: print(f\"{text(mean)} ± "
         "{text((sum((one - mean) ** 2 for one in each) / 7) ** 0.5)} per loop (mean ± std. dev. "
         "of 7 runs, {loops:,} loops each)\"))(*(lambda each: (each, sum(each) / 7))([taken / "
         "loops "
         "for taken in timer.repeat(7, loops)])))(max(timer.autorange()[0] // 4, 1)))"
         "(__import__(\"timeit\").Timer(" +
         // A string of JSON is one of Python's.
         nlohmann::json(core::ValidUtf8(statement)).dump() +
         ", globals=globals()), lambda seconds: next(f\"{seconds / size:.3g} {unit}\" for size, "
         "unit "
         "in ((1, \"s\"), (1e-3, \"ms\"), (1e-6, \"µs\"), (1e-9, \"ns\")) if seconds >= size or "
         "unit == \"ns\"))";
}

std::optional<CellStart> StartOfCell(const Live& live, std::string_view line) {
  if (!Trimmed(line).starts_with('%')) return std::nullopt;
  Words words = SplitCommand(line);
  const bool is_timeit = words.name == "timeit" || words.name == "%timeit";
  if (is_timeit && live.program()) return std::nullopt;  // RunCommand says why
  if (words.name == "%time") return CellStart{words.argument, true, words.argument.empty()};
  if (words.name == "%timeit" && words.argument.empty()) return CellStart{{}, false, true, true};
  if (words.argument.empty()) return std::nullopt;
  if (words.name == "time") return CellStart{std::move(words.argument), true};
  if (words.name == "timeit") return CellStart{TimeitCode(words.argument)};
  return std::nullopt;
}

CommandEnd RunCommand(Live& live, std::string_view line) {
  if (const std::optional<std::string> name = AskedName(line)) {
    if (name->empty()) return AnswerWith(live, Help(live, ""));
    if (live.program()) return FailCommand(live, PythonOnly(live, "?" + core::Printable(*name)));
    return AnswerWith(live, Inspect(live, *name));
  }
  const Words words = SplitCommand(line);
  const CommandRow* row = FindCommand(words.name);
  if (words.name == "%timeit" && live.program()) {
    return FailCommand(live, PythonOnly(live, "%%timeit"));
  }
  if (!row) {
    return FailCommand(
        live, UsersError("unknown command %" + core::Printable(words.name) +
                         host::Suggestion(words.name, CommandNames(live)) + "; %help lists them"));
  }
  if (core::Result<void> checked = CheckArgument(live, *row, words.argument); !checked) {
    return FailCommand(live, checked.error());
  }
  if (!row->run) return {true, kExitOk};
  return AnswerWith(live, row->run(live, words.argument));
}

Completions CompleteCommand(Live& live, std::string_view before) {
  const size_t space = before.find_first_of(" \t");
  Completions completions;
  std::vector<std::string> offered;
  if (space == before.npos) {
    completions.start = 1;
    offered = CommandNames(live);
  } else {
    completions.start = before.find_last_of(" \t") + 1;
    offered = ArgumentsOf(live, std::string(before.substr(1, space - 1)));
  }
  const std::string_view typed = before.substr(completions.start);
  for (std::string& each : offered) {
    if (each.starts_with(typed)) completions.texts.push_back(std::move(each));
  }
  if (space == before.npos && completions.texts.size() == 1) {
    const CommandRow* row = FindCommand(completions.texts.front());
    if (row && row->takes != Takes::kNothing) completions.texts.front() += ' ';
  }
  return completions;
}

}  // namespace belljar::cli::repl
