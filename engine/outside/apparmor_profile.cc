#include "engine/outside/apparmor_profile.h"

namespace belljar::outside {
namespace {

// A path as a quoted pattern that matches only itself (apparmor.d(5), "Globbing" and "quotes").
std::string QuotedPath(std::string_view path) {
  constexpr std::string_view kSpecial = "\\\"*?[]{}^,@!#";
  std::string quoted = "\"";
  for (const char c : path) {
    if (kSpecial.find(c) != kSpecial.npos) quoted += '\\';
    quoted += c;
  }
  return quoted + "\"";
}

}  // namespace

std::string AppArmorProfile(std::string_view program) {
  return "# Allows Belljar to create user namespaces where AppArmor denies them to programs "
         "without a\n"
         "# profile (Ubuntu 23.10 and later). It restricts nothing else.\n"
         "abi <abi/4.0>,\n"
         "include <tunables/global>\n"
         "\n"
         "profile belljar " +
         QuotedPath(program) +
         " flags=(unconfined) {\n"
         "  userns,\n"
         "\n"
         "  include if exists <local/belljar>\n"
         "}\n";
}

}  // namespace belljar::outside
