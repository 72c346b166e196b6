// JSON answers of the compatible APIs. Invalid UTF-8 becomes U+FFFD.
#ifndef BELLJAR_SERVER_FRONTS_JSON_ANSWER_H_
#define BELLJAR_SERVER_FRONTS_JSON_ANSWER_H_

#include <nlohmann/json.hpp>

#include "server/core/web.h"

namespace belljar::server::fronts {

inline WebAnswer JsonAnswer(const nlohmann::ordered_json& body, unsigned status = 200) {
  WebAnswer answer;
  answer.status = status;
  answer.body = body.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  return answer;
}

}  // namespace belljar::server::fronts

#endif  // BELLJAR_SERVER_FRONTS_JSON_ANSWER_H_
