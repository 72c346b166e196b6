// Files of a session as one tar file. Archives are only written here, never read: clients send a
// list of files, so that this process parses no archives (docs/mcp-tools.md).
#ifndef BELLJAR_SERVER_TOOLS_SESSION_ARCHIVE_H_
#define BELLJAR_SERVER_TOOLS_SESSION_ARCHIVE_H_

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "engine/core/bytes.h"
#include "engine/core/result.h"
#include "engine/sessions/session.h"

namespace belljar::server::tools {

struct SessionArchive {
  std::string bytes;
  size_t files = 0;
  size_t left_out = 0;  // whose names a tar file cannot hold, or that have disappeared meanwhile
};

// ENOENT: no such file.
using FileReader = std::function<core::Result<std::string>(const std::string& path)>;

// Nothing is read if the sizes of `files` exceed `max_size`. An error without a number is a
// sentence for the caller; the others are the reader's or this machine's.
core::Result<SessionArchive> MakeArchive(std::vector<sessions::SessionFile> files,
                                         const FileReader& read, core::Bytes max_size);

}  // namespace belljar::server::tools

#endif  // BELLJAR_SERVER_TOOLS_SESSION_ARCHIVE_H_
