#include "container/image/selection.h"

#include <algorithm>
#include <string_view>

#include "container/image/byte_code.h"

namespace belljar::container::image {
namespace {

// Folders and modules of the standard library, by path.
constexpr std::string_view kExcludedModules[] = {
    // Python's own tests, and what only they use.
    "test", "__phello__", "__hello__.py", "_testcapi", "ctypes/test", "distutils/tests",
    "lib2to3/tests", "sqlite3/test", "tkinter/test", "unittest/test",
    // They need a screen or a terminal, which a container does not have.
    "idlelib", "tkinter", "turtle.py", "turtledemo", "curses", "antigravity.py", "this.py",
    "pydoc_data", "lib-dynload/_tkinter", "lib-dynload/_curses", "lib-dynload/_curses_panel",
    "lib-dynload/readline", "lib-dynload/ossaudiodev",
    // They install, build or create environments; nothing is ever installed in a container.
    "ensurepip", "venv", "lib2to3", "EXTERNALLY-MANAGED", "sitecustomize.py",
    // Removed from later Python versions, or with dependencies that nobody needs here: NIS pulls in
    // Kerberos, dbm Berkeley DB, crypt the system's password hashes.
    "lib-dynload/nis", "lib-dynload/_dbm", "lib-dynload/_gdbm", "lib-dynload/_crypt"};

// For building extension modules, with the interpreter's static library: 70 MB on Debian.
constexpr std::string_view kBuildFolder = "config-";

// Extension modules for Python's own tests.
constexpr std::string_view kTestExtensions[] = {"lib-dynload/_test", "lib-dynload/_xxtest",
                                                "lib-dynload/_ctypes_test", "lib-dynload/xx"};

// C and Cython sources, stubs for type checkers, static libraries, launchers for another system.
constexpr std::string_view kNotToImport[] = {".a",   ".c",   ".cmake", ".cpp", ".exe",
                                             ".h",   ".hpp", ".la",    ".o",   ".pc",
                                             ".pth", ".pxd", ".pxi",   ".pyi", ".pyx"};

// Package metadata about how and from where it was installed, which differs between machines.
constexpr std::string_view kInstallerMetadata[] = {"RECORD", "INSTALLER", "REQUESTED",
                                                   "direct_url.json"};

// They install packages, or belong to an environment and not to a package.
constexpr std::string_view kInstallers[] = {"pip",           "setuptools",      "wheel",
                                            "pkg_resources", "_distutils_hack", "bin"};

std::string_view LastPart(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// Whether it is for another Python: "math.cpython-39-x86_64-linux-gnu.so", or "-311d-" for a debug
// build.
bool IsOfAnotherPython(std::string_view name) {
  const size_t tag = name.find(".cpython-");
  return tag != name.npos && name.ends_with(".so") &&
         !name.substr(tag + 1).starts_with(CacheTag() + "-") &&
         name.substr(tag + 1) != CacheTag() + ".so";
}

// "lib-dynload/nis" from "lib-dynload/nis.cpython-311-x86_64-linux-gnu.so"; others unchanged.
std::string_view ModulePath(std::string_view path) {
  if (!path.ends_with(".so")) return path;
  const size_t from = path.rfind('/') + 1;
  return path.substr(0, path.find('.', from));
}

}  // namespace

bool IsWithin(const std::filesystem::path& path, const std::filesystem::path& root) {
  const auto [end, ignored] = std::mismatch(root.begin(), root.end(), path.begin(), path.end());
  return end == root.end();
}

bool IsAny(std::string_view text, std::span<const std::string_view> words) {
  return std::ranges::find(words, text) != words.end();
}

bool StartsWithAny(std::string_view text, std::span<const std::string_view> prefixes) {
  return std::ranges::any_of(prefixes,
                             [&](std::string_view prefix) { return text.starts_with(prefix); });
}

bool WantsOfStandardLibrary(const std::string& path) {
  return !IsAny(ModulePath(path), kExcludedModules) && !path.starts_with(kBuildFolder) &&
         !StartsWithAny(path, kTestExtensions) && !IsOfAnotherPython(LastPart(path)) &&
         // Distributions use dist-packages.
         path != "site-packages" && path != "dist-packages";
}

bool WantsOfPackages(const std::string& path) {
  const std::string_view name = LastPart(path);
  const std::string_view top = std::string_view(path).substr(0, path.find('/'));
  const size_t dot = name.rfind('.');
  if (dot != name.npos && IsAny(name.substr(dot), kNotToImport)) return false;
  if (top.ends_with(".dist-info") && name != top && IsAny(name, kInstallerMetadata)) return false;
  if (IsAny(top.substr(0, top.find('-')), kInstallers)) return false;
  // Unless the package itself has that name.
  if ((name == "tests" || name == "test") && name != top) return false;
  return !IsOfAnotherPython(name);
}

bool WantsOfTimeZones(const std::string& path) {
  // Duplicates, with leap seconds or under another name; and the machine's own zone.
  return path != "posix" && path != "right" && path != "localtime" && path != "posixrules";
}

bool WantsOfCertificates(const std::string& path) { return path == "ca-certificates.crt"; }

bool WantsAll(const std::string&) { return true; }

}  // namespace belljar::container::image
