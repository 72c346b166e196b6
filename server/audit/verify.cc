#include "server/audit/verify.h"

#include <time.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "engine/core/text.h"
#include "engine/host/json_reader.h"
#include "server/audit/entry_fields.h"
#include "server/audit/log_folder.h"

namespace belljar::server::audit {
namespace {

using Json = nlohmann::json;

// Empty or 0 if absent or of another type.
std::string TextIn(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}
uint64_t NumberIn(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_number_unsigned() ? found->get<uint64_t>() : 0;
}

std::string Range(uint64_t first, uint64_t last) {
  return first == last ? std::to_string(first)
                       : std::to_string(first) + " to " + std::to_string(last);
}

// Seconds since 1970; 0: not a timestamp.
int64_t SecondsOf(std::string_view time) {
  tm parts{};
  return strptime(std::string(time).c_str(), "%Y-%m-%dT%H:%M:%S", &parts) ? timegm(&parts) : 0;
}

class Verifier {
 public:
  Verifier(const std::vector<PublicKey>& keys, const std::vector<std::string>& expected_heads)
      : keys_(keys), missing_heads_(expected_heads.begin(), expected_heads.end()) {}

  core::Result<void> Segment(const SegmentFile& segment, bool is_last);
  Verification Finish();

 private:
  // What the previous segment passes on to the first line of the next.
  struct End {
    bool is_closed = false;
    bool has_fault = false;
    Digest rest;  // bytes that are not part of the chain
  };

  std::string Judge(const ReadLine& line, std::string_view text);
  std::string JudgeOrder(const ReadLine& line) const;
  std::string JudgeFirst(const ReadLine& line, const Json& object);
  std::string JudgeUnclosed(const Json& object);
  std::string JudgeEnd(const ReadLine& line, const Json& object);
  void JudgeRetention(const Json& object);
  core::Result<void> JudgeRest(LineReader& reader, const LineReader::Line& line,
                               const std::string& why, bool is_last);
  void NoteClock(std::string_view time);
  void Fail(std::string reason) {
    end_.has_fault = true;
    result_.faults.push_back({segment_->path, line_, std::move(reason)});
  }
  void Note(uint64_t line, std::string text) {
    result_.notes.push_back({segment_->path, line, std::move(text)});
  }

  const std::vector<PublicKey>& keys_;
  std::set<std::string> missing_heads_;
  Verification result_;

