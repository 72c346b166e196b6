// Pieces of resources, for contents that are too long to be read at once:
// "belljar://executions/<id>/stdout.txt?offset=5000&length=10000". For text, offset and length
// count characters (code points); otherwise bytes.
#ifndef BELLJAR_SERVER_CORE_RESOURCE_PIECE_H_
#define BELLJAR_SERVER_CORE_RESOURCE_PIECE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "engine/core/result.h"
#include "server/core/content.h"

namespace belljar::server {

struct ResourcePiece {
  std::string whole_uri;
  uint64_t offset = 0;
  std::optional<uint64_t> length;  // nullopt: to the end
};

// nullopt: the URI has no "?". The error says what to send.
core::Result<std::optional<ResourcePiece>> ParsePiece(const std::string& uri);

// Empty beyond the end. Its URI is `uri`.
Resource PieceOf(const Resource& whole, const ResourcePiece& piece, const std::string& uri);

}  // namespace belljar::server

#endif  // BELLJAR_SERVER_CORE_RESOURCE_PIECE_H_
