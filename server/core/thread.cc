#include "server/core/thread.h"

#include <system_error>
#include <utility>

namespace belljar::server {

core::Result<std::thread> StartThread(std::string operation, std::function<void()> body) {
  try {
    return std::thread(std::move(body));
  } catch (const std::system_error& error) {
    return core::SystemErrorOf(error.code().value(), std::move(operation),
                               "no thread could be started");
  }
}

}  // namespace belljar::server
