// The reference of an HTTP API as a page, made from its OpenAPI document.
#ifndef BELLJAR_SERVER_PAGES_REFERENCE_H_
#define BELLJAR_SERVER_PAGES_REFERENCE_H_

#include <nlohmann/json.hpp>
#include <string>

namespace belljar::server::pages {

// Precondition: `api` is an OpenAPI 3.1 document as this server makes it; its texts may be any.
std::string ReferencePage(const nlohmann::ordered_json& api);

}  // namespace belljar::server::pages

#endif  // BELLJAR_SERVER_PAGES_REFERENCE_H_
