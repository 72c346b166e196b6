// Reads the source of a program: files, pipes, standard input.
#ifndef BELLJAR_CLI_SOURCE_FILE_H_
#define BELLJAR_CLI_SOURCE_FILE_H_

#include <cstdint>
#include <string>

#include "engine/core/bytes.h"
#include "engine/core/result.h"
#include "engine/host/outcome.h"

namespace belljar::cli {

struct SourceFile {
  std::string name;   // as shown in tracebacks and findings
  std::string bytes;  // never decoded here
  // The source exceeds the bound: `bytes` is empty, and `size` is its size if known without reading
  // everything, else 0.
  bool is_too_long = false;
  uint64_t size = 0;
};

// `path` may be "-", standard input. The error names path and errno.
core::Result<SourceFile> ReadSourceFile(const std::string& path, core::Bytes bound);

// The finding for a source that is too long to be passed to the engine.
host::Finding TooLongFinding(const SourceFile& source, core::Bytes bound);

}  // namespace belljar::cli

#endif  // BELLJAR_CLI_SOURCE_FILE_H_
