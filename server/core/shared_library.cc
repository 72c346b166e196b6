#include "server/core/shared_library.h"

#include <dlfcn.h>

#include <utility>

namespace belljar::server {

core::Result<SharedLibrary> SharedLibrary::Open(std::string name, const std::string& needed_for) {
  void* const handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle != nullptr) return SharedLibrary(std::move(name), handle);
  const char* const why = dlerror();  // NOLINT(concurrency-mt-unsafe): thread-local in glibc
  return core::MakeError("open " + name,
                         needed_for + ": " + (why != nullptr ? why : "unknown error"));
}

core::Error SharedLibrary::Lacks(const std::string& what) const {
  return core::MakeError("open " + name_, "it has no " + what);
}

void* SharedLibrary::Symbol(const char* name) const { return dlsym(handle_, name); }

}  // namespace belljar::server
