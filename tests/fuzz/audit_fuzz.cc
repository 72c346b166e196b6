// audit_fuzz: receipts and logs, which anybody can hand to somebody who verifies them. Each input
// is tried as an envelope, as a statement that the right key has signed, and as a segment of a log.
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <variant>

#include "engine/host/base64.h"
#include "engine/host/digest.h"
#include "server/audit/chain.h"
#include "server/audit/log_folder.h"
#include "server/audit/receipt.h"
#include "server/audit/search.h"
#include "server/audit/verify.h"
#include "tests/fuzz/invariant.h"

namespace belljar::tests {
namespace {

namespace audit = server::audit;

// A key and a log of this process's own, removed at its end.
class Folder {
 public:
  Folder() {
    char name[] = "/tmp/audit_fuzz.XXXXXX";
    Require(mkdtemp(name) != nullptr, "no folder");
    path_ = name;
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  static Folder& Get() {
    static Folder folder;
    return folder;
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

const audit::SigningKey& Key() {
  static const auto key = audit::SigningKey::OpenOrMake(Folder::Get().path() + "/key.pem");
  Require(key.ok(), "no key");
  return *key;
}

void TryReceipt(std::string_view bytes) {
  // No input has a signature of a key that was made a moment ago.
  Require(!audit::VerifyReceipt(bytes, {Key().public_key()}), "a receipt without a signature",
          bytes);
  const std::string envelope = "{\"payload\":\"" + host::EncodeBase64(bytes) +
                               "\",\"payloadType\":\"" + audit::kReceiptType +
                               "\",\"signatures\":[{\"sig\":\"" +
                               Key().Sign(audit::kReceiptType, bytes) + "\"}]}";
  const auto receipt = audit::VerifyReceipt(envelope, {Key().public_key()});
  if (!receipt) return;
  Require(receipt->key == Key().public_key().id(), "signed by nobody", bytes);
  (void)audit::SubjectDigest(*receipt, audit::kOutputSubject);
  (void)audit::InputDigest(*receipt, "code");
}

void TryLine(std::string_view bytes) {
  const auto read = audit::Read(bytes);
  if (const auto* line = std::get_if<audit::ReadLine>(&read)) {
    const std::string_view hashed = bytes.substr(0, bytes.rfind(",\"hash\":"));
    Require(host::Sha256(hashed) == line->hash, "a hash that is not the line's", bytes);
  }
  // What is written can be read, whatever the members are.
  audit::Chain chain;
  std::string members = "\"time\":\"" + audit::TimeNow() + "\",\"kind\":\"session\",\"detail\":";
  audit::AppendText(members, bytes);
  std::string line = chain.Add(members);
  line.pop_back();
  const auto again = audit::Read(line);
  const auto* entry = std::get_if<audit::ReadLine>(&again);
  Require(entry && entry->sequence == 1 && entry->hash == chain.hash(), "cannot be read", line);
  for (const char c : line) Require(c >= ' ' && c <= '~', "not printable", line);
}

void TryLog(std::string_view bytes) {
  const std::string& folder = Folder::Get().path();
  std::ofstream(audit::SegmentPath(folder, 1), std::ios::binary | std::ios::trunc) << bytes;
  const auto verified = audit::VerifyLog(folder, {Key().public_key()});
  Require(verified.ok(), "cannot be read", bytes);
  Require(verified->keys.empty(), "signed by nobody", bytes);
  Require(audit::Search(folder, {}, [](const audit::FoundLine&) {}).ok(), "no search", bytes);
}

}  // namespace
}  // namespace belljar::tests

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  belljar::tests::TryReceipt(bytes);
  belljar::tests::TryLine(bytes);
  belljar::tests::TryLog(bytes);
  return 0;
}
