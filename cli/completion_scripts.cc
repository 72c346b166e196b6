#include "cli/completion_scripts.h"

#include <string_view>

namespace belljar {
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

// Help has a page of its own: here its first clause is enough.
std::string Short(const std::string& help) {
  const std::string clause = help.substr(0, help.find_first_of(";:("));
  return clause.substr(0, clause.find_last_not_of(' ') + 1);
}

std::string Quote(const std::string& text) { return "'" + ReplaceAll(text, "'", "'\\''") + "'"; }
std::string FishQuote(const std::string& text) {
  return "'" + ReplaceAll(ReplaceAll(text, "\\", "\\\\"), "'", "\\'") + "'";
}

std::vector<std::string> CommandNames(const Commands& commands) {
  std::vector<std::string> names;
  for (const CompletionCommand& command : commands) {
    if (!command.name.empty()) names.push_back(command.name);
  }
  return names;
}

bool IsPositional(const CompletionOption& option) { return option.names.empty(); }

// What the scripts for bash call the names that a value may be.
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
    if (command.name.empty()) positionals = CommandNames(commands);
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
    case ${COMP_WORDS[i]} in
      )" +
         Join(CommandNames(commands), " | ") +
         R"()
        command=${COMP_WORDS[i]}
        break
        ;;
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
  // The message is what is shown above the values.
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

}  // namespace

std::string ZshScript(const Commands& commands) {
  std::string text = "#compdef belljar\n# Made by: belljar completion zsh\n_belljar() {\n";
  text += "  local context state state_descr line curcontext=$curcontext\n  typeset -A opt_args\n";
  text += "  _arguments -C" + ZshArguments(commands[0], "    ") +
          " \\\n    '1:command:->command' \\\n    '*::argument:->argument'\n";
  text += "  case $state in\n    command)\n      local -a commands=(\n";
  for (const CompletionCommand& command : commands) {
    if (command.name.empty()) continue;
    text += "        " + Quote(command.name + ":" + command.help) + "\n";
  }
  text += "      )\n      _describe command commands\n      ;;\n    argument)\n";
  text += "      case $line[1] in\n";
  for (const CompletionCommand& command : commands) {
    if (command.name.empty()) continue;
    text += "        " + command.name + ")\n          _arguments" +
            ZshArguments(command, "            ") + "\n          ;;\n";
  }
  text += "      esac\n      ;;\n  esac\n}\n";
  // Autoloaded, the file is the function; sourced, it has to be registered.
  text +=
      "if [[ $funcstack[1] == _belljar ]]; then _belljar \"$@\"; else compdef _belljar belljar; "
      "fi\n";
  return text;
}

// --- fish -------------------------------------------------------------------------------------

namespace {

std::string FishLine(const CompletionCommand& command, const CompletionOption& option) {
  std::string line = "complete -c belljar";
  line += command.name.empty() ? " -n __fish_use_subcommand"
                               : " -n '__fish_seen_subcommand_from " + command.name + "'";
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
  std::string text = "# Completion of belljar for fish. Made by: belljar completion fish\n";
  text += "complete -c belljar -f\n";
  for (const CompletionCommand& command : commands) {
    if (!command.name.empty()) {
      text += "complete -c belljar -n __fish_use_subcommand -a " + command.name + " -d " +
              FishQuote(command.help) + "\n";
    }
    for (const CompletionOption& option : command.options) text += FishLine(command, option);
  }
  return text;
}

}  // namespace belljar
