// The chain: how an entry becomes a line of the log, and how a line is read.
//
//   {"seq":7,"time":"…","kind":"execution",…,"previous":"<64 digits>","hash":"<64 digits>"}
//
// `hash` is the SHA-256 of the line up to `,"hash":`, and `previous` that of the line before. The
// last line of a segment also has `"signature":"<base64>"` before its hash: of the line up to
// `,"signature":`, in the encoding of DSSE with kSegmentType.
#ifndef BELLJAR_SERVER_AUDIT_CHAIN_H_
#define BELLJAR_SERVER_AUDIT_CHAIN_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "server/audit/signing_key.h"

namespace belljar::server::audit {

inline constexpr char kSegmentType[] = "application/vnd.belljar.audit-segment";
// Before the first line of a log.
inline constexpr std::string_view kNoHash =
    "0000000000000000000000000000000000000000000000000000000000000000";
// Maximum size of a line, with its newline. Longer lines are neither written nor read.
inline constexpr size_t kMaxLine = size_t{8} << 20;

class Chain {
 public:
  // `sequence` and `hash` are those of the last line; 0 and kNoHash if there is none.
  explicit Chain(uint64_t sequence = 0, std::string_view hash = kNoHash)
      : sequence_(sequence), hash_(hash) {}

  // The line of an entry with these members, with its newline, chained to the previous line. With
  // `key` it is signed.
  std::string Add(std::string_view members, const SigningKey* key = nullptr);

  uint64_t sequence() const { return sequence_; }
  const std::string& hash() const { return hash_; }

 private:
  uint64_t sequence_;
  std::string hash_;
};

// Views of the text that was parsed.
struct ReadLine {
  uint64_t sequence = 0;
  std::string_view time;
  std::string_view kind;
  std::string_view previous;
  std::string_view hash;
  std::string_view signature;  // empty: none
  std::string_view is_signed;  // the signed text
};

// Why a text is not a line of a log.
enum class LineFault { kForm, kHash };
std::string_view FaultText(LineFault fault);

// `line`: without its newline. A parsed line has the form and the hash of one; the caller checks
// whether it follows another.
std::variant<ReadLine, LineFault> Read(std::string_view line);

}  // namespace belljar::server::audit

#endif  // BELLJAR_SERVER_AUDIT_CHAIN_H_
