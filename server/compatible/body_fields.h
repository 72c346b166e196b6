// BodyFields: the object sent by a client, read member by member. Each API reports errors in its
// own words.
//
//   std::variant<nlohmann::json, std::string> body = ReadBody(request.body);
//   BodyFields fields(std::get<nlohmann::json>(body));
//   const std::optional<std::string> code = fields.Text("code");
//   if (!fields.mistakes().empty()) return Refuse(fields.mistakes());
#ifndef BELLJAR_SERVER_COMPATIBLE_BODY_FIELDS_H_
#define BELLJAR_SERVER_COMPATIBLE_BODY_FIELDS_H_

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace belljar::server::compatible {

// The object, or what is wrong with the text.
std::variant<nlohmann::json, std::string> ReadBody(std::string_view text);

struct Mistake {
  std::string field;
  std::string message;  // "must be a string"
};

// A view of the object.
class BodyFields {
 public:
  explicit BodyFields(const nlohmann::json& object) : object_(object) {}

  // nullopt: absent, null or, which is a mistake, of another type.
  std::optional<std::string> Text(const char* name);
  // Also accepts a number written as text: form encoders and lax validators have led clients to
  // send those.
  std::optional<double> Number(const char* name);
  std::optional<bool> Boolean(const char* name);
  // Empty if absent.
  std::vector<std::string> Texts(const char* name);
  // Null values are skipped.
  std::vector<std::pair<std::string, std::string>> TextMap(const char* name);
  // Null if absent.
  const nlohmann::json* Find(const char* name);
  // A line about each member that nothing has read; empty: there is none.
  std::string UnknownMembers() const;

  void Add(std::string field, std::string message);
  const std::vector<Mistake>& mistakes() const { return mistakes_; }

 private:
  const nlohmann::json& object_;
  std::vector<std::string> known_;
  std::vector<Mistake> mistakes_;
};

}  // namespace belljar::server::compatible

#endif  // BELLJAR_SERVER_COMPATIBLE_BODY_FIELDS_H_
