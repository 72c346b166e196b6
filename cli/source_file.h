// Reads what the command was pointed at: files, pipes, its own standard input.
#ifndef BELLJAR_CLI_SOURCE_FILE_H_
#define BELLJAR_CLI_SOURCE_FILE_H_

#include <cstdint>
#include <string>

#include "engine/core/bytes.h"
#include "engine/core/result.h"
#include "engine/host/outcome.h"

namespace belljar::cli {

struct SourceFile {
  std::string name;   // as tracebacks and findings name it
  std::string bytes;  // never decoded here
  // There is more than the bound: `bytes` is empty then and `size` says how much, if that is known
  // without reading it all; 0 if not.
  bool is_too_long = false;
  uint64_t size = 0;
};

// `path` may be "-", our own standard input. The error names path and errno.
core::Result<SourceFile> ReadSourceFile(const std::string& path, core::Bytes bound);

// The finding for a source that is longer than the engine would even be asked about.
host::Finding TooLongFinding(const SourceFile& source, core::Bytes bound);

}  // namespace belljar::cli

#endif  // BELLJAR_CLI_SOURCE_FILE_H_
