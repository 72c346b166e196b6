#include "engine/profiles/model_text.h"

#include <algorithm>
#include <string_view>

#include "engine/core/text.h"

namespace belljar::profiles {
namespace {

constexpr std::string_view kBestKnown[] = {
    "numpy",   "pandas", "matplotlib", "scipy",    "sklearn", "statsmodels", "sympy",
    "seaborn", "plotly", "PIL",        "openpyxl", "bs4",     "requests",    "httpx"};

// Top-level modules of the standard library of CPython 3.11 to 3.14 on Linux, and the parts of
// packages that a profile may lack. A test compares the list with CPython. Without what 3.13
// removed, internal modules and jokes.
// clang-format off
constexpr std::string_view kLibrary[] = {
    "abc", "argparse", "array", "ast", "asyncio", "atexit", "base64", "bdb", "binascii", "bisect",
    "bz2", "cProfile", "calendar", "cmath", "cmd", "code", "codecs", "codeop",
    "collections", "colorsys", "compileall", "concurrent", "configparser", "contextlib",
    "contextvars", "copy", "copyreg", "csv", "ctypes", "curses", "dataclasses", "datetime", "dbm",
    "decimal", "difflib", "dis", "doctest", "email", "encodings", "ensurepip", "enum", "errno",
    "faulthandler", "fcntl", "filecmp", "fileinput", "fnmatch", "fractions", "ftplib", "functools",
    "gc", "getopt", "getpass", "gettext", "glob", "graphlib", "grp", "gzip", "hashlib", "heapq",
    "hmac", "html", "http.client", "http.cookies", "http.server", "imaplib", "importlib", "inspect",
    "io", "ipaddress", "itertools", "json", "keyword", "linecache", "locale", "logging", "lzma",
    "mailbox", "marshal", "math", "mimetypes", "mmap", "modulefinder", "multiprocessing", "netrc",
    "numbers", "operator", "optparse", "os", "pathlib", "pdb", "pickle", "pickletools", "pkgutil",
    "platform", "plistlib", "poplib", "posix", "posixpath", "pprint", "profile", "pstats", "pty",
    "pwd", "py_compile", "pyclbr", "pydoc", "queue", "quopri", "random", "re", "readline",
    "reprlib", "resource", "rlcompleter", "runpy", "sched", "secrets", "select", "selectors",
    "shelve", "shlex", "shutil", "signal", "site", "smtplib", "socket", "socketserver", "sqlite3",
    "ssl", "stat", "statistics", "string", "stringprep", "struct", "subprocess", "symtable", "sys",
    "sysconfig", "syslog", "tabnanny", "tarfile", "tempfile", "termios", "textwrap", "threading",
    "time", "timeit", "tkinter", "token", "tokenize", "tomllib", "trace", "traceback",
    "tracemalloc", "tty", "turtle", "types", "typing", "unicodedata", "unittest", "urllib.request",
    "uuid", "venv", "warnings", "wave", "weakref", "webbrowser", "wsgiref", "xml", "xmlrpc",
    "zipapp", "zipfile", "zipimport", "zlib", "zoneinfo",
};
// clang-format on

size_t RankOf(std::string_view package) {
  return static_cast<size_t>(std::ranges::find(kBestKnown, package) - std::begin(kBestKnown));
}

bool IsOf(const std::vector<std::string>& modules, std::string_view name) {
  const bool is_part = name.find('.') != std::string_view::npos;
  return std::ranges::any_of(modules, [&](const std::string& module) {
    return (is_part ? std::string_view(module) : core::TopLevelName(module)) == name;
  });
}

}  // namespace

void PutBestKnownFirst(std::vector<std::string>& packages) {
  std::ranges::stable_sort(packages, {}, &RankOf);
}

std::vector<std::string> PackagesOf(const core::Profile& profile,
                                    const std::vector<installation::MissingPackages>& missing) {
  std::vector<std::string> packages;
  for (const core::PackageSet& set : profile.packages) {
    const bool is_missing =
        std::ranges::find(missing, set.name, &installation::MissingPackages::set) != missing.end();
    if (is_missing) continue;
    packages.insert(packages.end(), set.modules.begin(), set.modules.end());
  }
  PutBestKnownFirst(packages);
  return packages;
}

std::string LibraryText(const std::vector<std::string>& modules) {
  std::vector<std::string> absent, present;
  for (const std::string_view name : kLibrary) {
    if (!IsOf(modules, name)) absent.emplace_back(name);
  }
  for (const std::string& module : modules) {
    const std::string_view root = core::TopLevelName(module);
    if (!core::Contains(present, root)) present.emplace_back(root);
  }
  const std::string library = "the standard library";
  const std::string without =
      absent.empty() ? library : library + " except " + core::Joined(absent);
  const std::string listed = core::Joined(present);
  return without.size() < listed.size() ? without : listed;
}

std::string OfferText(const core::Profile& profile, bool without_policy,
                      const std::vector<std::string>& packages, const std::string& library) {
  std::string text;
  if (without_policy) {
    text = "all of Python, with the packages that are installed,";
  } else {
    if (!packages.empty()) text = core::Joined(packages) + ", and ";
    text += library.empty() ? "the standard library" : library;
  }
  const std::string absent = std::string(profile.workspace ? "" : "files, ") +
                             (profile.egress ? "" : "network, ") + "processes and pip";
  return text + (library.empty() ? " without " : "; without ") + absent;
}

std::string LimitsText(const std::string& limits, const std::string& output) {
  return "Limits: at " + limits + " the program is stopped, with its output so far; output after " +
         output + " is lost. The middle of a long part is cut";
}

}  // namespace belljar::profiles
