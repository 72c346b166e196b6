#include "server/core/shared_library.h"

#include <dlfcn.h>

namespace belljar::server {

core::Result<SharedLibrary> SharedLibrary::Open(std::initializer_list<const char*> names,
                                                const std::string& needed_for) {
  std::string why;
  for (const char* const name : names) {
    void* const handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (handle != nullptr) return SharedLibrary(name, handle);
    const char* const each = dlerror();  // NOLINT(concurrency-mt-unsafe): thread-local in glibc
    if (why.empty()) why = each != nullptr ? each : "unknown error";
  }
  return core::MakeError(std::string("open ") + *names.begin(), needed_for + ": " + why);
}

core::Error SharedLibrary::Lacks(const std::string& what) const {
  return core::MakeError("open " + name_, "it has no " + what);
}

void* SharedLibrary::Symbol(const char* name) const { return dlsym(handle_, name); }

}  // namespace belljar::server
