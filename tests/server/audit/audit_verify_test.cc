// What is done to a log, and that verification names it.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "server/audit/chain.h"
#include "server/audit/entry.h"
#include "server/audit/segment_writer.h"
#include "server/audit/verify.h"
#include "tests/server/audit/log_support.h"

namespace belljar::server::audit::audit_verify_test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using tests::Content;
using tests::Did;
using tests::FaultsOf;
using tests::Had;
using tests::LinesOf;
using tests::Paths;
using tests::SetContent;
using tests::SetLines;
using tests::Verified;
using Lines = std::vector<std::string>;

std::string Members(int number) {
  Entry entry;
  entry.kind = Kind::kSession;
  entry.caller = "team-a";
  entry.action = "opened";
  entry.session = "s" + std::to_string(number);
  return MembersOf(entry);
}

void AddEntries(SegmentWriter& writer, int count) {
  static int number = 0;
  for (int i = 0; i < count; ++i) writer.Append(Members(++number));
  Did(writer.Write());
}

// Three segments of two entries each, all of them signed.
class AuditVerify : public ::testing::Test {
 protected:
  AuditVerify() { WriteLog(folder_); }

  static void WriteLog(const std::string& folder, const std::string& key = "") {
    AuditConfig config = tests::ConfigFor(folder);
    config.key_file = key;
    const std::unique_ptr<SegmentWriter> writer = Had(SegmentWriter::Open(config));
    for (int segment = 1; segment <= 3; ++segment) {
      AddEntries(*writer, 2);
      Did(writer->End());
      if (segment < 3) Did(writer->Begin());
    }
  }

  std::string Path(uint64_t number) const { return SegmentPath(folder_, number); }
  std::string Faults(const Lines& heads = {}) const { return FaultsOf(Verified(folder_, heads)); }
  // What `change` does to the file is found in it.
  void ExpectFoundIn(const std::string& path, const std::string& content, const char* what,
                     size_t at) {
    SetContent(path, content);
    const std::string faults = Faults();
    EXPECT_THAT(faults, HasSubstr(fs::path(path).filename().string() + ":"))
        << what << " at " << at;
  }

  const tests::TemporaryFolder home_;
  const std::string folder_ = home_.path() + "/audit";
};

TEST_F(AuditVerify, NothingIsWrongWithAnUntouchedLog) {
  const Verification verified = Verified(folder_);
  EXPECT_EQ(FaultsOf(verified), "");
  EXPECT_THAT(verified.notes, IsEmpty());
  EXPECT_EQ(verified.segments, 3u);
  EXPECT_EQ(verified.entries, 6u);
  EXPECT_EQ(verified.unsigned_entries, 0u);
  EXPECT_EQ(verified.keys.size(), 1u);
  EXPECT_EQ(Faults({verified.head}), "");
}

// Each byte in one of three ways, in turn.
TEST_F(AuditVerify, EveryByteThatIsChangedIsFoundAndNamed) {
  for (const std::string& path : Paths(folder_)) {
    const std::string original = Content(path);
    for (size_t i = 0; i < original.size(); ++i) {
      std::string changed = original;
      if (i % 3 == 0) {
        changed[i] = original[i] == '\n' ? ' ' : '\n';
      } else {
        changed[i] = static_cast<char>(changed[i] ^ (i % 3 == 1 ? '\x01' : '\x80'));
      }
      ExpectFoundIn(path, changed, "change", i);
    }
    SetContent(path, original);
  }
  EXPECT_EQ(Faults(), "");
}

TEST_F(AuditVerify, EveryByteThatIsRemovedOrAddedIsFound) {
  ASSERT_EQ(Paths(folder_).size(), 3u);
  for (const std::string& path : Paths(folder_)) {
    const std::string original = Content(path);
    for (size_t i = 0; i < original.size(); ++i) {
      // The end of a log can be cut off, down to its last byte: that takes a head from elsewhere.
      const bool is_very_last = path == Path(3) && i + 1 == original.size();
      if (!is_very_last) {
        SetContent(path, original.substr(0, i) + original.substr(i + 1));
        EXPECT_NE(Faults(), "") << path << " without byte " << i;
      }
      const char* const added = i % 2 == 0 ? "0" : "\n";
      ExpectFoundIn(path, original.substr(0, i) + added + original.substr(i), added, i);
    }
    ExpectFoundIn(path, original + "x", "more", original.size());
    ExpectFoundIn(path, original + "\n", "more", original.size());
    SetContent(path, original);
  }
}

