#include "cli/completion_scripts.h"

#include <string_view>

namespace belljar::cli {
namespace {

using Commands = std::vector<CompletionCommand>;

std::string Join(const std::vector<std::string>& words, std::string_view separator) {
  std::string text;
  for (const std::string& word : words) {
    if (!text.empty()) text += separator;
    text += word;
  }
  return text;
}

std::string ReplaceAll(std::string text, std::string_view what, std::string_view with) {
  for (size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
  return text;
}

// The first clause of the help text; the full text is in --help.
std::string Short(const std::string& help) {
  const std::string clause = help.substr(0, help.find_first_of(";:("));
  return clause.substr(0, clause.find_last_not_of(' ') + 1);
}

std::string Quote(const std::string& text) { return "'" + ReplaceAll(text, "'", "'\\''") + "'"; }
std::string FishQuote(const std::string& text) {
  return "'" + ReplaceAll(ReplaceAll(text, "\\", "\\\\"), "'", "\\'") + "'";
}

// The parts before and after the last space: "image" and "build"; for "run", "" and "run".
std::string Above(const CompletionCommand& command) {
  const size_t space = command.name.rfind(' ');
  return space == command.name.npos ? "" : command.name.substr(0, space);
}
std::string LastWord(const CompletionCommand& command) {
  return command.name.substr(command.name.rfind(' ') + 1);
}

// The subcommands of `above`; empty: belljar itself.
Commands CommandsOf(const Commands& commands, const std::string& above) {
  Commands found;
  for (const CompletionCommand& command : commands) {
    if (!command.name.empty() && Above(command) == above) found.push_back(command);
  }
  return found;
}

std::vector<std::string> CommandNames(const Commands& commands, const std::string& above) {
  std::vector<std::string> names;
  for (const CompletionCommand& command : CommandsOf(commands, above)) {
    names.push_back(LastWord(command));
  }
  return names;
}

bool IsPositional(const CompletionOption& option) { return option.names.empty(); }

// The kind of paths that a value may be, as named in the bash script.
std::string PathsOf(const CompletionOption& option) {
  return option.takes_directory ? "directories" : option.takes_file ? "files" : "none";
}

// --- bash -------------------------------------------------------------------------------------

std::string BashValueCases(const Commands& commands) {
  std::string text;
  for (const CompletionCommand& command : commands) {
    for (const CompletionOption& option : command.options) {
      if (!option.takes_value || IsPositional(option)) continue;
      std::vector<std::string> patterns;
      for (const std::string& name : option.names) {
        patterns.push_back("'" + command.name + " " + name + "'");
      }
      text += "    " + Join(patterns, " | ") + ") words=" + Quote(Join(option.values, " ")) +
              " paths=" + PathsOf(option) + " ;;\n";
    }
  }
  return text;
}

// A word is a command depending on the words before it.
std::string BashCommandPatterns(const Commands& commands) {
  std::vector<std::string> patterns;
  for (const CompletionCommand& command : commands) {
    if (!command.name.empty()) {
      patterns.push_back("'" + Above(command) + " " + LastWord(command) + "'");
    }
  }
  return Join(patterns, " | ");
}

std::string BashWordCases(const Commands& commands) {
  std::string text;
  for (const CompletionCommand& command : commands) {
    std::vector<std::string> options;
    std::vector<std::string> positionals;
    bool files = false;
    for (const CompletionOption& option : command.options) {
      options.insert(options.end(), option.names.begin(), option.names.end());
      if (!IsPositional(option)) continue;
      positionals.insert(positionals.end(), option.values.begin(), option.values.end());
      files = files || option.takes_file;
    }
    for (std::string& name : CommandNames(commands, command.name)) {
      positionals.push_back(std::move(name));
    }
    text += "      '" + command.name + "') options=" + Quote(Join(options, " ")) +
            " words=" + Quote(Join(positionals, " ")) + " paths=" + (files ? "files" : "none") +
            " ;;\n";
  }
  return text;
}

}  // namespace

std::string BashScript(const Commands& commands) {
  return R"(# Completion of belljar for bash. Made by: belljar completion bash
_belljar() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
  local command='' options='' words='' paths='' i
  # bash takes "--option=value" for three words.
  if [[ $current == '=' ]]; then
    current=''
  elif [[ $previous == '=' ]] && ((COMP_CWORD >= 2)); then
    previous=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$command ${COMP_WORDS[i]}" in
      )" +
         BashCommandPatterns(commands) +
         R"() command=${command:+$command }${COMP_WORDS[i]} ;;
    esac
  done
  case "$command $previous" in
)" + BashValueCases(commands) +
         R"(  esac
  if [[ -z $paths ]]; then
    case $command in
)" + BashWordCases(commands) +
         R"(    esac
    [[ $current == -* ]] && words=$options paths=none
  fi
  # A list with commas, or joined with +, is completed at its last part.
  local last=${current##*[,+]}
  local head=${current%"$last"}
  mapfile -t COMPREPLY < <(compgen -P "$head" -W "$words" -- "$last")
  if [[ $paths != none ]]; then
    local kind=-f found
    [[ $paths == directories ]] && kind=-d
    mapfile -t found < <(compgen "$kind" -- "$current")
    COMPREPLY+=("${found[@]}")
    compopt -o filenames 2>/dev/null
  fi
}
complete -F _belljar belljar
)";
}

