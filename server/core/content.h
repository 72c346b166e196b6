// Content: what a tool's answer carries beside its object. How it is written down is the protocol's
// to say.
#ifndef BELLJAR_SERVER_CORE_CONTENT_H_
#define BELLJAR_SERVER_CORE_CONTENT_H_

#include <cstdint>
#include <memory>
#include <string>

namespace belljar::server {

// Something with a name that clients can read, as often as they like while it is kept.
struct Resource {
  std::string uri;
  std::string name;
  std::string media_type;
  bool is_text = false;                      // UTF-8, sent as it is; anything else is base64
  std::shared_ptr<const std::string> bytes;  // never null
};

struct Content {
  enum class Kind {
    kImage,     // to look at
    kEmbedded,  // the whole of it
    kLink,      // only where to read it
  };
  Kind kind = Kind::kLink;
  Resource resource;
};

}  // namespace belljar::server

#endif  // BELLJAR_SERVER_CORE_CONTENT_H_
