// What callers are told about commands, as objects and as text for models.
#ifndef BELLJAR_SERVER_TOOLS_COMMAND_ANSWERS_H_
#define BELLJAR_SERVER_TOOLS_COMMAND_ANSWERS_H_

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "engine/commands/command.h"

namespace belljar::server::tools {

// Its state and, if `is_full`, times and addresses, but not its output.
nlohmann::ordered_json StatusJson(const commands::Command& command,
                                  const commands::CommandStatus& status, bool is_full);

// "exited with code 0", "is running", "was stopped: …".
std::string StatusText(const commands::CommandStatus& status);

// "[belljar: …]"
std::string CommandNote(const std::string& text);

// The part of a piece that ends with a whole character, unless nothing follows or there is none.
std::string_view WholeCharacters(std::string_view bytes, bool is_last);

// Members "text", or "base64" of what is not UTF-8.
void AddBytes(std::string_view bytes, nlohmann::ordered_json& json);

}  // namespace belljar::server::tools

#endif  // BELLJAR_SERVER_TOOLS_COMMAND_ANSWERS_H_
