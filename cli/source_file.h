// Reads what the command was pointed at: files, pipes, its own standard input.
#ifndef BELLJAR_CLI_SOURCE_FILE_H_
#define BELLJAR_CLI_SOURCE_FILE_H_

#include <cstdint>
#include <string>

#include "engine/core/bytes.h"
#include "engine/core/outcome.h"
#include "engine/core/result.h"

namespace belljar {

struct SourceFile {
  std::string name;   // as tracebacks and findings name it
  std::string bytes;  // never decoded here
  // There is more than the bound: `bytes` is empty then and `size` says how much, if that is known
  // without reading it all; 0 if not.
  bool is_too_long = false;
  uint64_t size = 0;
};

// `path` may be "-", our own standard input. The error names path and errno.
Result<SourceFile> ReadSourceFile(const std::string& path, Bytes bound);

// The finding for a source that is longer than the engine would even be asked about.
Finding TooLongFinding(const SourceFile& source, Bytes bound);

}  // namespace belljar

#endif  // BELLJAR_CLI_SOURCE_FILE_H_
