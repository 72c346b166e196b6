#include "server/tools/file_list.h"

#include <algorithm>
#include <optional>

#include "engine/core/text.h"
#include "engine/host/base64.h"
#include "engine/host/beneath.h"
#include "engine/host/suggest.h"
#include "server/tools/arguments.h"

namespace belljar::server::tools {
namespace {

using nlohmann::json;

// Three bytes are encoded as four characters; the last group is padded.
size_t Base64Length(size_t bytes) { return (bytes + 2) / 3 * 4; }

const std::string* TextOf(const json& item, const char* key) {
  const auto found = item.find(key);
  return found != item.end() && found->is_string() ? &found->get_ref<const std::string&>()
                                                   : nullptr;
}

std::string KeyProblem(const json& item) {
  const std::vector<std::string> kKnown = {"path", "text", "base64"};
  for (const auto& [key, value] : item.items()) {
    if (std::find(kKnown.begin(), kKnown.end(), key) == kKnown.end()) {
      return "has an unknown key " + core::Quoted(key) + host::Suggestion(key, kKnown);
    }
    if (!value.is_string()) return ": " + key + " must be a string, not " + Shown(value);
  }
  return "";
}

std::string PathProblem(const std::string* path) {
  if (!path) return "has no path, such as \"data/input.csv\"";
  if (path->empty()) return ": path is empty";
  if (path->size() > host::kMaxPath) {
    return ": path is " + std::to_string(path->size()) + " bytes long; the maximum is " +
           std::to_string(host::kMaxPath);
  }
  return "";
}

// What is wrong with one item. Empty if it is valid; then `bytes` is the length of its content.
std::string ItemProblem(const json& item, size_t& bytes) {
  if (!item.is_object()) {
    return "must be an object with path and text or base64, not " + Shown(item);
  }
  if (std::string problem = KeyProblem(item); !problem.empty()) return problem;
  const std::string* const path = TextOf(item, "path");
  if (std::string problem = PathProblem(path); !problem.empty()) return problem;
  const std::string* const text = TextOf(item, "text");
  const std::string* const base64 = TextOf(item, "base64");
  const std::string name = "(" + core::Quoted(*path) + ") ";
  if (text && base64) return name + "has both text and base64; omit one";
  if (!text && !base64) return name + "has neither text nor base64; an empty file has text \"\"";
  if (text) {
    bytes = text->size();
    return "";
  }
  const std::optional<std::string> decoded = host::DecodeBase64(*base64);
  if (!decoded) {
    return name +
           "is not base64: A-Z, a-z, 0-9, + and /, padded with = to a multiple of 4, "
           "without line breaks";
  }
  bytes = decoded->size();
  return "";
}

}  // namespace

nlohmann::ordered_json FileSchema(size_t max_bytes) {
  return {{"type", "object"},
          {"properties",
           {{"path",
             {{"type", "string"},
              {"maxLength", host::kMaxPath},
              {"description",
               "Relative path in the workspace, with / as separator. Folders are created."}}},
            {"text",
             {{"type", "string"},
              {"maxLength", max_bytes},
              {"description", "Text content, written as UTF-8."}}},
            {"base64",
             {{"type", "string"},
              {"maxLength", Base64Length(max_bytes)},
              {"description", "Any other content, instead of text."}}}}},
          {"required", {"path"}},
          {"additionalProperties", false}};
}

std::vector<std::string> FileListProblems(const json& list, size_t max_bytes) {
  // In a hostile list every item may be invalid.
  constexpr size_t kMaxNamed = 10;
  std::vector<std::string> problems;
  size_t total = 0;
  for (size_t i = 0; i < list.size(); ++i) {
    size_t bytes = 0;
    std::string problem = ItemProblem(list[i], bytes);
    total += bytes;
    if (problem.empty()) continue;
    if (problems.size() == kMaxNamed) {
      problems.push_back("has more invalid items");
      return problems;
    }
    const char* const between = problem.starts_with(':') ? "" : " ";
    problems.push_back("item " + std::to_string(i + 1) + between + problem);
  }
  if (total > max_bytes) {
    problems.push_back("contains " + std::to_string(total) + " bytes in total; the maximum is " +
                       std::to_string(max_bytes));
  }
  return problems;
}

std::vector<host::InputFile> ReadFileList(const json& list) {
  std::vector<host::InputFile> files;
  for (const json& item : list) {
    const std::string* const text = TextOf(item, "text");
    files.push_back(
        {*TextOf(item, "path"), text ? *text : *host::DecodeBase64(*TextOf(item, "base64"))});
  }
  return files;
}

}  // namespace belljar::server::tools
