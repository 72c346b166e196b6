#include "server/audit/signing_key.h"

#include <fcntl.h>
#include <sodium.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <utility>

#include "engine/core/fd.h"
#include "engine/core/text.h"
#include "engine/host/base64.h"
#include "engine/host/digest.h"
#include "engine/host/random.h"

namespace belljar::server::audit {
namespace {

constexpr size_t kMaxPem = 4096;

// DER of RFC 8410 preceding the 32 bytes of a key. Other forms of the same key are not accepted.
constexpr std::string_view kPublicDer("\x30\x2a\x30\x05\x06\x03\x2b\x65\x70\x03\x21\x00", 12);
constexpr std::string_view kPrivateDer(
    "\x30\x2e\x02\x01\x00\x30\x05\x06\x03\x2b\x65\x70\x04\x22\x04\x20", 16);
constexpr char kPublicLabel[] = "PUBLIC KEY";
constexpr char kPrivateLabel[] = "PRIVATE KEY";

std::string_view AsText(const unsigned char* bytes, size_t size) {
  return {reinterpret_cast<const char*>(bytes), size};
}
const unsigned char* AsBytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

std::string WithPem(const char* label, std::string_view der, std::string_view key) {
  return std::string("-----BEGIN ") + label + "-----\n" +
         host::EncodeBase64(std::string(der) + std::string(key)) + "\n-----END " + label +
         "-----\n";
}

// The key in a PEM text of exactly this form; nullopt: another form.
std::optional<std::array<unsigned char, 32>> FromPem(const char* label, std::string_view der,
                                                     std::string_view pem) {
  const std::string head = std::string("-----BEGIN ") + label + "-----\n";
  const std::string tail = std::string("\n-----END ") + label + "-----\n";
  if (!pem.starts_with(head) || !pem.ends_with(tail) || pem.size() < head.size() + tail.size()) {
    return std::nullopt;
  }
  const std::optional<std::string> bytes =
      DecodeCanonical(pem.substr(head.size(), pem.size() - head.size() - tail.size()));
  std::array<unsigned char, 32> key;
  if (!bytes || bytes->size() != der.size() + key.size() || !bytes->starts_with(der)) {
    return std::nullopt;
  }
  std::memcpy(key.data(), bytes->data() + der.size(), key.size());
  return key;
}

core::Error NotAKey(const std::string& path, const char* label, const char* command) {
  return core::MakeError("read " + core::Quoted(path),
                         std::string("it is not an Ed25519 key in PEM form (\"BEGIN ") + label +
                             "\"), as created by: " + command);
}

std::array<unsigned char, 32> RandomSeed() {
  std::array<unsigned char, 32> seed;
  for (const ptrdiff_t half : {0, 16}) {
    const std::array<unsigned char, 16> bytes = host::RandomBytes();
    std::copy(bytes.begin(), bytes.end(), seed.begin() + half);
  }
  return seed;
}

// Creates a file with its whole content, or none, even if the process is killed. An existing file
// is left unchanged.
core::Result<void> MakeFile(const std::string& path, std::string_view content, mode_t mode) {
  const std::string operation = "write " + core::Quoted(path);
  std::string scratch = path + ".XXXXXX";
  const core::UniqueFd file(mkostemp(scratch.data(), O_CLOEXEC));
  if (!file) return core::SystemError(operation);
  core::Result<void> made;
  if (fchmod(file.get(), mode) != 0 || !core::WriteBytes(file.get(), content) ||
      fsync(file.get()) != 0 || (link(scratch.c_str(), path.c_str()) != 0 && errno != EEXIST)) {
    made = core::SystemError(operation);
  }
  unlink(scratch.c_str());
  return made;
}

// The private key first: a public key without one has lost it, and must not get another.
core::Result<void> MakePrivate(const std::string& path) {
  if (const std::string other = PublicPathOf(path); access(other.c_str(), F_OK) == 0) {
    return core::MakeError("make a key in " + core::Quoted(path),
                           "there is a public key without its private key: restore that, or move " +
                               core::Quoted(other) + " away");
  }
  std::array<unsigned char, 32> seed = RandomSeed();
  std::string pem = WithPem(kPrivateLabel, kPrivateDer, AsText(seed.data(), seed.size()));
  core::Result<void> made = MakeFile(path, pem, 0600);
  sodium_memzero(seed.data(), seed.size());
  sodium_memzero(pem.data(), pem.size());
  return made;
}

// A missing public key is derived from the private key.
core::Result<void> CheckPublic(const std::string& private_path, const PublicKey& key) {
  const std::string path = PublicPathOf(private_path);
  if (core::Result<void> written = key.Write(path); !written) return written;
  const core::Result<PublicKey> found = PublicKey::Read(path);
  if (!found) return found.error();
  if (found->id() == key.id()) return {};
  return core::MakeError("read " + core::Quoted(path),
                         "it is not the public key of " + core::Quoted(private_path) +
                             "; move it away, so that the right one is created");
}

core::Result<void> CheckPrivate(const std::string& path) {
  struct stat status;
  if (stat(path.c_str(), &status) != 0) return core::SystemError("read " + core::Quoted(path));
  if ((status.st_mode & (S_IRWXG | S_IRWXO)) == 0) return {};
  return core::MakeError("read " + core::Quoted(path),
                         "others may read this private key: chmod 600 it, or, if it may have been "
                         "read, remove it, so that another is created");
}

PublicKey::Bytes PublicOf(const std::array<unsigned char, 32>& seed,
                          std::array<unsigned char, 64>& secret) {
  static_assert(crypto_sign_SEEDBYTES == 32 && crypto_sign_SECRETKEYBYTES == 64 &&
                crypto_sign_PUBLICKEYBYTES == PublicKey::kSize);
  PublicKey::Bytes bytes;
  crypto_sign_seed_keypair(bytes.data(), secret.data(), seed.data());
  return bytes;
}

}  // namespace

std::optional<std::string> DecodeCanonical(std::string_view base64) {
  std::optional<std::string> bytes = host::DecodeBase64(base64);
  if (bytes && host::EncodeBase64(*bytes) != base64) return std::nullopt;
  return bytes;
}

std::string PreAuthEncoding(std::string_view type, std::string_view payload) {
  std::string text = "DSSEv1 " + std::to_string(type.size()) + " ";
  text += type;
  text += " " + std::to_string(payload.size()) + " ";
  text += payload;
  return text;
}

PublicKey::PublicKey(const Bytes& bytes)
    : bytes_(bytes),
      id_(host::Sha256(std::string(kPublicDer) + std::string(AsText(bytes.data(), bytes.size())))) {
}

core::Result<PublicKey> PublicKey::Read(const std::string& path) {
  const core::Result<std::string> pem = core::ReadFile(path, kMaxPem);
  if (!pem) return pem.error();
  const std::optional<Bytes> key = FromPem(kPublicLabel, kPublicDer, *pem);
  if (!key) return NotAKey(path, kPublicLabel, "openssl pkey -in key.pem -pubout");
  return PublicKey(*key);
}

core::Result<void> PublicKey::Write(const std::string& path) const {
  return access(path.c_str(), F_OK) == 0 ? core::Result<void>() : MakeFile(path, Pem(), 0644);
}

std::string PublicKey::Pem() const {
  return WithPem(kPublicLabel, kPublicDer, AsText(bytes_.data(), bytes_.size()));
}

bool PublicKey::Verifies(std::string_view type, std::string_view payload,
                         std::string_view signature) const {
  const std::optional<std::string> bytes = DecodeCanonical(signature);
  if (!bytes || bytes->size() != crypto_sign_BYTES) return false;
  const std::string text = PreAuthEncoding(type, payload);
  return crypto_sign_verify_detached(AsBytes(*bytes), AsBytes(text), text.size(), bytes_.data()) ==
         0;
}

SigningKey::SigningKey(const Seed& seed) : secret_(), public_key_(PublicOf(seed, secret_)) {}

SigningKey::SigningKey(SigningKey&& other) noexcept
    : secret_(other.secret_), public_key_(std::move(other.public_key_)) {
  sodium_memzero(other.secret_.data(), other.secret_.size());
}

SigningKey::~SigningKey() { sodium_memzero(secret_.data(), secret_.size()); }

core::Result<SigningKey> SigningKey::OpenOrMake(const std::string& path) {
  // Selects the implementations for this processor; further calls do nothing.
  if (sodium_init() < 0)
    return core::MakeError("start libsodium", "it has no source of random numbers");
  if (access(path.c_str(), F_OK) != 0) {
    if (core::Result<void> made = MakePrivate(path); !made) return made.error();
  }
  if (core::Result<void> checked = CheckPrivate(path); !checked) return checked.error();
  core::Result<std::string> pem = core::ReadFile(path, kMaxPem);
  if (!pem) return pem.error();
  const std::optional<Seed> seed = FromPem(kPrivateLabel, kPrivateDer, *pem);
  sodium_memzero(pem->data(), pem->size());
  if (!seed) return NotAKey(path, kPrivateLabel, "openssl genpkey -algorithm ed25519");
  SigningKey key(*seed);
  if (core::Result<void> checked = CheckPublic(path, key.public_key()); !checked) {
    return checked.error();
  }
  return key;
}

std::string SigningKey::Sign(std::string_view type, std::string_view payload) const {
  std::array<unsigned char, crypto_sign_BYTES> signature;
  const std::string text = PreAuthEncoding(type, payload);
  crypto_sign_detached(signature.data(), nullptr, AsBytes(text), text.size(), secret_.data());
  return host::EncodeBase64(AsText(signature.data(), signature.size()));
}

std::string PublicPathOf(const std::string& private_path) {
  return std::filesystem::path(private_path).replace_extension(".pub").string();
}

}  // namespace belljar::server::audit
