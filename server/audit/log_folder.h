// LogFolder: the files of an audit log.
//
//   audit-00000001.jsonl   a segment, mode 0600; only ever appended to
//   key.pem, key.pub       the signing key, unless the operator keeps it elsewhere
//   key-0123456789abcdef.pub   the public key of a key kept elsewhere
//   lock                   held by the server that writes
#ifndef BELLJAR_SERVER_AUDIT_LOG_FOLDER_H_
#define BELLJAR_SERVER_AUDIT_LOG_FOLDER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/core/fd.h"
#include "engine/core/result.h"
#include "engine/host/digest.h"
#include "server/audit/entry.h"
#include "server/audit/signing_key.h"

namespace belljar::server::audit {

struct SegmentFile {
  uint64_t number = 0;
  std::string path;
  uint64_t bytes = 0;
  int64_t changed = 0;  // seconds since 1970
};

// $XDG_STATE_HOME/belljar/audit; empty: no home folder.
std::string DefaultFolder();

std::string SegmentPath(const std::string& folder, uint64_t number);

// In numerical order. A missing folder, or one without segments, is an error.
core::Result<std::vector<SegmentFile>> ListSegments(const std::string& folder);

// All public keys in the folder.
core::Result<std::vector<PublicKey>> ReadKeys(const std::string& folder);

// Reads a file line by line, in bounded memory.
class LineReader {
 public:
  static core::Result<LineReader> Open(const std::string& path);

  struct Line {
    std::string_view text;  // without its newline; valid until the next call
    bool is_terminated = false;
    bool is_too_long = false;  // longer than kMaxLine: only its beginning
  };
  // nullopt: the end.
  core::Result<std::optional<Line>> Next();
  // The bytes of the file from the beginning of the last line read to the end of the file. Must be
  // the last call.
  core::Result<Digest> DigestOfRest();

 private:
  explicit LineReader(core::UniqueFd fd) : fd_(std::move(fd)) {}
  core::Result<bool> Fill();

  core::UniqueFd fd_;
  std::string buffer_;
  size_t begin_ = 0;  // of the last line read
  size_t next_ = 0;
  bool is_at_end_ = false;
};

}  // namespace belljar::server::audit

#endif  // BELLJAR_SERVER_AUDIT_LOG_FOLDER_H_
