// Profile: what code may use. Read from profiles/*.toml by engine/profiles/loader.h.
#ifndef BELLJAR_ENGINE_CORE_PROFILE_H_
#define BELLJAR_ENGINE_CORE_PROFILE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "engine/core/limits.h"

namespace belljar::core {

struct ModuleExports {
  std::string name;
  std::vector<std::string> exports;
};

// A tree that stays readable inside the private root. "{stdlib}" stands for the library of the
// embedded interpreter.
struct PathRule {
  std::string path;
  bool optional = false;                  // may be missing on a machine
  std::vector<std::string> without = {};  // names of folders in it that are hidden
  std::vector<std::string> only = {};     // paths in it that are shown; empty: all
  bool device = false;                    // one of kDevices
  std::string source = {};                // what is shown there, if not what the machine has there
  // `source` is where a symbolic link leads, in the worker's own file systems.
  bool is_link = false;

  // The zygote knows what `without` hides.
  static auto Members(auto& rule) {
    return std::tie(rule.path, rule.optional, rule.only, rule.device, rule.source, rule.is_link);
  }
};

// The devices that a profile may show. They hold no data and lead nowhere, but the last to the
// terminal of the process that opens it. A worker writes only to the first and the last.
inline constexpr char kNullDevice[] = "/dev/null";
inline constexpr char kTerminalDevice[] = "/dev/tty";
inline constexpr const char* kDevices[] = {kNullDevice, "/dev/zero", "/dev/urandom",
                                           kTerminalDevice};

// A condition on one argument of a system call: (args[argument] & mask) equals `value`, or
// args[argument] is below it.
struct SyscallCondition {
  unsigned argument = 0;
  uint64_t mask = ~uint64_t{0};
  uint64_t value = 0;
  bool below = false;
};

// One entry of a system call list. It applies if all conditions hold; other uses of the call are
// denied.
struct SyscallRule {
  std::string name;
  std::vector<SyscallCondition> conditions;  // each on a different argument
};

// Two private file systems of one worker, each of this size: its working directory and /tmp.
inline constexpr char kWorkspacePath[] = "/workspace";
inline constexpr char kTemporaryPath[] = "/tmp";
struct WorkspaceRule {
  Bytes size{0};
  uint32_t inodes = 0;  // files, directories and links
  static auto Members(auto& rule) { return std::tie(rule.size, rule.inodes); }
};

// The only way out of a worker's own network namespace: a proxy that the host serves.
struct EgressListener {
  uint16_t port = 0;  // on 127.0.0.1 in the namespace
  static auto Members(auto& listener) { return std::tie(listener.port); }
};

// Packages that are not part of Belljar: a folder below share/belljar/packages.
struct PackageSet {
  std::string name;                  // of the folder and of requirements/NAME.txt
  std::vector<std::string> modules;  // all preloaded; if one is missing, the set is unusable
};

// How the errors that an interpreter or a compiler writes are read: an extended regular expression
// (regex(7)) for one line, and what each of its groups is: "file", "line", "column", "type",
// "message", or "" for nothing.
struct ErrorPattern {
  std::string pattern;
  std::vector<std::string> groups;
  bool last = false;  // of several lines that match the last one counts, and else the first
  static auto Members(auto& pattern) {
    return std::tie(pattern.pattern, pattern.groups, pattern.last);
  }
};

// How plain data is written in a language, for variables that a caller sets, and how it is read
// back. "{name}" stands for the variable, "{value}" for what it gets, "{key}" for the text of a key
// and "{items}" for what a list or map holds.
struct ValueForms {
  enum class Strings { kJson, kShell };
  Strings strings = Strings::kJson;  // "…" as in JSON, or $'…' as in bash(1)
  bool nul_in_strings = false;
  std::string null, true_, false_, nan, infinity;
  std::string big;        // of an integer beyond 2**53
  std::string separator;  // of items
  std::string list, map, entry;
  std::string vector;             // a list of scalars of one kind; empty: as any other
  bool nested = true;             // false: a list or map in another is its JSON, as a string
  std::string set;                // a statement, in one line, which may be followed by others there
  std::string set_list, set_map;  // likewise, of these; empty: as any other
  // A cell whose value is a list with that of the variable.
  std::string get;
};

// A file that makes an interpreter or a compiler start faster, such as an archive of its classes.
// `belljar languages --prepare` makes it once on a machine (outside/preparation.h): the command
// runs as the language's programs do, with `source` as its program, and leaves `file` in the
// workspace.
struct Preparation {
  std::vector<std::string> command;  // empty: there is none
  std::string source;
  std::string file;
  // Files of the machine that it was made from: where one differs, the result is not used.
  std::vector<std::string> from;
};

// A language other than the embedded Python (languages/*.toml): its programs are run by a program
// of this machine. "{file}" in a command stands for the source, "{binary}" for what is compiled,
// "{home}" for the folder that the interpreter is installed in, and "{prepared}" for the file of
// `prepare`, or for nothing where there is none.
inline constexpr char kCompiledProgram[] = "{binary}";
struct ProgramRule {
  std::string title;                    // "JavaScript (Node.js)"
  std::vector<std::string> aliases;     // other names of the language
  std::vector<std::string> extensions;  // of its files: ".js"
  std::vector<std::string>
      interpreters;                  // in the first line of its files: "node" of "#!…/env node"
  std::string package;               // of Debian, which installs it
  std::vector<std::string> version;  // a command that prints it
  std::string file;                  // the source's name in the workspace
  std::vector<std::string> compile;  // before the command; empty: nothing is compiled
  CompileLimits compile_limits;      // those of a call, where they are higher
  std::vector<std::string> command;
  // Instead of the command, started ahead in a waiting worker: it writes a byte to descriptor 4 and
  // reads from descriptor 3, until its end, a JSON object with "file", "arguments", "memory" and
  // "max_result" (bytes), which it then runs as the command would. Empty: there is no such start.
  std::vector<std::string> warm;
  // `warm` also runs what has no start ahead, and writes to descriptor 4, after the program, a line
  // as an interpreter of a session does: "result", "repr" and "notes" of it are read. An empty line
  // after that says that nothing is left to do but to exit with 0: it waits for its end.
  bool reports_value = false;
  // An interpreter of a session: it writes a line to descriptor 4 when it waits for a cell, and
  // reads a line from descriptor 3 for each: the path of its source, a space, and the maximum size
  // of its result in bytes. It answers with a line of JSON, whose members are all optional:
  // "exit_code", "interrupted" (by SIGINT), "error" (with "type", "message", "line", "column"),
  // "result" (JSON, as a string), "repr" and "notes" (texts, by name of a file in `shows`). Empty:
  // there are no sessions.
  std::vector<std::string> session;
  // Instead of cells, its sessions run commands, which may have terminals
  // (engine/commands/command_runner.h). What is in the workspace can be executed.
  bool commands = false;
  // A folder in a worker. The files that a program or a cell leaves there are what it shows
  // (engine/inside/shown_files.h). Empty: there is none.
  std::string shows;
  std::optional<ValueForms> values;      // nullopt: its variables cannot be set
  std::vector<std::string> environment;  // "NAME=value"
  std::vector<ErrorPattern> errors;
  Preparation prepare;
  std::string example;  // a program that prints "hello"; for people, and to try whether it runs

