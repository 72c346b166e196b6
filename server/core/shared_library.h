// SharedLibrary: a library that is loaded when first needed. Users who do not use its feature need
// not have it, and a wheel does not contain it.
#ifndef BELLJAR_SERVER_CORE_SHARED_LIBRARY_H_
#define BELLJAR_SERVER_CORE_SHARED_LIBRARY_H_

#include <initializer_list>
#include <string>
#include <utility>

#include "engine/core/result.h"

namespace belljar::server {

class SharedLibrary {
 public:
  // Loads the first of `names` that can be opened. `needed_for` is for the error: what needs the
  // library, and where to get it.
  static core::Result<SharedLibrary> Open(std::initializer_list<const char*> names,
                                          const std::string& needed_for);

  // False: the library has no such function. Functions stay valid until the process ends.
  template <typename Function>
  bool Find(const char* function, Function*& found) const {
    found = reinterpret_cast<Function*>(Symbol(function));
    return found != nullptr;
  }

  // The error for a function that was not found.
  core::Error Lacks(const std::string& what) const;

 private:
  SharedLibrary(std::string name, void* handle) : name_(std::move(name)), handle_(handle) {}
  void* Symbol(const char* name) const;

  std::string name_;
  void* handle_;
};

}  // namespace belljar::server

#endif  // BELLJAR_SERVER_CORE_SHARED_LIBRARY_H_