// --- zsh --------------------------------------------------------------------------------------

namespace {

std::string ZshEscape(std::string text) {
  for (const char* special : {"\\", ":", "[", "]"}) {
    text = ReplaceAll(text, special, "\\" + std::string(special));
  }
  return text;
}

// What _arguments does for a value: ":message:action".
std::string ZshAction(const CompletionOption& option) {
  std::string action = option.takes_directory ? "_files -/" : option.takes_file ? "_files" : " ";
  if (!option.values.empty()) action = "(" + Join(option.values, " ") + ")";
  if (option.takes_file && !option.values.empty()) {
    action = "{_alternative \"values\\:value\\:(" + Join(option.values, " ") +
             ")\" \"files\\:file\\:_files\"}";
  }
  // The message is displayed above the values.
  return ":" + ZshEscape(option.type) + ":" + action;
}

std::string ZshArguments(const CompletionCommand& command, const std::string& margin) {
  std::string text;
  for (const CompletionOption& option : command.options) {
    if (IsPositional(option)) {
      text += " \\\n" + margin + Quote("*" + ZshAction(option));
      continue;
    }
    for (const std::string& name : option.names) {
      std::string spec = name;
      if (option.takes_value) spec += name.starts_with("--") ? "=" : "+";
      spec += "[" + ZshEscape(Short(option.help)) + "]";
      if (option.takes_value) spec += ZshAction(option);
      text += " \\\n" + margin + Quote("*" + spec);
    }
  }
  return text;
}

// The case for the arguments of `command`; `words` begins with its last word.
std::string ZshArgumentCase(const Commands& commands, const CompletionCommand& command) {
  std::string text = "        " + command.name + ")\n";
  const Commands nested = CommandsOf(commands, command.name);
  if (nested.empty()) {
    return text + "          _arguments" + ZshArguments(command, "            ") +
           "\n          ;;\n";
  }
  text += "          local nested=''\n          ((CURRENT > 2)) && nested=$words[2]\n";
  text += "          case $nested in\n";
  for (const CompletionCommand& each : nested) {
    text += "            " + LastWord(each) + ")\n              shift words\n" +
            "              ((CURRENT--))\n              _arguments" +
            ZshArguments(each, "                ") + "\n              ;;\n";
  }
  text += "            *)\n              _arguments" + ZshArguments(command, "                ") +
          " \\\n                '1:command:(" + Join(CommandNames(commands, command.name), " ") +
          ")'\n              ;;\n";
  return text + "          esac\n          ;;\n";
}

}  // namespace

std::string ZshScript(const Commands& commands) {
  std::string text = "#compdef belljar\n# Generated by: belljar completion zsh\n_belljar() {\n";
  text += "  local context state state_descr line curcontext=$curcontext\n  typeset -A opt_args\n";
  text += "  _arguments -C" + ZshArguments(commands[0], "    ") +
          " \\\n    '1:command:->command' \\\n    '*::argument:->argument'\n";
  text += "  case $state in\n    command)\n      local -a commands=(\n";
  for (const CompletionCommand& command : CommandsOf(commands, "")) {
    text += "        " + Quote(command.name + ":" + command.help) + "\n";
  }
  text += "      )\n      _describe command commands\n      ;;\n    argument)\n";
  text += "      case $line[1] in\n";
  for (const CompletionCommand& command : CommandsOf(commands, "")) {
    text += ZshArgumentCase(commands, command);
  }
  text += "      esac\n      ;;\n  esac\n}\n";
  // When autoloaded, the file is the function; when sourced, the function must be registered.
  text +=
      "if [[ $funcstack[1] == _belljar ]]; then _belljar \"$@\"; else compdef _belljar belljar; "
      "fi\n";
  return text;
}

// --- fish -------------------------------------------------------------------------------------

namespace {

// The condition under which arguments of `command` are completed.
std::string FishCondition(const CompletionCommand& command) {
  if (command.name.empty()) return " -n __fish_use_subcommand";
  const std::string above = Above(command);
  std::string condition;
  if (!above.empty()) condition = "__fish_seen_subcommand_from " + above + "; and ";
  return " -n '" + condition + "__fish_seen_subcommand_from " + LastWord(command) + "'";
}

std::string FishLine(const CompletionCommand& command, const CompletionOption& option) {
  std::string line = "complete -c belljar" + FishCondition(command);
  for (const std::string& name : option.names) {
    line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  }
  if (!IsPositional(option) && option.takes_value) line += " -r";
  line += option.takes_file ? " -F" : " -f";
  if (option.takes_directory) line += " -a '(__fish_complete_directories)'";
  if (!option.values.empty()) line += " -a " + FishQuote(Join(option.values, " "));
  if (!IsPositional(option)) line += " -d " + FishQuote(Short(option.help));
  return line + "\n";
}

}  // namespace

std::string FishScript(const Commands& commands) {
  std::string text = "# Completion of belljar for fish. Generated by: belljar completion fish\n";
  text += "complete -c belljar -f\n";
  for (const CompletionCommand& command : commands) {
    for (const CompletionCommand& below : CommandsOf(commands, command.name)) {
      text += "complete -c belljar" + FishCondition(command) + " -a " + LastWord(below) + " -d " +
              FishQuote(below.help) + "\n";
    }
    for (const CompletionOption& option : command.options) text += FishLine(command, option);
  }
  return text;
}

}  // namespace belljar::cli
