#include "server/tools/read_output.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/core/text.h"
#include "engine/host/program_text.h"
#include "server/core/resource_piece.h"
#include "server/tools/code_parameters.h"

namespace belljar::server::tools {
namespace {

constexpr double kMaxCharacters = 1 << 30;  // more than the store keeps of one resource

Parameter CountParameter(const char* name, std::string description, double minimum) {
  return {.name = name,
          .type = Parameter::Type::kNumber,
          .description = std::move(description),
          .default_value = {},
          .minimum = minimum,
          .maximum = kMaxCharacters,
          .choices = {}};
}

std::vector<Parameter> ReadParameters() {
  return {{.name = "uri",
           .type = Parameter::Type::kText,
           .description = "As in the answer.",
           .required = true,
           .default_value = {},
           .max_bytes = 8192,  // of a file's path, percent-encoded
           .choices = {}},
          CountParameter("offset", "Characters to skip.", 0),
          CountParameter("limit", "Characters to read.", 1)};
}

ToolDescription DescribeRead(const ParameterTable& parameters) {
  ToolDescription description;
  description.name = kReadName;
  description.title = "Read what an answer left out";
  description.description =
      "Reads what an answer of the last minutes left out, or a text file that it links to.";
  description.input_schema = parameters.Schema();
  description.read_only = true;
  description.idempotent = true;
  return description;
}

std::optional<uint64_t> TakeCount(const Arguments& arguments, const char* name,
                                  std::vector<std::string>& problems) {
  const std::optional<double> number = arguments.Number(name);
  if (!number) return std::nullopt;
  if (*number != std::floor(*number)) {
    problems.push_back(std::string(name) + " must be a whole number");
  }
  return static_cast<uint64_t>(*number);
}

std::string Note(const std::string& text) { return "[belljar: " + text + "]"; }

// What fits in an answer, and how to read on.
std::string PieceText(const Resource& whole, const ResourcePiece& piece, size_t characters) {
  const Resource wanted = PieceOf(whole, piece, whole.uri);
  const std::string_view text = host::BeginningOf(*wanted.bytes, characters);
  const uint64_t total = host::CharactersIn(*whole.bytes);
  const uint64_t next = piece.offset + host::CharactersIn(text);
  if (text.empty()) {
    return Note("nothing at offset " + std::to_string(piece.offset) + " of " +
                std::to_string(total) + " characters");
  }
  std::string shown = host::Disarmed(text);
  if (next >= total) return shown;
  return shown + (shown.ends_with('\n') ? "" : "\n") +
         Note(std::to_string(total - next) + " characters follow; offset=" + std::to_string(next));
}

ToolResult Missing(const std::string& uri) {
  ToolResult result;
  result.text = std::string(kReadName) + ": there is no " + core::Quoted(uri) +
                ": what a call left can be read by its caller for a limited time. Run the code "
                "again";
  result.is_error = true;
  result.fault = ToolResult::Fault::kNotFound;
  return result;
}

}  // namespace

ReadOutput::ReadOutput(const AnswersConfig& answers, ResourceStore& resources)
    : answers_(answers),
      resources_(resources),
      parameters_(ReadParameters()),
      description_(DescribeRead(parameters_)) {}

core::Result<ToolResult> ReadOutput::Call(const ToolCall& call) {
  std::vector<std::string> problems;
  const Arguments arguments = parameters_.Check(call.arguments, problems);
  const std::optional<uint64_t> offset = TakeCount(arguments, "offset", problems);
  const std::optional<uint64_t> limit = TakeCount(arguments, "limit", problems);
  if (!problems.empty()) return RefusedArguments(kReadName, problems);
  const std::string& uri = *arguments.Text("uri");
  // The note of an answer has the offset in the URI.
  core::Result<std::optional<ResourcePiece>> parsed = ParsePiece(uri);
  if (!parsed) return RefusedArguments(kReadName, {"uri: " + parsed.error().ToString()});
  ResourcePiece piece = parsed->value_or(ResourcePiece{.whole_uri = uri});
  if (offset) piece.offset = *offset;
  if (limit) piece.length = limit;
  const std::optional<Resource> found = resources_.Find(call.caller.name, piece.whole_uri);
  if (!found) return Missing(piece.whole_uri);
  if (!found->is_text) {
    return RefusedArguments(kReadName,
                            {"uri: " + found->media_type + " is not text; resources/read has it"});
  }
  ToolResult result;
  result.text = PieceText(*found, piece, answers_.characters);
  return result;
}

}  // namespace belljar::server::tools
