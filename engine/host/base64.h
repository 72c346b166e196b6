// Base64 as in RFC 4648, section 4: with padding, without line breaks.
#ifndef BELLJAR_ENGINE_HOST_BASE64_H_
#define BELLJAR_ENGINE_HOST_BASE64_H_

#include <optional>
#include <string>
#include <string_view>

namespace belljar::host {

std::string EncodeBase64(std::string_view bytes);

// nullopt unless it has exactly that form.
std::optional<std::string> DecodeBase64(std::string_view text);

}  // namespace belljar::host

#endif  // BELLJAR_ENGINE_HOST_BASE64_H_