TEST_F(AuditVerify, EveryLineThatIsRemovedRepeatedOrMovedIsFound) {
  const std::string head = Verified(folder_).head;
  ASSERT_EQ(Paths(folder_).size(), 3u);
  for (const std::string& path : Paths(folder_)) {
    const Lines original = LinesOf(path);
    for (size_t i = 0; i < original.size(); ++i) {
      Lines lines = original;
      lines.erase(lines.begin() + static_cast<ptrdiff_t>(i));
      SetLines(path, lines);
      const bool is_last_end = path == Path(3) && i + 1 == original.size();
      EXPECT_EQ(Faults().empty(), is_last_end) << path << " without line " << i + 1;
      EXPECT_NE(Faults({head}), "") << path << " without line " << i + 1;

      lines = original;
      lines.insert(lines.begin() + static_cast<ptrdiff_t>(i), original[i]);
      SetLines(path, lines);
      EXPECT_NE(Faults(), "") << path << " with line " << i + 1 << " twice";

      for (size_t j = 0; j < i; ++j) {
        lines = original;
        std::swap(lines[i], lines[j]);
        SetLines(path, lines);
        EXPECT_NE(Faults(), "") << path << " with lines " << i + 1 << " and " << j + 1
                                << " swapped";
      }
    }
    SetLines(path, original);
  }
}

TEST_F(AuditVerify, WhatIsWrongIsSaid) {
  Lines lines = LinesOf(Path(2));
  const Lines original = lines;
  lines.erase(lines.begin() + 1);
  SetLines(Path(2), lines);
  EXPECT_EQ(Faults(), "audit-00000002.jsonl:2: entries were removed before it: 6\n");
  lines = original;
  std::swap(lines[1], lines[2]);
  SetLines(Path(2), lines);
  EXPECT_EQ(Faults(), "audit-00000002.jsonl:2: entries were removed before it: 6\n");
  lines = original;
  lines[1].replace(lines[1].find("team-a"), 6, "team-b");
  SetLines(Path(2), lines);
  EXPECT_EQ(Faults(),
            "audit-00000002.jsonl:2: it was modified: its hash does not match its content\n");
  lines = original;
  lines.pop_back();
  SetLines(Path(2), lines);
  EXPECT_EQ(Faults(), "audit-00000003.jsonl:1: entries were removed before it: 8\n");
}

TEST_F(AuditVerify, EveryFileThatIsRemovedIsFound) {
  const std::string head = Verified(folder_).head;
  const std::string aside = home_.path() + "/aside";
  for (uint64_t number = 1; number <= 3; ++number) {
    fs::rename(Path(number), aside);
    EXPECT_EQ(Faults().empty(), number == 3) << number;
    EXPECT_THAT(Faults({head}),
                HasSubstr(number == 3 ? "the end of the log was removed" : "missing"));
    fs::rename(aside, Path(number));
  }
  EXPECT_EQ(Faults({head}), "");
}

TEST_F(AuditVerify, FilesThatAreSwappedOrOfAnotherLogAreFound) {
  const std::string first = Content(Path(1)), second = Content(Path(2));
  SetContent(Path(1), second);
  SetContent(Path(2), first);
  EXPECT_THAT(Faults(), HasSubstr("audit-00000001.jsonl:1: it belongs to segment 2"));
  SetContent(Path(1), first);
  const std::string other = home_.path() + "/other";
  WriteLog(other, folder_ + "/key.pem");
  SetContent(Path(2), Content(SegmentPath(other, 2)));
  EXPECT_THAT(Faults(), HasSubstr("audit-00000002.jsonl:1: it belongs to another log"));
  // A line of it, at the same place.
  SetContent(Path(2), second);
  Lines lines = LinesOf(Path(2));
  lines[1] = LinesOf(SegmentPath(other, 2))[1];
  SetLines(Path(2), lines);
  EXPECT_THAT(Faults(), HasSubstr("audit-00000002.jsonl:2: it does not follow the previous line"));
}

TEST_F(AuditVerify, OnlyTheKeysThatAreGivenCount) {
  const std::string other = home_.path() + "/other";
  WriteLog(other);
  const std::vector<PublicKey> others = Had(ReadKeys(other));
  EXPECT_THAT(FaultsOf(Had(VerifyLog(folder_, others))), HasSubstr("an unknown key"));
  EXPECT_THAT(FaultsOf(Had(VerifyLog(folder_, {}))), HasSubstr("an unknown key"));
  std::vector<PublicKey> both = Had(ReadKeys(folder_));
  both.push_back(others.front());
  EXPECT_EQ(FaultsOf(Had(VerifyLog(folder_, both))), "");
}

