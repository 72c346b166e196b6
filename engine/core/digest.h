// SHA-256, in hexadecimal.
#ifndef BELLJAR_ENGINE_CORE_DIGEST_H_
#define BELLJAR_ENGINE_CORE_DIGEST_H_

#include <string>
#include <string_view>

namespace belljar {

// 64 lower-case digits.
std::string Sha256(std::string_view bytes);

}  // namespace belljar

#endif  // BELLJAR_ENGINE_CORE_DIGEST_H_
