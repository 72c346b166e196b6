// The arguments of a tool, as a table. The schema that clients see and the checking of what they
// send are both made from it, so neither can say what the other does not.
//
//   const ParameterTable table({{.name = "code", .type = Parameter::Type::kText, …}});
//   description.input_schema = table.Schema();
//   std::vector<std::string> problems;
//   const Arguments arguments = table.Check(call.arguments, problems);
//   if (problems.empty()) Run(*arguments.Text("code"));
#ifndef BELLJAR_SERVER_TOOLS_ARGUMENTS_H_
#define BELLJAR_SERVER_TOOLS_ARGUMENTS_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/bytes.h"
#include "engine/host/request.h"

namespace belljar::server::tools {

struct Parameter {
  enum class Type {
    kText,
    kNumber,
    kBoolean,
    kTextList,
    kSize,   // "256m", or a whole number of bytes
    kFiles,  // file_list.h
  };

  std::string name;
  Type type = Type::kText;
  std::string description;
  bool required = false;
  nlohmann::ordered_json default_value;  // what holds when it is left out; null: nothing to name
  // Of a kNumber and, in bytes, of a kSize; both included.
  double minimum = 0;
  double maximum = 0;
  // Bytes of a kText and of each text in a kTextList; of all contents of kFiles together.
  size_t max_bytes = 0;
  size_t max_items = 0;  // of a kTextList, and of kFiles
  bool may_hold_nul = false;
  // Only named in the schema: which of them a call may use is the tool's to judge.
  std::vector<std::string> choices;
  std::vector<nlohmann::ordered_json> examples;
};

// Arguments that have passed the table's checks; views into the JSON that was checked. Null and
// absent are the same.
class Arguments {
 public:
  const std::string* Text(std::string_view name) const;  // null: not given
  std::optional<double> Number(std::string_view name) const;
  std::optional<bool> Boolean(std::string_view name) const;
  std::optional<std::vector<std::string>> Texts(std::string_view name) const;
  std::optional<core::Bytes> Size(std::string_view name) const;
  std::optional<std::vector<host::InputFile>> Files(std::string_view name) const;

 private:
  friend class ParameterTable;
  const nlohmann::json* Find(std::string_view name) const;

  const nlohmann::json* object_ = nullptr;
  std::vector<std::string_view> sound_;  // names of arguments that hold what the table asks for
};

class ParameterTable {
 public:
  explicit ParameterTable(std::vector<Parameter> parameters);

  // JSON Schema 2020-12.
  nlohmann::ordered_json Schema() const;

  // Adds one line a problem. What has a problem is not in the answer. `arguments` has to outlive
  // it.
  Arguments Check(const nlohmann::json& arguments, std::vector<std::string>& problems) const;

 private:
  void CheckNames(const nlohmann::json& arguments, std::vector<std::string>& problems) const;

  const std::vector<Parameter> parameters_;
};

// One message for all problems of a call of `tool`.
std::string ProblemsText(std::string_view tool, const std::vector<std::string>& problems);

// The value's type and, shortened and printable, the value itself: for messages.
std::string Shown(const nlohmann::json& value);

}  // namespace belljar::server::tools

#endif  // BELLJAR_SERVER_TOOLS_ARGUMENTS_H_