// Whoever has the files and not the key can make every hash right, but no signature.
TEST_F(AuditVerify, ALogThatIsWrittenAnewWithoutTheKeyIsFound) {
  const SigningKey forger = Had(SigningKey::OpenOrMake(home_.path() + "/forger.pem"));
  const Lines original = LinesOf(Path(1));
  const Lines keys = {Had(ReadKeys(folder_)).front().id(), forger.public_key().id()};
  for (const std::string& claimed : keys) {
    Chain chain;
    Lines lines;
    for (const std::string& line : original) {
      std::string members = line.substr(line.find(',') + 1);
      const size_t end = std::min(members.find(",\"previous\":"), members.size());
      members.resize(end);
      if (const size_t at = members.find("team-a"); at != std::string::npos) {
        members.replace(at, 6, "team-b");
      }
      const size_t key = members.find(keys[0]);
      if (key != std::string::npos) members.replace(key, claimed.size(), claimed);
      const bool is_end = members.find("\"segment_end\"") != std::string::npos;
      lines.push_back(chain.Add(members, is_end ? &forger : nullptr));
    }
    SetLines(Path(1), lines);
    EXPECT_THAT(Faults(),
                HasSubstr(claimed == keys[0] ? "its signature is not by key" : "an unknown key"));
    // Nor is the chain to what comes after it.
    EXPECT_THAT(Faults(), HasSubstr("audit-00000001.jsonl:4: "));
  }
  SetLines(Path(1), original);
}

TEST_F(AuditVerify, ASignatureThatIsRemovedIsFound) {
  Lines lines = LinesOf(Path(3));
  const size_t end = lines.back().find(",\"signature\":");
  ASSERT_NE(end, std::string::npos);
  const std::string body = lines.back().substr(0, end);
  lines.back() = body + ",\"hash\":\"" + host::Sha256(body) + "\"}\n";
  SetLines(Path(3), lines);
  EXPECT_EQ(Faults(), "audit-00000003.jsonl:4: its signature was removed\n");
}

TEST_F(AuditVerify, AnotherKeyBesideTheLogIsFound) {
  const std::string path = folder_ + "/key.pub";
  const std::string original = Content(path);
  for (size_t i = 0; i < original.size(); ++i) {
    std::string changed = original;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    SetContent(path, changed);
    const core::Result<std::vector<PublicKey>> keys = ReadKeys(folder_);
    if (keys) {
      EXPECT_NE(FaultsOf(Had(VerifyLog(folder_, *keys))), "") << i;
    }
  }
}

// The last character of base64 has bits that decoders ignore: two texts would be one signature.
TEST(SigningKeyTest, ASignatureHasOneTextOnly) {
  EXPECT_EQ(DecodeCanonical("YQ=="), "a");
  EXPECT_EQ(DecodeCanonical("YR=="), std::nullopt);
  EXPECT_EQ(DecodeCanonical("YWI="), "ab");
  EXPECT_EQ(DecodeCanonical("YWJ="), std::nullopt);
  EXPECT_EQ(DecodeCanonical("YQ"), std::nullopt);
  const tests::TemporaryFolder folder;
  const SigningKey key = Had(SigningKey::OpenOrMake(folder.path() + "/key.pem"));
  const std::string signature = key.Sign("type", "payload");
  EXPECT_TRUE(key.public_key().Verifies("type", "payload", signature));
  for (size_t i = 0; i < signature.size(); ++i) {
    for (int bit = 0; bit < 7; ++bit) {
      std::string changed = signature;
      changed[i] = static_cast<char>(changed[i] ^ (1 << bit));
      EXPECT_FALSE(key.public_key().Verifies("type", "payload", changed)) << i << " " << bit;
    }
  }
}

// --- crashes ------------------------------------------------------------------------------------

TEST_F(AuditVerify, ACrashLeavesNoFaultWhereverItStopsTheWriter) {
  const std::string whole = Content(Path(3));
  const size_t first_line = whole.find('\n') + 1;
  const std::string copy = home_.path() + "/copy";
  for (size_t size = first_line; size < whole.size(); size += 41) {
    fs::remove_all(copy);
    fs::copy(folder_, copy);
    chmod(copy.c_str(), 0700);
    SetContent(SegmentPath(copy, 3), whole.substr(0, size));
    const Verification before = Verified(copy);
    EXPECT_EQ(FaultsOf(before), "") << size;
    EXPECT_FALSE(before.notes.empty()) << size;
    {
      const std::unique_ptr<SegmentWriter> writer =
          Had(SegmentWriter::Open(tests::ConfigFor(copy)));
      ASSERT_TRUE(writer->unclosed()) << size;
      AddEntries(*writer, 1);
      Did(writer->End());
    }
    // Nothing of what was there was changed.
    EXPECT_EQ(Content(SegmentPath(copy, 3)), whole.substr(0, size));
    const Verification after = Verified(copy);
    EXPECT_EQ(FaultsOf(after), "") << size;
    EXPECT_FALSE(after.notes.empty()) << size;
    EXPECT_EQ(after.unsigned_entries, 0u) << size;
  }
}

