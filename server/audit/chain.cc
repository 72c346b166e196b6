#include "server/audit/chain.h"

#include <algorithm>
#include <charconv>

#include "engine/host/digest.h"

namespace belljar::server::audit {
namespace {

constexpr std::string_view kSequence = "{\"seq\":";
constexpr std::string_view kTime = ",\"time\":\"";
constexpr std::string_view kKind = "\",\"kind\":\"";
constexpr std::string_view kPrevious = ",\"previous\":\"";
constexpr std::string_view kSignature = ",\"signature\":\"";
constexpr std::string_view kHash = ",\"hash\":\"";
constexpr std::string_view kEnd = "\"}";
constexpr size_t kHashDigits = 64;
constexpr size_t kSignatureText = 88;  // base64 of 64 bytes
constexpr size_t kTimeText = 27;

bool IsHash(std::string_view text) {
  return text.size() == kHashDigits && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

bool Take(std::string_view& text, std::string_view expected) {
  if (!text.starts_with(expected)) return false;
  text.remove_prefix(expected.size());
  return true;
}

// Removes `name`, `size` characters and a quote from the end.
bool TakeLast(std::string_view& text, std::string_view name, size_t size, std::string_view& value) {
  if (text.size() < name.size() + size + 1 || text.back() != '"') return false;
  const std::string_view member = text.substr(text.size() - name.size() - size - 1);
  if (!member.starts_with(name)) return false;
  value = member.substr(name.size(), size);
  text.remove_suffix(member.size());
  return true;
}

bool TakeSequence(std::string_view& text, uint64_t& sequence) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), sequence);
  if (error != std::errc() || text.front() == '0') return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return true;
}

}  // namespace

std::string Chain::Add(std::string_view members, const SigningKey* key) {
  constexpr size_t kAdded = 320;
  std::string line;
  line.reserve(members.size() + kAdded);
  line += kSequence;
  line += std::to_string(++sequence_);
  line += ',';
  line += members;
  line += kPrevious;
  line += hash_;
  line += '"';
  if (key) {
    const std::string signature = key->Sign(kSegmentType, line);
    line += kSignature;
    line += signature;
    line += '"';
  }
  hash_ = host::Sha256(line);
  line += kHash;
  line += hash_;
  line += kEnd;
  line += '\n';
  return line;
}

std::string_view FaultText(LineFault fault) {
  return fault == LineFault::kForm ? "it does not have the form of an entry"
                                   : "it was modified: its hash does not match its content";
}

std::variant<ReadLine, LineFault> Read(std::string_view line) {
  ReadLine read;
  std::string_view rest = line;
  if (!rest.ends_with('}')) return LineFault::kForm;
  rest.remove_suffix(1);
  if (!TakeLast(rest, kHash, kHashDigits, read.hash)) return LineFault::kForm;
  const std::string_view hashed = rest;
  if (TakeLast(rest, kSignature, kSignatureText, read.signature)) read.is_signed = rest;
  if (!TakeLast(rest, kPrevious, kHashDigits, read.previous)) return LineFault::kForm;
  if (!IsHash(read.hash) || !IsHash(read.previous)) return LineFault::kForm;
  if (!Take(rest, kSequence) || rest.empty() || !TakeSequence(rest, read.sequence) ||
      !Take(rest, kTime) || rest.size() < kTimeText) {
    return LineFault::kForm;
  }
  read.time = rest.substr(0, kTimeText);
  rest.remove_prefix(kTimeText);
  if (!Take(rest, kKind)) return LineFault::kForm;
  read.kind = rest.substr(0, rest.find('"'));
  if (read.kind.size() == rest.size()) return LineFault::kForm;
  if (host::Sha256(hashed) != read.hash) return LineFault::kHash;
  return read;
}

}  // namespace belljar::server::audit
