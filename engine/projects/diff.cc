#include "engine/projects/diff.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/core/text.h"
#include "engine/host/beneath.h"

namespace belljar::projects {
namespace {

using Lines = std::vector<std::string_view>;

// A path as git writes it: one with unusual characters in quotes, as in C.
std::string PathText(const char* side, const std::string& path) {
  std::string whole = side + path;
  if (core::Printable(whole) == whole && whole.find_first_of("\"\\") == whole.npos) return whole;
  std::string quoted = "\"";
  for (const char each : whole) {
    if (each == '"' || each == '\\') {
      quoted += {'\\', each};
    } else if (each >= ' ' && each <= '~') {
      quoted += each;
    } else {
      char octal[5];
      snprintf(octal, sizeof octal, "\\%03o", static_cast<unsigned char>(each));
      quoted += octal;
    }
  }
  return quoted + "\"";
}

// nullopt: not text, too large, or not for the guest.
std::optional<std::string> TextBefore(int folder, const Change& change) {
  if (change.before.kind == FileKind::kNone) return std::string();
  if (change.before.kind == FileKind::kLink) return change.before.target;
  const core::UniqueFd fd =
      host::OpenBeneath(folder, change.path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY);
  struct stat file, root;
  if (!fd || fstat(fd.get(), &file) != 0 || fstat(folder, &root) != 0) return std::nullopt;
  const bool is_readable = file.st_uid == root.st_uid || (file.st_mode & S_IROTH) != 0;
  if (!is_readable || !S_ISREG(file.st_mode)) return std::nullopt;
  core::Result<std::string> text = core::ReadAll(fd.get(), kMaxDiffed.count);
  return text ? std::optional(std::move(*text)) : std::nullopt;
}

std::optional<std::string> TextAfter(const Change& change) {
  if (change.after.kind == FileKind::kNone) return std::string();
  if (change.after.kind == FileKind::kLink) return change.after.target;
  if (change.content.size() > kMaxDiffed.count) return std::nullopt;
  return change.content.ToString();
}

bool IsText(std::string_view bytes) {
  return bytes.find('\0') == bytes.npos && core::IsUtf8(bytes);
}

constexpr std::string_view kNoNewline = "\\ No newline at end of file\n";

// With their ends.
Lines LinesOf(std::string_view text) {
  Lines lines;
  for (size_t begin = 0, end = 0; begin < text.size(); begin = end) {
    end = std::min(text.find('\n', begin), text.size() - 1) + 1;
    lines.push_back(text.substr(begin, end - begin));
  }
  return lines;
}

// Which lines stay (' '), go ('-') and come ('+'), with as few changes as possible: E. W. Myers,
// "An O(ND) Difference Algorithm and Its Variations" (1986). After kMaxEdits, which bounds what a
// guest can make us do, all of them go and all others come.
std::string Script(std::span<const std::string_view> before,
                   std::span<const std::string_view> after) {
  constexpr int kMaxEdits = 2000;
  const auto from = static_cast<int>(before.size()), to = static_cast<int>(after.size());
  const int most = std::min(from + to, kMaxEdits);
  // furthest[k + most + 1]: how far in `before` one gets on the diagonal k, by as many edits.
  std::vector<int> furthest(static_cast<size_t>(2 * most + 3), 0);
  std::vector<std::vector<int>> steps;
  const auto at = [most](int diagonal) {
    const int index = diagonal + most + 1;
    return static_cast<size_t>(index);
  };
  const auto comes_down = [&](const std::vector<int>& reached, int diagonal, int edits) {
    return diagonal == -edits ||
           (diagonal != edits && reached[at(diagonal - 1)] < reached[at(diagonal + 1)]);
  };
  for (int edits = 0; edits <= most; ++edits) {
    steps.push_back(furthest);
    for (int diagonal = -edits; diagonal <= edits; diagonal += 2) {
      int x = comes_down(furthest, diagonal, edits) ? furthest[at(diagonal + 1)]
                                                    : furthest[at(diagonal - 1)] + 1;
      int y = x - diagonal;
      for (; x < from && y < to && before[static_cast<size_t>(x)] == after[static_cast<size_t>(y)];
           ++x, ++y)
        continue;
      furthest[at(diagonal)] = x;
      if (x < from || y < to) continue;
      std::string marks;  // from the end
      for (; edits >= 0; --edits) {
        const std::vector<int>& reached = steps[static_cast<size_t>(edits)];
        const bool came_down = comes_down(reached, x - y, edits);
        const int from_diagonal = x - y + (came_down ? 1 : -1);
        const int start = edits == 0 ? 0 : reached[at(from_diagonal)] + (came_down ? 0 : 1);
        marks.append(static_cast<size_t>(x - start), ' ');
        y -= x - start;
        x = start;
        if (edits == 0) break;
        marks += came_down ? '+' : '-';
        (came_down ? y : x) -= 1;
      }
      std::ranges::reverse(marks);
      return marks;
    }
  }
  return std::string(before.size(), '-') + std::string(after.size(), '+');
}

// "@@ -1,3 +1,4 @@": of an empty side, the line before.
std::string Range(size_t begin, size_t count) {
  return std::to_string(count == 0 ? begin : begin + 1) + "," + std::to_string(count);
}

std::string Hunks(const std::string& before, const std::string& after) {
  constexpr size_t kContext = 3;
  const Lines old_lines = LinesOf(before), new_lines = LinesOf(after);
  const size_t least = std::min(old_lines.size(), new_lines.size());
  size_t same = 0, same_end = 0;
  while (same < least && old_lines[same] == new_lines[same]) ++same;
  while (same_end < least - same &&
         old_lines[old_lines.size() - 1 - same_end] == new_lines[new_lines.size() - 1 - same_end])
    ++same_end;
  const auto middle = [&](const Lines& lines) {
    return std::span(lines).subspan(same, lines.size() - same - same_end);
  };
  const std::string marks = std::string(same, ' ') + Script(middle(old_lines), middle(new_lines)) +
                            std::string(same_end, ' ');
  std::string text;
  size_t old_line = 0, new_line = 0, done = 0;
  const auto skip_to = [&](size_t place) {
    for (; done < place; ++done) {
      old_line += marks[done] != '+';
      new_line += marks[done] != '-';
    }
  };
  for (;;) {
    const size_t first = marks.find_first_not_of(' ', done);
    if (first == marks.npos) return text;
    size_t last = first;
    for (size_t next = first; next != marks.npos && next <= last + 2 * kContext + 1;
         next = marks.find_first_not_of(' ', next + 1))
      last = next;
    skip_to(std::max(done, first - std::min(first, kContext)));
    const size_t end = std::min(marks.size(), last + kContext + 1);
    const std::string_view hunk = std::string_view(marks).substr(done, end - done);
    const auto count = [&](char other) {
      return static_cast<size_t>(
          std::ranges::count_if(hunk, [&](char mark) { return mark != other; }));
    };
    text += "@@ -" + Range(old_line, count('+')) + " +" + Range(new_line, count('-')) + " @@\n";
    while (done < end) {
      const char mark = marks[done];
      const std::string_view line = mark == '+' ? new_lines[new_line] : old_lines[old_line];
      text += mark;
      text += line;
      if (!line.ends_with('\n')) (text += '\n') += kNoNewline;
      skip_to(done + 1);
    }
  }
}

std::string ModeText(const FileState& state) {
  if (state.kind == FileKind::kLink) return "120000";
  return (state.mode & S_IXUSR) != 0 ? "100755" : "100644";
}

// The change from nothing, or to nothing, or within files of a kind.
std::string OneDiff(int folder, const Change& change) {
  const std::string a = PathText("a/", change.path), b = PathText("b/", change.path);
  std::string text = "diff --git " + a + " " + b + "\n";
  const bool is_added = change.before.kind == FileKind::kNone;
  const bool is_removed = change.after.kind == FileKind::kNone;
  const std::string old_mode = ModeText(change.before), new_mode = ModeText(change.after);
  if (is_added) {
    text += "new file mode " + new_mode + "\n";
  } else if (is_removed) {
    text += "deleted file mode " + old_mode + "\n";
  } else if (old_mode != new_mode) {
    text += "old mode " + old_mode + "\nnew mode " + new_mode + "\n";
  }
  if (change.only_mode) return text;
  const std::optional<std::string> before = TextBefore(folder, change), after = TextAfter(change);
  if (!before || !after || !IsText(*before) || !IsText(*after))
    return text + "Binary files " + a + " and " + b + " differ\n";
  if (*before == *after) return text;  // an empty file
  text += "--- " + (is_added ? "/dev/null" : a) + "\n+++ " + (is_removed ? "/dev/null" : b) + "\n";
  return text + Hunks(*before, *after);
}

}  // namespace

std::string UnifiedDiff(const core::UniqueFd& folder, const Change& change) {
  // git has no directories, only what is in them.
  const auto is_shown = [](const FileState& state) {
    return state.kind == FileKind::kFile || state.kind == FileKind::kLink;
  };
  const bool was_shown = is_shown(change.before);
  if (change.before.kind == change.after.kind)
    return was_shown ? OneDiff(folder.get(), change) : "";
  std::string text;
  if (was_shown) {
    Change removed = change;
    removed.after = {};
    removed.content = {};
    text += OneDiff(folder.get(), removed);
  }
  if (is_shown(change.after)) {
    Change added = change;
    added.before = {};
    text += OneDiff(folder.get(), added);
  }
  return text;
}

std::string UnifiedDiff(const core::UniqueFd& folder, const ChangeSet& set) {
  std::string text;
  for (const Change& change : set.changes) {
    text += UnifiedDiff(folder, change);
    if (text.size() <= kMaxDiff.count) continue;
    return text + "# cut after " + kMaxDiff.ToString() + "\n";
  }
  return text;
}

}  // namespace belljar::projects