TEST_F(AuditVerify, WhatACrashLeftCannotBeChangedLater) {
  std::string torn = Content(Path(3));
  torn.resize(torn.size() - 50);
  SetContent(Path(3), torn);
  {
    const std::unique_ptr<SegmentWriter> writer =
        Had(SegmentWriter::Open(tests::ConfigFor(folder_)));
    AddEntries(*writer, 1);
    Did(writer->End());
  }
  ASSERT_EQ(Faults(), "");
  const size_t start = torn.rfind('\n') + 1;
  for (size_t i = start; i < torn.size(); ++i) {
    std::string changed = torn;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    SetContent(Path(3), changed);
    EXPECT_NE(Faults(), "") << i;
  }
  SetContent(Path(3), torn.substr(0, start));
  EXPECT_THAT(Faults(), HasSubstr("differ from those that were there"));
  SetContent(Path(3), torn.substr(0, torn.rfind('\n', start - 2) + 1));
  EXPECT_THAT(Faults(), HasSubstr("audit-00000004.jsonl:1: entries were removed before it"));
}

// A change before the server starts again must not pass as what a crash left.
TEST_F(AuditVerify, AWholeLineThatIsWrongIsNoCrash) {
  Lines lines = LinesOf(Path(3));
  lines.pop_back();
  lines[2].replace(lines[2].find("team-a"), 6, "team-b");
  SetLines(Path(3), lines);
  EXPECT_THAT(Faults(), HasSubstr("audit-00000003.jsonl:3: it was modified"));
  {
    const std::unique_ptr<SegmentWriter> writer =
        Had(SegmentWriter::Open(tests::ConfigFor(folder_)));
    Did(writer->End());
  }
  EXPECT_THAT(Faults(), HasSubstr("audit-00000003.jsonl:3: it was modified"));
}

TEST_F(AuditVerify, ASegmentWithoutItsFirstLineStopsTheServer) {
  Lines lines = LinesOf(Path(3));
  lines.erase(lines.begin());
  SetLines(Path(3), lines);
  // Its first line is an entry, which has no id of the log.
  const auto writer = SegmentWriter::Open(tests::ConfigFor(folder_));
  ASSERT_FALSE(writer);
  EXPECT_THAT(writer.error().ToString(), HasSubstr("its first line is damaged"));
  EXPECT_NE(Faults(), "");
}

// --- removal as the operator asks ---------------------------------------------------------------

TEST_F(AuditVerify, OldSegmentsThatAreRemovedAsAskedAreExplained) {
  AuditConfig config = tests::ConfigFor(folder_);
  config.keep_days = 30;
  for (uint64_t number : {1, 2}) {
    const timespec times[2] = {{1'000'000'000, 0}, {1'000'000'000, 0}};
    ASSERT_EQ(utimensat(AT_FDCWD, Path(number).c_str(), times, 0), 0);
  }
  {
    const std::unique_ptr<SegmentWriter> writer = Had(SegmentWriter::Open(config));
    EXPECT_EQ(Had(writer->Retain()), 2u);
    EXPECT_EQ(Had(writer->Retain()), 0u);
    Did(writer->End());
  }
  EXPECT_EQ(Paths(folder_).front(), Path(3));
  EXPECT_EQ(Faults(), "");
  // One more is not explained.
  fs::remove(Path(3));
  EXPECT_THAT(Faults(), HasSubstr("no entry says that they were removed"));
}

TEST_F(AuditVerify, SegmentsBeyondTheSizeAreRemoved) {
  AuditConfig config = tests::ConfigFor(folder_);
  config.max_size = core::Bytes{fs::file_size(Path(3)) + 1000};
  {
    const std::unique_ptr<SegmentWriter> writer = Had(SegmentWriter::Open(config));
    EXPECT_EQ(Had(writer->Retain()), 2u);
    Did(writer->End());
  }
  EXPECT_EQ(Faults(), "");
}

}  // namespace
}  // namespace belljar::server::audit::audit_verify_test
