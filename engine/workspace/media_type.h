// Media types of files by name; for unknown names, by whether the content is text.
#ifndef BELLJAR_ENGINE_WORKSPACE_MEDIA_TYPE_H_
#define BELLJAR_ENGINE_WORKSPACE_MEDIA_TYPE_H_

#include <string_view>

namespace belljar::workspace {

// The media type of the extension of `path`, in upper or lower case; nullptr if it is not known.
const char* MediaTypeOfName(std::string_view path);

// The same; for other files text/plain if `content` is UTF-8, else application/octet-stream. The
// guest chooses both, so this only says how to show the file, not what it contains.
const char* MediaTypeOf(std::string_view path, std::string_view content);

}  // namespace belljar::workspace

#endif  // BELLJAR_ENGINE_WORKSPACE_MEDIA_TYPE_H_
