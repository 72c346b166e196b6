// Content: what a tool result carries besides its object. The protocol layer decides how it is
// encoded.
#ifndef BELLJAR_SERVER_CORE_CONTENT_H_
#define BELLJAR_SERVER_CORE_CONTENT_H_

#include <memory>
#include <string>

namespace belljar::server {

// Named content that clients can read any number of times while it is kept.
struct Resource {
  std::string uri;
  std::string name;
  std::string media_type;
  bool is_text = false;  // UTF-8, sent unchanged; everything else is sent as base64
  std::shared_ptr<const std::string> bytes;  // never null
};

struct Content {
  enum class Kind {
    kImage,     // for display
    kEmbedded,  // the complete content
    kLink,      // only the URI to read it from
  };
  Kind kind = Kind::kLink;
  Resource resource;
};

}  // namespace belljar::server

#endif  // BELLJAR_SERVER_CORE_CONTENT_H_
