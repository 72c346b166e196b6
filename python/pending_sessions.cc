// TEMPORARY, until engine/outside defines these: keeps the extension loadable.
#include "engine/outside/session.h"

namespace belljar::outside {
namespace {
core::Error NotYet() { return core::MakeError("use a session", "this build cannot do that yet"); }
}  // namespace
__attribute__((weak)) core::Result<std::string> Session::Ask(const Question&, Patience) { return NotYet(); }
__attribute__((weak)) core::Result<SessionDifference> Session::Compare(Session&, Patience) { return NotYet(); }
__attribute__((weak)) core::Result<SessionDifference> Session::Compare(std::string_view, Patience) { return NotYet(); }
__attribute__((weak)) core::Result<std::vector<SessionFile>> Session::Files(Patience) { return NotYet(); }
__attribute__((weak)) core::Result<std::string> Session::ReadFile(std::string_view, Patience) { return NotYet(); }
__attribute__((weak)) core::Result<void> Session::WriteFiles(const std::vector<host::InputFile>&, Patience) { return NotYet(); }
__attribute__((weak)) core::Result<void> Session::RemoveFile(std::string_view, Patience) { return NotYet(); }
}  // namespace belljar::outside
