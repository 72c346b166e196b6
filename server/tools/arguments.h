// The arguments of a tool, as a table. Both the published schema and the validation of arguments
// are derived from it, so they cannot differ.
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
    kTextOrList,  // read as Value
    kSize,        // "256m", or a whole number of bytes
    kFiles,       // file_list.h
    kTextMap,
    kValue,  // any JSON but null
  };

  std::string name;
  Type type = Type::kText;
  std::string description;
  bool required = false;
  nlohmann::ordered_json default_value;  // if omitted; null: no default to show
  // For kNumber and, in bytes, for kSize; inclusive.
  double minimum = 0;
  double maximum = 0;
  // Bytes: of a kText, of each text in a kTextList, kTextOrList or kTextMap, of all contents of
  // kFiles in total.
  size_t max_bytes = 0;
  size_t max_items = 0;  // for kTextList, kTextOrList, kTextMap and kFiles
  bool may_hold_nul = false;
  // Omitted from the schema, since this server does not offer it; checked like any other argument,
  // so that the tool can say what to do instead.
  bool is_unlisted = false;
  // Only listed in the schema; the tool decides which of them a call may use.
  std::vector<std::string> choices;
};

// Arguments that have passed the table's checks; a view into the checked JSON. Null counts as
// absent.
class Arguments {
 public:
  const std::string* Text(std::string_view name) const;  // null: not given
  std::optional<double> Number(std::string_view name) const;
  std::optional<bool> Boolean(std::string_view name) const;
  std::optional<std::vector<std::string>> Texts(std::string_view name) const;
  // The entries of a kTextMap, as "NAME=VALUE".
  std::optional<std::vector<std::string>> Pairs(std::string_view name) const;
  std::optional<core::Bytes> Size(std::string_view name) const;
  std::optional<std::vector<host::InputFile>> Files(std::string_view name) const;
  const nlohmann::json* Value(std::string_view name) const { return Find(name); }

 private:
  friend class ParameterTable;
  const nlohmann::json* Find(std::string_view name) const;

  const nlohmann::json* object_ = nullptr;
  std::vector<std::string_view> sound_;  // names of valid arguments
};

class ParameterTable {
 public:
  explicit ParameterTable(std::vector<Parameter> parameters);

  // JSON Schema 2020-12.
  nlohmann::ordered_json Schema() const;

  // Appends one line per problem. Invalid arguments are not in the result. `arguments` must outlive
  // it.
  Arguments Check(const nlohmann::json& arguments, std::vector<std::string>& problems) const;

 private:
  void CheckNames(const nlohmann::json& arguments, std::vector<std::string>& problems) const;

  const std::vector<Parameter> parameters_;
};

// One message for all problems of a call of `tool`.
std::string ProblemsText(std::string_view tool, const std::vector<std::string>& problems);

// The value's type and the value itself, shortened and printable, for messages.
std::string Shown(const nlohmann::json& value);

}  // namespace belljar::server::tools

#endif  // BELLJAR_SERVER_TOOLS_ARGUMENTS_H_
