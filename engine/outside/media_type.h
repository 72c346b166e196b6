// Media types of files, told by their names; of those without a known one, by whether it is text.
#ifndef BELLJAR_ENGINE_OUTSIDE_MEDIA_TYPE_H_
#define BELLJAR_ENGINE_OUTSIDE_MEDIA_TYPE_H_

#include <string_view>

namespace belljar::outside {

// What the extension of `path` stands for; nullptr for one that is not known. Upper case or lower.
const char* MediaTypeOfName(std::string_view path);

// The same; of another file text/plain where `content` is UTF-8, else application/octet-stream. The
// guest chooses both: it is how to show the file, not what it holds.
const char* MediaTypeOf(std::string_view path, std::string_view content);

}  // namespace belljar::outside

#endif  // BELLJAR_ENGINE_OUTSIDE_MEDIA_TYPE_H_
