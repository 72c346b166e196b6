#include "server/pages/reference.h"

#include <string_view>
#include <utility>

#include "server/pages/html.h"

namespace belljar::server::pages {
namespace {

using Json = nlohmann::ordered_json;

// How deep members of a schema are shown; deeper ones are in /openapi.json.
constexpr int kMaxDepth = 5;
constexpr std::string_view kSchemas = "#/components/schemas/";

const Json& MemberOf(const Json& object, const char* name) {
  static const Json kNone;
  const auto found = object.is_object() ? object.find(name) : object.end();
  return found == object.end() ? kNone : *found;
}

// "" if it is absent or no text.
std::string_view TextOf(const Json& object, const char* name) {
  const Json& member = MemberOf(object, name);
  return member.is_string() ? std::string_view(member.get_ref<const std::string&>()) : "";
}

void AddParagraph(Html& html, std::string_view text) {
  if (text.empty()) return;
  html.Open("p").Prose(text).Text(text.ends_with('.') ? "" : ".").Close();
}

void AddType(Html& html, const Json& schema) {
  const std::string_view ref = TextOf(schema, "$ref");
  if (ref.starts_with(kSchemas)) {
    const std::string_view name = ref.substr(kSchemas.size());
    html.Link("#schema-" + std::string(name), name);
    return;
  }
  for (const char* choice : {"anyOf", "oneOf", "enum"}) {
    const Json& list = MemberOf(schema, choice);
    if (!list.is_array()) continue;
    const char* between = "";
    for (const Json& each : list) {
      html.Text(std::exchange(between, " or "));
      if (each.is_object()) {
        AddType(html, each);
      } else {
        html.Put("code", each.dump());
      }
    }
    return;
  }
  if (schema.contains("const")) {
    html.Put("code", schema["const"].dump());
    return;
  }
  const Json& type = MemberOf(schema, "type");
  if (type.is_array()) {
    const char* between = "";
    for (const Json& each : type) {
      html.Text(std::exchange(between, " or "))
          .Text(each.is_string() ? each.get<std::string>() : "");
    }
  } else {
    html.Text(type.is_string() ? TextOf(schema, "type") : "any");
  }
  if (type != "array") return;
  html.Text(" of ");
  AddType(html, MemberOf(schema, "items"));
}

void AddBounds(Html& html, const Json& schema) {
  const char* between = "";
  for (const auto& [name, what] : {std::pair("minimum", "from "),
                                   {"maximum", "to "},
                                   {"maxLength", "characters: up to "},
                                   {"maxItems", "items: up to "},
                                   {"default", "default: "}}) {
    const Json& bound = MemberOf(schema, name);
    if (bound.is_null()) continue;
    html.Text(std::exchange(between, "; ")).Text(what).Put("code", bound.dump());
  }
}

bool Requires(const Json& schema, const std::string& name) {
  for (const Json& each : MemberOf(schema, "required")) {
    if (each == name) return true;
  }
  return false;
}

// A row for each member of an object, and those of objects in it: "sessions.idle", "files[].path".
void AddMembers(Html& html, const Json& schema, const std::string& path, int depth) {
  const Json& properties = MemberOf(schema, "properties");
  if (!properties.is_object()) return;
  for (const auto& [name, each] : properties.items()) {
    const std::string key = path + name;
    html.Open("tr").Open("td").Put("code", key);
    html.Text(Requires(schema, name) ? " required" : "").Close();
    html.Open("td");
    AddType(html, each);
    html.Close().Open("td");
    AddBounds(html, each);
    html.Close().Open("td").Prose(TextOf(each, "description")).Close().Close();
    if (depth == kMaxDepth) continue;
    AddMembers(html, each, key + ".", depth + 1);
    AddMembers(html, MemberOf(each, "items"), key + "[].", depth + 1);
  }
}

void AddSchema(Html& html, const Json& schema) {
  for (const char* choice : {"anyOf", "oneOf"}) {
    const Json& list = MemberOf(schema, choice);
    if (!list.is_array()) continue;
    for (const Json& each : list) {
      if (&each != &list.front()) html.Put("p", "or");
      AddSchema(html, each);
    }
    return;
  }
  if (MemberOf(schema, "properties").empty()) {
    html.Open("p");
    AddType(html, schema);
    html.Close();
    return;
  }
  html.OpenTable({"member", "type", "bounds", "meaning"});
  AddMembers(html, schema, "", 0);
  html.Close();
}

void AddParameters(Html& html, const Json& parameters) {
  if (parameters.empty()) return;
  html.Put("h4", "Parameters").OpenTable({"name", "in", "type", "meaning"});
  for (const Json& each : parameters) {
    html.Open("tr").Open("td").Put("code", TextOf(each, "name"));
    html.Text(MemberOf(each, "required") == true ? " required" : "").Close();
    html.Put("td", TextOf(each, "in")).Open("td");
    AddType(html, MemberOf(each, "schema"));
    html.Close().Open("td").Prose(TextOf(each, "description")).Close().Close();
  }
  html.Close();
}

void AddBody(Html& html, const Json& body) {
  if (body.is_null()) return;
  for (const auto& [type, each] : body.at("content").items()) {
    html.Open("h4").Text("Body ").Put("code", type).Close();
    const Json& schema = MemberOf(each, "schema");
    if (!schema.empty()) AddSchema(html, schema);
  }
}

void AddAnswers(Html& html, const Json& responses) {
  html.Put("h4", "Answers").OpenTable({"status", "answer"});
  for (const auto& [status, each] : responses.items()) {
    html.Open("tr").Put("td", status).Open("td").Prose(TextOf(each, "description"));
    const Json& content = MemberOf(each, "content");
    if (content.is_object()) {
      for (const auto& [type, answer] : content.items()) {
        const Json& schema = MemberOf(answer, "schema");
        html.Text(" ").Put("code", type).Text(" ");
        if (!TextOf(schema, "$ref").empty()) AddType(html, schema);
      }
    }
    html.Close().Close();
  }
  html.Close();
}

void AddOperation(Html& html, std::string verb, const std::string& path, const Json& operation) {
  for (char& c : verb) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  html.OpenWithId("details", "", TextOf(operation, "operationId"));
  html.Open("summary").Put("code", verb + " " + path).Text(" ").Text(TextOf(operation, "summary"));
  html.Close();
  AddParagraph(html, TextOf(operation, "description"));
  AddParameters(html, MemberOf(operation, "parameters"));
  AddBody(html, MemberOf(operation, "requestBody"));
  AddAnswers(html, operation.at("responses"));
  html.Close();
}

}  // namespace

std::string ReferencePage(const Json& api) {
  const Json& info = api.at("info");
  Html html(TextOf(info, "title"));
  html.Open("h1").Text(TextOf(info, "title")).Text(" ").Text(TextOf(info, "version")).Close();
  AddParagraph(html, TextOf(info, "summary"));
  AddParagraph(html, TextOf(info, "description"));
  html.Open("p").Link("/", "What is here").Text(", ").Link("/openapi.json", "OpenAPI").Close();
  for (const Json& tag : api.at("tags")) {
    const std::string_view name = TextOf(tag, "name");
    html.OpenWithId("h2", "tag-", name).Text(name).Close();
    AddParagraph(html, TextOf(tag, "description"));
    for (const auto& [path, methods] : api.at("paths").items()) {
      for (const auto& [method, operation] : methods.items()) {
        if (operation.at("tags").at(0) == name) AddOperation(html, method, path, operation);
      }
    }
  }
  html.OpenWithId("h2", "schemas", "").Text("Objects").Close();
  for (const auto& [name, schema] : api.at("components").at("schemas").items()) {
    html.OpenWithId("details", "schema-", name).Put("summary", name);
    AddParagraph(html, TextOf(schema, "description"));
    AddSchema(html, schema);
    html.Close();
  }
  return std::move(html).Finish();
}

}  // namespace belljar::server::pages
