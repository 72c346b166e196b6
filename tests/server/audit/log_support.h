// What the tests of the audit log share: its files, as whoever has them could change them.
#ifndef BELLJAR_TESTS_SERVER_AUDIT_LOG_SUPPORT_H_
#define BELLJAR_TESTS_SERVER_AUDIT_LOG_SUPPORT_H_

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "server/audit/log_folder.h"
#include "server/audit/verify.h"
#include "server/core/config.h"
#include "tests/support/support.h"

namespace belljar::tests {

inline void Did(const core::Result<void>& result) {
  if (!result) throw std::runtime_error(result.error().ToString());
}

inline server::AuditConfig ConfigFor(const std::string& folder) {
  server::AuditConfig config;
  config.enabled = true;
  config.folder = folder;
  return config;
}

inline std::string Content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

inline void SetContent(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
}

// With their newlines.
inline std::vector<std::string> LinesOf(const std::string& path) {
  std::vector<std::string> lines;
  std::istringstream text(Content(path));
  for (std::string line; std::getline(text, line);) lines.push_back(line + "\n");
  return lines;
}

inline void SetLines(const std::string& path, const std::vector<std::string>& lines) {
  std::string content;
  for (const std::string& line : lines) content += line;
  SetContent(path, content);
}

inline std::vector<std::string> Paths(const std::string& folder) {
  std::vector<std::string> paths;
  for (const auto& segment : Had(server::audit::ListSegments(folder))) {
    paths.push_back(segment.path);
  }
  return paths;
}

inline server::audit::Verification Verified(const std::string& folder,
                                            const std::vector<std::string>& heads = {}) {
  return Had(server::audit::VerifyLog(folder, Had(server::audit::ReadKeys(folder)), heads));
}

// "audit-00000001.jsonl:3: it was changed…" for each.
inline std::string FaultsOf(const server::audit::Verification& verified) {
  std::string text;
  for (const server::audit::Fault& fault : verified.faults) {
    text += std::filesystem::path(fault.file).filename().string() + ":" +
            std::to_string(fault.line) + ": " + fault.reason + "\n";
  }
  return text;
}

}  // namespace belljar::tests

#endif  // BELLJAR_TESTS_SERVER_AUDIT_LOG_SUPPORT_H_
