// SegmentWriter: writes the files of a log. It has no thread: that belongs to AuditLog.
//
// Whatever fails can be retried: pending data is kept, and is continued where it stopped, in the
// middle of a line if necessary.
#ifndef BELLJAR_SERVER_AUDIT_SEGMENT_WRITER_H_
#define BELLJAR_SERVER_AUDIT_SEGMENT_WRITER_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "engine/core/fd.h"
#include "engine/core/result.h"
#include "server/audit/chain.h"
#include "server/audit/entry.h"
#include "server/audit/signing_key.h"
#include "server/core/config.h"

namespace belljar::server::audit {

class SegmentWriter {
 public:
  // Takes over the folder, which no other server may use, and starts a segment. What a previous
  // server left unfinished stays unchanged, and the new segment records what was found.
  static core::Result<std::unique_ptr<SegmentWriter>> Open(const AuditConfig& config);

  // Whether the next entry starts a new segment.
  bool IsFull() const;
  bool IsOld() const;
  // When that is due; never while the segment has no entries.
  std::chrono::steady_clock::time_point old_at() const;

  // Accepts one entry, for Write.
  void Append(std::string_view members);
  core::Result<void> Write();
  core::Result<void> Sync();

  // Signs the segment and writes it completely.
  core::Result<void> End();
  // Starts the next segment. Precondition: End.
  core::Result<void> Begin();

  // Removes segments that exceed the configured age or size, after writing an entry about it.
  // Returns the number of segments removed.
  core::Result<size_t> Retain();

  const SigningKey& key() const { return key_; }
  uint64_t number() const { return number_; }
  const std::string& head() const { return chain_.hash(); }
  // What the previous server left unfinished; nullopt: nothing.
  const std::optional<Digest>& unclosed() const { return unclosed_; }

 private:
  SegmentWriter(const AuditConfig& config, core::UniqueFd lock, core::UniqueFd folder,
                SigningKey key)
      : config_(config), lock_(std::move(lock)), folder_(std::move(folder)), key_(std::move(key)) {}
  core::Result<void> Recover();
  core::Result<void> PublishKey() const;

  const AuditConfig config_;
  const core::UniqueFd lock_;
  const core::UniqueFd folder_;
  const SigningKey key_;

  std::string log_;  // its id
  Chain chain_;
  std::optional<Digest> unclosed_;

  core::UniqueFd file_;
  uint64_t number_ = 0;
  uint64_t lines_ = 0;  // of the segment
  uint64_t bytes_ = 0;
  std::chrono::steady_clock::time_point began_;
  std::string pending_;  // still to be written, from written_ on
  size_t written_ = 0;
  std::string first_line_;  // of a segment that has not been started
  bool is_signed_ = false;
};

}  // namespace belljar::server::audit

#endif  // BELLJAR_SERVER_AUDIT_SEGMENT_WRITER_H_
