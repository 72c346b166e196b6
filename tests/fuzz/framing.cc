#include "tests/fuzz/framing.h"

#include <charconv>
#include <cstdint>
#include <optional>

namespace belljar::tests {
namespace {

using Kind = Frame::Kind;

constexpr std::string_view kLineEnd = "\r\n";

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

std::string_view Trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

std::optional<uint64_t> Number(std::string_view text, int base) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// Takes a line off the front; nullopt: it has no end yet.
std::optional<std::string_view> NextLine(std::string_view& rest) {
  const size_t end = rest.find(kLineEnd);
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view line = rest.substr(0, end);
  rest.remove_prefix(end + kLineEnd.size());
  return line;
}

bool IsPlain(std::string_view line) {
  return line.find_first_of(std::string_view("\r\n\0", 3)) == std::string_view::npos;
}

struct Lengths {
  std::vector<std::string> content_length;
  std::vector<std::string> transfer_encoding;
};

Kind ReadFields(std::string_view& rest, Lengths& lengths) {
  while (true) {
    const std::optional<std::string_view> line = NextLine(rest);
    if (!line) return Kind::kUnfinished;
    if (line->empty()) return Kind::kWhole;
    const size_t colon = line->find(':');
    if (!IsPlain(*line) || line->front() == ' ' || line->front() == '\t') return Kind::kDoubtful;
    if (colon == std::string_view::npos) return Kind::kDoubtful;
    const std::string name = Lower(line->substr(0, colon));
    const std::string value = Lower(Trim(line->substr(colon + 1)));
    if (Trim(name) == "content-length") lengths.content_length.push_back(value);
    if (Trim(name) == "transfer-encoding") lengths.transfer_encoding.push_back(value);
  }
}

Kind ReadChunks(std::string_view& rest, std::string& body) {
  while (true) {
    const std::optional<std::string_view> line = NextLine(rest);
    if (!line) return Kind::kUnfinished;
    const auto size = Number(line->substr(0, line->find(';')), 16);
    if (!IsPlain(*line) || !size) return Kind::kDoubtful;
    if (*size == 0) break;
    if (rest.size() < *size || rest.size() - *size < kLineEnd.size()) return Kind::kUnfinished;
    body += rest.substr(0, *size);
    rest.remove_prefix(*size);
    if (!rest.starts_with(kLineEnd)) return Kind::kDoubtful;
    rest.remove_prefix(kLineEnd.size());
  }
  Lengths trailers;
  return ReadFields(rest, trailers);
}

Frame ReadFrame(std::string_view& rest) {
  Frame frame;
  const std::optional<std::string_view> start = NextLine(rest);
  if (!start) return {Kind::kUnfinished, ""};
  if (!IsPlain(*start)) return {Kind::kDoubtful, ""};
  Lengths lengths;
  frame.kind = ReadFields(rest, lengths);
  if (frame.kind != Kind::kWhole) return frame;
  if (!lengths.transfer_encoding.empty()) {
    const bool is_clear = lengths.transfer_encoding.size() == 1 &&
                          lengths.transfer_encoding[0] == "chunked" &&
                          lengths.content_length.empty() && start->ends_with(" HTTP/1.1");
    frame.kind = is_clear ? ReadChunks(rest, frame.body) : Kind::kDoubtful;
  } else if (!lengths.content_length.empty()) {
    const auto length = Number(lengths.content_length[0], 10);
    if (lengths.content_length.size() > 1 || !length) return {Kind::kDoubtful, ""};
    if (rest.size() < *length) return {Kind::kUnfinished, ""};
    frame.body = rest.substr(0, *length);
    rest.remove_prefix(*length);
  }
  return frame;
}

}  // namespace

std::vector<Frame> ReadFrames(std::string_view stream) {
  std::vector<Frame> frames;
  while (true) {
    while (stream.starts_with(kLineEnd)) stream.remove_prefix(kLineEnd.size());
    if (stream.empty()) return frames;
    frames.push_back(ReadFrame(stream));
    if (frames.back().kind != Kind::kWhole) return frames;
  }
}

}  // namespace belljar::tests
