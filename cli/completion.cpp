// `plated completion`: completion scripts for shells, generated from the options that --help lists.
#include <fmt/format.h>

#include <algorithm>

#include "commands.hpp"
#include "errors.hpp"
#include "files.hpp"

namespace plated::cli {
namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

std::string command_names(const std::vector<CommandHelp>& commands) {
  std::vector<std::string> names;
  for (const CommandHelp& command : commands) {
    if (!command.name.empty()) names.push_back(command.name);
  }
  return joined(names);
}

/// Inside single quotes, in any of the shells.
std::string in_quotes(std::string text) {
  for (std::size_t at = 0; (at = text.find('\'', at)) != std::string::npos; at += 4) text.replace(at, 1, "'\\''");
  return "'" + text + "'";
}

std::string bash(const std::vector<CommandHelp>& commands) {
  std::string text =
      "# Completion of plated in bash; source it, or put it among bash's completions.\n"
      "_plated() {\n"
      "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command= k\n"
      "  for ((k = 1; k < COMP_CWORD; ++k)); do\n"
      "    case ${COMP_WORDS[k]} in\n";
  text += fmt::format("      {}) command=${{COMP_WORDS[k]}}; break ;;\n", [&] {
    std::string names = command_names(commands);
    std::replace(names.begin(), names.end(), ' ', '|');
    return names;
  }());
  text += "    esac\n  done\n  COMPREPLY=()\n  case $command in\n";
  for (const CommandHelp& command : commands) {
    std::vector<std::string> words;
    std::string values;
    std::string files;  // options whose value is a file
    std::string free;   // or anything else
    for (const OptionHelp& option : command.options) {
      words.insert(words.end(), option.names.begin(), option.names.end());
      std::string pattern = joined(option.names);
      std::replace(pattern.begin(), pattern.end(), ' ', '|');
      if (!option.choices.empty()) {
        values += fmt::format("        {}) COMPREPLY=($(compgen -W '{}' -- \"$word\")); return ;;\n", pattern,
                              joined(option.choices));
      } else if (option.takes_value) {
        std::string& patterns = option.takes_file ? files : free;
        patterns += (patterns.empty() ? "" : "|") + pattern;
      }
    }
    if (!files.empty()) values += fmt::format("        {}) COMPREPLY=($(compgen -f -- \"$word\")); return ;;\n", files);
    if (!free.empty()) values += fmt::format("        {}) return ;;\n", free);
    const std::string first = command.name.empty() ? command_names(commands) : joined(command.choices);
    text += fmt::format("    {})\n", command.name.empty() ? "''" : command.name);
    if (!values.empty()) text += "      case $before in\n" + values + "      esac\n";
    text += fmt::format("      [[ $word == -* ]] && COMPREPLY=($(compgen -W '{}' -- \"$word\")) && return\n",
                        joined(words));
    text += first.empty() ? "      COMPREPLY=($(compgen -f -- \"$word\")) ;;\n"
                          : fmt::format("      COMPREPLY=($(compgen -W '{}' -- \"$word\")) ;;\n", first);
  }
  return text + "  esac\n}\ncomplete -o filenames -F _plated plated\n";
}

/// `[` and `:` mean something in zsh's descriptions.
std::string zsh_words(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '[' || c == ']' || c == ':' ? fmt::format("\\{}", c) : std::string(1, c);
  return out;
}

std::string zsh_options(const CommandHelp& command) {
  std::string text;
  for (const OptionHelp& option : command.options) {
    for (const std::string& name : option.names) {
      std::string spec = "*" + name + "[" + zsh_words(option.help) + "]";
      if (!option.choices.empty()) {
        spec += ":value:(" + joined(option.choices) + ")";
      } else if (option.takes_value) {
        spec += option.takes_file ? ":file:_files" : ":value: ";
      }
      text += "      " + in_quotes(spec) + " \\\n";
    }
  }
  return text;
}

std::string zsh(const std::vector<CommandHelp>& commands) {
  std::string text =
      "#compdef plated\n"
      "# Completion of plated in zsh; put it as _plated in a folder of $fpath.\n"
      "_plated() {\n  local state\n  _arguments -C \\\n";
  text += zsh_options(commands.front()) + "    '1:command:->command' '*::argument:->argument'\n";
  text += "  case $state in\n  command)\n    local -a commands=(\n";
  for (const CommandHelp& command : commands) {
    if (!command.name.empty()) text += "      " + in_quotes(command.name + ":" + zsh_words(command.help)) + "\n";
  }
  text += "    )\n    _describe command commands ;;\n  argument)\n    case $words[1] in\n";
  for (const CommandHelp& command : commands) {
    if (command.name.empty()) continue;
    const std::string first = command.choices.empty() ? "_files" : "(" + joined(command.choices) + ")";
    text +=
        fmt::format("    {})\n    _arguments \\\n{}      '*:file:{}' ;;\n", command.name, zsh_options(command), first);
  }
  return text + "    esac ;;\n  esac\n}\n_plated \"$@\"\n";
}

std::string fish(const std::vector<CommandHelp>& commands) {
  std::string text = "# Completion of plated in fish; put it in a folder of $fish_complete_path.\n";
  for (const CommandHelp& command : commands) {
    const std::string when =
        command.name.empty() ? "__fish_use_subcommand" : "__fish_seen_subcommand_from " + command.name;
    if (!command.name.empty()) {
      text += fmt::format("complete -c plated -f -n __fish_use_subcommand -a {} -d {}\n", command.name,
                          in_quotes(command.help));
    }
    if (!command.choices.empty()) {
      text += fmt::format("complete -c plated -f -n {} -a {}\n", in_quotes(when), in_quotes(joined(command.choices)));
    }
    for (const OptionHelp& option : command.options) {
      text += fmt::format("complete -c plated -n {}", in_quotes(when));
      for (const std::string& name : option.names) {
        text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      }
      if (!option.choices.empty()) {
        text += " -x -a " + in_quotes(joined(option.choices));
      } else if (option.takes_value) {
        text += option.takes_file ? " -r -F" : " -x";
      }
      text += " -d " + in_quotes(option.help) + "\n";
    }
  }
  return text;
}

}  // namespace

int completion(const Completion& wanted, const std::vector<CommandHelp>& commands) {
  deliver(wanted.shell == "bash" ? bash(commands) : wanted.shell == "zsh" ? zsh(commands) : fish(commands), "");
  return answered;
}

}  // namespace plated::cli
