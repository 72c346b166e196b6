// Ed25519 keys, in OpenSSL's PEM files, and DSSE signatures.
//
//   Result<SigningKey> key = SigningKey::OpenOrMake("/var/lib/belljar/audit/key.pem");
//   std::string signature = key->Sign(kReceiptType, payload);
//   key->public_key().Verifies(kReceiptType, payload, signature);   // true
//
// The signature covers the payload preceded by its type (PreAuthEncoding), so that a signature of
// one kind cannot be passed off as one of another.
#ifndef BELLJAR_SERVER_AUDIT_SIGNING_KEY_H_
#define BELLJAR_SERVER_AUDIT_SIGNING_KEY_H_

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "engine/core/result.h"

namespace belljar::server::audit {

// The bytes of canonical base64 (RFC 4648, 3.5), in which each value has exactly one text: a
// modified text is another value or invalid. nullopt: not base64, or not canonical.
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
  // Written completely or not at all; an existing file is left unchanged.
  core::Result<void> Write(const std::string& path) const;
  // `signature`: base64.
  bool Verifies(std::string_view type, std::string_view payload, std::string_view signature) const;

 private:
  Bytes bytes_;
  std::string id_;
};

class SigningKey {
 public:
  // Reads the private key; if the file is missing, creates it, readable only by this user. The
  // public key is next to it, and is created if missing: "key.pem" has "key.pub". An error if
  // others may read the private key, or if the public key does not match.
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

// The path of the public key that belongs to a private key.
std::string PublicPathOf(const std::string& private_path);

}  // namespace belljar::server::audit

#endif  // BELLJAR_SERVER_AUDIT_SIGNING_KEY_H_