  const SegmentFile* segment_ = nullptr;
  uint64_t line_ = 0;
  // Hash of the previous line; nullopt: unknown, since a fault was found.
  std::optional<std::string> previous_ = std::string(kNoHash);
  uint64_t sequence_ = 0;
  uint64_t number_ = 0;  // of the previous segment
  End end_ = {.is_closed = true, .has_fault = false, .rest = {}};
  int64_t last_seconds_ = 0;
  // The last of the segments missing at the beginning, until an entry explains that.
  std::optional<uint64_t> removed_;
  // By segment: the hash that its first line continues.
  std::map<uint64_t, std::string> heads_before_;
  std::string first_path_;
};

// "" means no fault.
std::string Verifier::JudgeOrder(const ReadLine& line) const {
  if (!previous_) return "";
  if (line.previous == *previous_ && line.sequence == sequence_ + 1) return "";
  if (line.sequence > sequence_ + 1) {
    return "entries were removed before it: " + Range(sequence_ + 1, line.sequence - 1);
  }
  if (line.sequence <= sequence_) {
    return "it is repeated or out of order: entry " + std::to_string(line.sequence) +
           " after entry " + std::to_string(sequence_);
  }
  return "it does not follow the previous line: that was modified, or this is of another log";
}

// The first line of a segment whose predecessor has no signed end says so, and what was there
// instead.
std::string Verifier::JudgeUnclosed(const Json& object) {
  const auto found = object.find("unclosed");
  const bool says_unclosed = found != object.end() && found->is_object();
  if (end_.has_fault) return "";
  const bool was_unclosed = !end_.is_closed || end_.rest.bytes > 0;
  if (!was_unclosed && !says_unclosed) return "";
  if (!was_unclosed) return "it says that the previous segment has no signed end, but it has one";
  if (!says_unclosed) return "the signed end of the previous segment was removed";
  if (NumberIn(*found, "bytes") != end_.rest.bytes ||
      (end_.rest.bytes > 0 && TextIn(*found, "sha256") != end_.rest.sha256)) {
    return "after the last entry of the previous segment there are " +
           std::to_string(end_.rest.bytes) +
           " bytes that differ from those that were there when this "
           "one began";
  }
  return "";
}

std::string Verifier::JudgeFirst(const ReadLine& line, const Json& object) {
  if (line.kind != NameOf(Kind::kSegment)) return "the first line of the segment was removed";
  if (NumberIn(object, "segment") != segment_->number) {
    return "it belongs to segment " + std::to_string(NumberIn(object, "segment")) +
           ": the file was renamed, or replaced by another";
  }
  const std::string log = TextIn(object, "log");
  if (result_.log.empty()) result_.log = log;
  if (log != result_.log) return "it belongs to another log: " + core::Printable(log);
  if (number_ == 0 && segment_->number > 1) {
    removed_ = segment_->number - 1;
    first_path_ = segment_->path;
    previous_.reset();
  } else if (segment_->number != number_ + 1) {
    // Reported below as missing files.
    previous_.reset();
  }
  if (std::string order = JudgeOrder(line); !order.empty()) return order;
  if (segment_->number == number_ + 1) return JudgeUnclosed(object);
  return "";
}

std::string Verifier::JudgeEnd(const ReadLine& line, const Json& object) {
  if (line.signature.empty()) return "its signature was removed";
  const std::string id = TextIn(object, "key");
  const auto key = std::find_if(keys_.begin(), keys_.end(),
                                [&](const PublicKey& each) { return each.id() == id; });
  if (key == keys_.end()) {
    return "it is signed with key " + core::Printable(id).substr(0, 16) +
           "…, which is an unknown key";
  }
  if (!key->Verifies(kSegmentType, line.is_signed, line.signature)) {
    return "its signature is not by key " + id.substr(0, 16) + "…";
  }
  if (NumberIn(object, "segment") != segment_->number || NumberIn(object, "lines") != line_ - 1) {
    return "it is signed for another segment, or another number of lines";
  }
  if (std::find(result_.keys.begin(), result_.keys.end(), id) == result_.keys.end()) {
    result_.keys.push_back(id);
  }
  return "";
}

std::string Verifier::Judge(const ReadLine& line, std::string_view text) {
  if (end_.is_closed && line_ > 1) return "it was added after the signed end of the segment";
  const bool is_first = line_ == 1;
  const bool is_end = line.kind == NameOf(Kind::kSegmentEnd);
  const bool is_retention = line.kind == NameOf(Kind::kRetention);
  Json object;
  if (is_first || is_end || is_retention) {
    auto reading = host::ReadJson(text, {});
    Json* const read = std::get_if<Json>(&reading);
    if (!read || !read->is_object()) return std::string(FaultText(LineFault::kForm));
    object = std::move(*read);
  }
  std::string fault = is_first ? JudgeFirst(line, object) : JudgeOrder(line);
  if (fault.empty() && !is_first && line.kind == NameOf(Kind::kSegment)) {
    fault = "it begins another segment within this one";
  }
  if (fault.empty() && is_end) fault = JudgeEnd(line, object);
  if (!fault.empty()) return fault;
  if (is_first) heads_before_[segment_->number] = line.previous;
  if (is_retention && removed_) JudgeRetention(object);
  return "";
}

// It may name more segments than are missing: removing them may have been interrupted.
void Verifier::JudgeRetention(const Json& object) {
  const uint64_t through = NumberIn(object, "through");
  const auto head = heads_before_.find(through + 1);
  const bool explains =
      through >= *removed_ && head != heads_before_.end() && head->second == TextIn(object, "head");
  if (explains) removed_.reset();
}

// Data beginning with a line that is not part of the chain. A crash leaves a partial line at the
// end of a segment without a signed end, and nothing else.
core::Result<void> Verifier::JudgeRest(LineReader& reader, const LineReader::Line& line,
                                       const std::string& why, bool is_last) {
  const bool lost_its_end =
      !line.text.empty() &&
      std::holds_alternative<ReadLine>(Read(line.text.substr(0, line.text.size() - 1)));
  const bool is_torn =
      !line.is_terminated && !line.is_too_long && !end_.is_closed && line_ > 1 && !lost_its_end;
  if (!is_torn) {
    Fail(end_.is_closed                        ? "it was added after the signed end of the segment"
         : lost_its_end && !line.is_terminated ? "its line end was modified"
                                               : why);
    return {};
  }
  core::Result<Digest> rest = reader.DigestOfRest();
  if (!rest) return rest.error();
  end_.rest = std::move(*rest);
  Note(line_, "an incomplete entry of " + std::to_string(end_.rest.bytes) + " bytes: the server " +
                  (is_last ? "is writing it, or was killed while writing it"
                           : "was killed while writing it"));
  return {};
}

// Entries are in the order in which they were queued, shortly after they got their timestamps.
void Verifier::NoteClock(std::string_view time) {
  constexpr int64_t kMoment = 10;
  const int64_t seconds = SecondsOf(time);
  if (seconds + kMoment < last_seconds_) {
    Note(line_, "the clock was set back by " + std::to_string(last_seconds_ - seconds) +
                    " seconds before it");
  }
  last_seconds_ = seconds;
}

core::Result<void> Verifier::Segment(const SegmentFile& segment, bool is_last) {
  segment_ = &segment;
  if (number_ != 0 && segment.number != number_ + 1) {
    line_ = 0;
    Fail("the segments between it and the previous one are missing: " +
         Range(number_ + 1, segment.number - 1));
  }
  core::Result<LineReader> reader = LineReader::Open(segment.path);
  if (!reader) return reader.error();
  ++result_.segments;
  for (line_ = 1;; ++line_) {
    const core::Result<std::optional<LineReader::Line>> next = reader->Next();
    if (!next) return next.error();
    if (!*next && line_ > 1) break;
    if (!*next) {
      end_ = {};
      Fail("it is empty: its first line was removed");
      break;
    }
    const LineReader::Line& line = **next;
    const auto read = Read(line.text);
    const ReadLine* const entry = std::get_if<ReadLine>(&read);
    const bool is_whole = entry && line.is_terminated && !line.is_too_long;
    if (!is_whole && line_ > 1) {
      const std::string why(entry ? "its line end was removed"
                                  : FaultText(std::get<LineFault>(read)));
      if (core::Result<void> judged = JudgeRest(*reader, line, why, is_last); !judged) {
        return judged;
      }
      break;
    }
    std::string fault(!is_whole ? FaultText(entry ? LineFault::kForm : std::get<LineFault>(read))
                                : Judge(*entry, line.text));
    if (line_ == 1) end_ = {};  // this segment's, once the previous one has been judged
    if (!fault.empty()) {
      Fail(std::move(fault));
      break;
    }
    previous_ = entry->hash;
    sequence_ = entry->sequence;
    missing_heads_.erase(*previous_);
    NoteClock(entry->time);
    end_.is_closed = entry->kind == NameOf(Kind::kSegmentEnd);
    if (end_.is_closed) {
      result_.unsigned_entries = 0;
    } else if (line_ > 1) {
      ++result_.entries;
      ++result_.unsigned_entries;
    }
  }
  if (end_.has_fault) {
    previous_.reset();
  } else if (!end_.is_closed) {
    Note(0, is_last ? "it has no signed end yet: a server is writing it, or was killed"
                    : "it has no signed end: the server was killed");
  }
  number_ = segment.number;
  return {};
}

Verification Verifier::Finish() {
  if (removed_) {
    result_.faults.insert(
        result_.faults.begin(),
        {first_path_, 0,
         "the segments before it are missing, and no entry says that they were removed as "
         "configured: " +
             Range(1, *removed_)});
  }
  for (const std::string& head : missing_heads_) {
    result_.faults.push_back({"", 0,
                              "no line has the hash " + core::Printable(head) +
                                  ": the end of the log was removed, or it is another log"});
  }
  result_.head = previous_.value_or("");
  return std::move(result_);
}

}  // namespace

core::Result<Verification> VerifyLog(const std::string& folder, const std::vector<PublicKey>& keys,
                                     const std::vector<std::string>& expected_heads) {
  const core::Result<std::vector<SegmentFile>> segments = ListSegments(folder);
  if (!segments) return segments.error();
  if (segments->empty()) {
    return core::MakeError("read the audit log in " + core::Quoted(folder),
                           "it has no segment (audit-00000001.jsonl)");
  }
  Verifier verifier(keys, expected_heads);
  for (const SegmentFile& segment : *segments) {
    const bool is_last = &segment == &segments->back();
    if (core::Result<void> read = verifier.Segment(segment, is_last); !read) return read.error();
  }
  return verifier.Finish();
}

}  // namespace belljar::server::audit
