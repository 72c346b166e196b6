// Ed25519 keys, in the PEM files of OpenSSL, and signatures as DSSE has them.
//
//   Result<SigningKey> key = SigningKey::OpenOrMake("/var/lib/belljar/audit/key.pem");
//   std::string signature = key->Sign(kReceiptType, payload);
//   key->public_key().Verifies(kReceiptType, payload, signature);   // true
//
// What is signed is the payload with its type in front (PreAuthEncoding), so that no signature of
// one kind can be shown as one of another.
#ifndef BELLJAR_SERVER_AUDIT_SIGNING_KEY_H_
#define BELLJAR_SERVER_AUDIT_SIGNING_KEY_H_

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/result.h"

namespace belljar::server::audit {

// The bytes of base64 in its canonical form (RFC 4648, 3.5), in which each has one text only: a
// changed one is another or none. nullopt: it is not base64, or in another form.
std::optional<std::string> DecodeCanonical(std::string_view base64);

// PAE of the DSSE specification, version 1.
std::string PreAuthEncoding(std::string_view type, std::string_view payload);

class PublicKey {
 public:
  static constexpr size_t kSize = 32;
  using Bytes = std::array<unsigned char, kSize>;

  explicit PublicKey(const Bytes& bytes);
  // A PEM file ("BEGIN PUBLIC KEY").
  static core::Result<PublicKey> Read(const std::string& path);

  // SHA-256 of its DER form (SubjectPublicKeyInfo), in hexadecimal.
  const std::string& id() const { return id_; }
  std::string Pem() const;
  // Whole or not at all; a file that exists stays as it is.
  core::Result<void> Write(const std::string& path) const;
  // `signature`: base64.
  bool Verifies(std::string_view type, std::string_view payload, std::string_view signature) const;

 private:
  Bytes bytes_;
  std::string id_;
};

class SigningKey {
 public:
  // Reads the private key; without a file makes one, readable only by this user. The public key is
  // beside it, and is made if it is missing: "key.pem" has "key.pub". An error if others may read
  // the private one, or if the public one is another's.
  static core::Result<SigningKey> OpenOrMake(const std::string& path);
  SigningKey(SigningKey&& other) noexcept;
  SigningKey(const SigningKey&) = delete;
  ~SigningKey();

  const PublicKey& public_key() const { return public_key_; }
  // In base64.
  std::string Sign(std::string_view type, std::string_view payload) const;

 private:
  using Seed = std::array<unsigned char, 32>;
  static constexpr size_t kSecretSize = 64;

  explicit SigningKey(const Seed& seed);

  std::array<unsigned char, kSecretSize> secret_;  // the seed, then the public key
  PublicKey public_key_;
};

// Where the public key of a private one is.
std::string PublicPathOf(const std::string& private_path);

// $XDG_STATE_HOME/belljar/NAME, or below ~/.local/state; empty: there is no home.
std::string StatePath(std::string_view name);

}  // namespace belljar::server::audit

#endif  // BELLJAR_SERVER_AUDIT_SIGNING_KEY_H_