  bool has_sessions() const { return commands || !session.empty(); }
  // Whether its programs execute what is in the workspace.
  bool runs_workspace() const { return commands || command.front() == kCompiledProgram; }

  // What a launcher needs.
  static auto Members(auto& rule) {
    return std::tie(rule.command, rule.compile, rule.warm, rule.reports_value, rule.session,
                    rule.commands, rule.shows, rule.file, rule.environment, rule.errors);
  }
};

struct Profile {
  std::string name;                // "basic", or the tiers joined by "+"
  std::vector<std::string> tiers;  // in order: the profiles added to the one they extend
  std::string summary;
  std::vector<std::string> attack_surface;  // what it adds for an attacker, one sentence each
  Limits default_limits;
  Limits maximum_limits;  // maximum that a call may request
  std::vector<ModuleExports> modules;
  std::vector<std::string> modules_for_tests;  // that only refuse: [for_tests]
  std::vector<PathRule> paths;
  std::vector<PackageSet> packages;
  std::vector<std::string> environment;  // of the zygote: "NAME=value"
  bool huge_pages = false;               // for the interpreter's heap
  // all that a second zygote loads; empty: no second zygote
  std::vector<std::string> light_packages;
  Bytes artifacts{
      0};  // total size of the figures and tables that a run displays; 0: none are collected
  std::optional<WorkspaceRule> workspace;
  std::optional<EgressListener> egress;
  bool without_policy = false;  // of the language: only the kernel layers contain a program
  std::vector<SyscallRule> allowed_syscalls;
  std::vector<SyscallRule> thread_syscalls;    // in addition, for programs without the policy
  std::vector<std::string> spawning_syscalls;  // for the zygote, never for a guest
  std::vector<std::string> hostile_syscalls;   // kill the worker
  std::optional<ProgramRule> program;          // of a language; nullopt: the embedded Python
  std::string document;  // the whole TOML as JSON, for the policy inside the worker
};

}  // namespace belljar::core

#endif  // BELLJAR_ENGINE_CORE_PROFILE_H_
