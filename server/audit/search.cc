#include "server/audit/search.h"

#include <algorithm>
#include <cerrno>
#include <deque>
#include <iterator>
#include <utility>

#include "engine/core/text.h"
#include "server/audit/chain.h"
#include "server/audit/entry_fields.h"
#include "server/audit/log_folder.h"

namespace belljar::server::audit {
namespace {

constexpr size_t kMaxUnreadable = 10;

// Texts of which a line contains at least one. A quote within a string is preceded by a backslash,
// so that no string can look like a member.
using Alternatives = std::vector<std::string>;

std::string Member(std::string_view name, std::string_view value) {
  std::string text(name);
  AppendText(text, value);
  return text;
}

class Matcher {
 public:
  explicit Matcher(const Query& query) : query_(query) {
    const auto need = [&](const std::optional<std::string>& value,
                          std::initializer_list<std::string_view> names) {
      if (!value) return;
      Alternatives& texts = needed_.emplace_back();
      for (const std::string_view name : names) texts.push_back(Member(name, *value));
    };
    need(query.caller, {",\"caller\":"});
    need(query.tool, {",\"tool\":"});
    need(query.profile, {",\"profile\":"});
    need(query.status, {"\"status\":"});
    need(query.execution, {",\"execution\":{\"id\":"});
    need(query.session, {",\"session\":", ",\"session\":{\"id\":"});
    need(query.sha256, {",\"sha256\":"});
  }

  bool Matches(const ReadLine& line, std::string_view text) const {
    if (query_.kind ? line.kind != *query_.kind
                    : line.kind == NameOf(Kind::kSegment) || line.kind == NameOf(Kind::kSegmentEnd))
      return false;
    if (query_.since && line.time.substr(0, query_.since->size()) < *query_.since) return false;
    if (query_.until && line.time.substr(0, query_.until->size()) > *query_.until) return false;
    return std::all_of(needed_.begin(), needed_.end(), [&](const Alternatives& texts) {
      return std::any_of(texts.begin(), texts.end(), [&](const std::string& each) {
        return text.find(each) != std::string_view::npos;
      });
    });
  }

