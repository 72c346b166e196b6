// Files as answers: entity tags, conditions and ranges (RFC 9110, 8.8.3, 13 and 14).
#ifndef BELLJAR_SERVER_REST_FILE_ANSWER_H_
#define BELLJAR_SERVER_REST_FILE_ANSWER_H_

#include <memory>
#include <string>

#include "server/core/web.h"

namespace belljar::server::rest {

struct ServedFile {
  std::shared_ptr<const std::string> bytes;  // never null
  std::string media_type;
  std::string name;  // for a client that saves it; any UTF-8
};

// 200, 206, 304 or 416. Programs control the content: a browser downloads files and renders
// nothing.
WebAnswer FileAnswer(const ServedFile& file, const WebHeaders& headers);

}  // namespace belljar::server::rest

#endif  // BELLJAR_SERVER_REST_FILE_ANSWER_H_
