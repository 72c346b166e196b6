// Search in a log that may be written concurrently: line by line, in bounded memory.
//
//   Query query;
//   query.caller = "team-a";
//   Result<uint64_t> found = Search(folder, query, [&](const FoundLine& line) { … });
//
// The lines are searched as text: an index would be a second copy that needs the same protection,
// and a gigabyte of lines is read in seconds.
#ifndef BELLJAR_SERVER_AUDIT_SEARCH_H_
#define BELLJAR_SERVER_AUDIT_SEARCH_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/bytes.h"
#include "engine/core/result.h"

namespace belljar::server::audit {

// Criteria for an entry; nullopt: any.
struct Query {
  std::optional<std::string> kind;  // nullopt: all except first and last lines of segments
  std::optional<std::string> caller;
  std::optional<std::string> tool;
  std::optional<std::string> profile;
  std::optional<std::string> status;
  std::optional<std::string> execution;  // its id
  std::optional<std::string> session;    // its id
  std::optional<std::string> sha256;     // of any part: code, a file, output, an artifact
  // Prefixes of timestamps as in entries: "2026-11", "2026-11-26T05:14"; both inclusive.
  std::optional<std::string> since;
  std::optional<std::string> until;
};

// The possible values of `kind`.
std::vector<std::string> EntryKinds();

// What is wrong with a timestamp prefix; empty if valid.
std::string TimeViolation(std::string_view time);

struct FoundLine {
  std::string_view text;  // valid during the call
  std::string_view file;
  uint64_t line = 0;
};

struct SearchResult {
  uint64_t found = 0;
  // Lines that are not entries, as "FILE:LINE"; `belljar audit verify` explains them.
  std::vector<std::string> unreadable;  // the first ones
};

// In log order.
core::Result<SearchResult> Search(const std::string& folder, const Query& query,
                                  const std::function<void(const FoundLine&)>& take);

// The last `count` lines that Search would find, in log order; later segments are read first, and
// no more of them than necessary.
core::Result<std::vector<std::string>> LastLines(const std::string& folder, const Query& query,
                                                 size_t count);

struct SearchPage {
  std::vector<std::string> lines;  // the newest first
  // Where to continue: `before` for the next page; 0: the log has no more.
  uint64_t next = 0;
};

// The newest `count` lines that Search would find with a `seq` below `before` (0: any). Reads about
// `work` bytes at most, in whole segments: a page may have fewer lines, and still be followed by
// another.
core::Result<SearchPage> SearchBackwards(const std::string& folder, const Query& query,
                                         uint64_t before, size_t count, core::Bytes work);

}  // namespace belljar::server::audit

#endif  // BELLJAR_SERVER_AUDIT_SEARCH_H_