 private:
  const Query& query_;
  std::vector<Alternatives> needed_;
};

// Calls `take` with each line of the segment until it returns false; `entry` is null if the line is
// not an entry.
using TakeLine = std::function<bool(const ReadLine* entry, const LineReader::Line& line)>;
core::Result<void> ReadSegment(const SegmentFile& segment, const TakeLine& take) {
  core::Result<LineReader> reader = LineReader::Open(segment.path);
  if (!reader) return reader.error();
  for (;;) {
    const core::Result<std::optional<LineReader::Line>> line = reader->Next();
    if (!line) return line.error();
    if (!*line) return {};
    const auto read = Read((*line)->text);
    if (!take(std::get_if<ReadLine>(&read), **line)) return {};
  }
}

core::Result<void> SearchSegment(const SegmentFile& segment, const Matcher& matcher,
                                 const std::function<void(const FoundLine&)>& take,
                                 SearchResult& result) {
  uint64_t number = 0;
  return ReadSegment(segment, [&](const ReadLine* entry, const LineReader::Line& line) {
    ++number;
    if (entry && matcher.Matches(*entry, line.text)) {
      ++result.found;
      take({line.text, segment.path, number});
    }
    // A line that is being written has no newline yet.
    if (!entry && line.is_terminated && result.unreadable.size() < kMaxUnreadable) {
      result.unreadable.push_back(core::Printable(segment.path) + ":" + std::to_string(number));
    }
    return true;
  });
}

// The sequence number of the first entry; nullopt: there is no entry yet.
core::Result<std::optional<uint64_t>> FirstSequence(const SegmentFile& segment) {
  std::optional<uint64_t> first;
  const core::Result<void> read =
      ReadSegment(segment, [&](const ReadLine* entry, const LineReader::Line&) {
        if (entry) first = entry->sequence;
        return !first;
      });
  if (!read) return read.error();
  return first;
}

core::Result<std::vector<SegmentFile>> SegmentsIn(const std::string& folder) {
  core::Result<std::vector<SegmentFile>> segments = ListSegments(folder);
  if (segments && segments->empty()) {
    return core::MakeError("read the audit log in " + core::Quoted(folder),
                           "it has no segment (audit-00000001.jsonl)");
  }
  return segments;
}

}  // namespace

std::vector<std::string> EntryKinds() { return {std::begin(kKindNames), std::end(kKindNames)}; }

std::string TimeViolation(std::string_view time) {
  constexpr std::string_view kForm = "0000-00-00T00:00:00.000000Z";
  bool is_one = time.size() >= 4 && time.size() <= kForm.size();
  for (size_t i = 0; is_one && i < time.size(); ++i) {
    is_one = kForm[i] == '0' ? time[i] >= '0' && time[i] <= '9' : time[i] == kForm[i];
  }
  return is_one ? "" : "write a UTC timestamp or a prefix of one: 2026-11-26, 2026-11-26T05:14";
}

core::Result<SearchResult> Search(const std::string& folder, const Query& query,
                                  const std::function<void(const FoundLine&)>& take) {
  const core::Result<std::vector<SegmentFile>> segments = SegmentsIn(folder);
  if (!segments) return segments.error();
  const Matcher matcher(query);
  SearchResult result;
  for (const SegmentFile& segment : *segments) {
    core::Result<void> searched = SearchSegment(segment, matcher, take, result);
    if (!searched) return searched.error();
  }
  return result;
}

core::Result<SearchPage> SearchBackwards(const std::string& folder, const Query& query,
                                         uint64_t before, size_t count, core::Bytes work) {
  const core::Result<std::vector<SegmentFile>> segments = SegmentsIn(folder);
  if (!segments) return segments.error();
  const Matcher matcher(query);
  SearchPage page;
  uint64_t read = 0;
  for (auto segment = segments->rbegin(); segment != segments->rend(); ++segment) {
    const core::Result<std::optional<uint64_t>> first = FirstSequence(*segment);
    // It was removed meanwhile, and so were all before it.
    if (!first && first.error().error_number == ENOENT) break;
    if (!first) return first.error();
    if (!*first || (before != 0 && **first >= before)) continue;
    if (read >= work.count || page.lines.size() == count) return page;
    read += segment->bytes;
    const size_t wanted = count - page.lines.size();
    std::deque<std::pair<uint64_t, std::string>> here;
    const core::Result<void> searched =
        ReadSegment(*segment, [&](const ReadLine* entry, const LineReader::Line& line) {
          if (!entry || (before != 0 && entry->sequence >= before)) return true;
          if (!matcher.Matches(*entry, line.text)) return true;
          here.emplace_back(entry->sequence, line.text);
          if (here.size() > wanted) here.pop_front();
          return true;
        });
    if (!searched) return searched.error();
    page.next = here.size() == wanted ? here.front().first : **first;
    std::for_each(here.rbegin(), here.rend(),
                  [&](auto& each) { page.lines.push_back(std::move(each.second)); });
  }
  if (page.lines.size() < count) page.next = 0;
  return page;
}

core::Result<std::vector<std::string>> LastLines(const std::string& folder, const Query& query,
                                                 size_t count) {
  const core::Result<std::vector<SegmentFile>> segments = SegmentsIn(folder);
  if (!segments) return segments.error();
  const Matcher matcher(query);
  std::deque<std::string> lines;
  SearchResult ignored;
  for (auto segment = segments->rbegin(); segment != segments->rend() && lines.size() < count;
       ++segment) {
    const size_t wanted = count - lines.size();
    std::deque<std::string> here;
    core::Result<void> searched = SearchSegment(
        *segment, matcher,
        [&](const FoundLine& found) {
          here.emplace_back(found.text);
          if (here.size() > wanted) here.pop_front();
        },
        ignored);
    if (!searched) return searched.error();
    lines.insert(lines.begin(), std::make_move_iterator(here.begin()),
                 std::make_move_iterator(here.end()));
  }
  return std::vector<std::string>(std::make_move_iterator(lines.begin()),
                                  std::make_move_iterator(lines.end()));
}

}  // namespace belljar::server::audit
