#include "cli/repl/branches.h"

#include <algorithm>
#include <utility>

#include "cli/console.h"
#include "engine/core/text.h"
#include "engine/host/suggest.h"

namespace belljar::cli::repl {
namespace {

constexpr size_t kMaxBranches = 64;
constexpr size_t kMaxBranchName = 40;

bool IsBranchName(const std::string& name) {
  return !name.empty() && name.size() <= kMaxBranchName && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  });
}

}  // namespace

Branches::Branches(outside::Sandbox& sandbox, SessionStart start)
    : sandbox_(&sandbox), start_(std::move(start)) {
  all_.push_back(std::make_unique<Branch>(Branch{kFirstBranch, nullptr, 0}));
}

Branches::~Branches() { CloseAll(); }

core::Result<void> Branches::EnsureOpen(int cancel_fd) {
  return current().session ? core::Result<void>() : OpenFirst(cancel_fd);
}

core::Result<void> Branches::OpenFirst(int cancel_fd) {
  run::RunOptions run;
  run.cancel_fd = cancel_fd;
  core::Result<std::shared_ptr<sessions::Session>> session =
      sandbox_->OpenSession(start_.options, run);
  if (!session) return session.error();
  if (!start_.files.empty()) {
    if (core::Result<void> put = (*session)->WriteFiles(start_.files); !put) {
      (*session)->Close("its files could not be written");
      return put;
    }
  }
  CloseAll();
  all_.push_back(std::make_unique<Branch>(Branch{kFirstBranch, std::move(*session), 0}));
  current_ = 0;
  return {};
}

void Branches::CloseAll() {
  for (const std::unique_ptr<Branch>& branch : all_) {
    if (branch->session) branch->session->Close("the prompt has ended");
  }
  all_.clear();
}

std::vector<std::string> Branches::Names() const {
  std::vector<std::string> names;
  for (const std::unique_ptr<Branch>& branch : all_) names.push_back(branch->name);
  return names;
}

const Branch* Branches::Find(const std::string& name) const {
  const auto found =
      std::ranges::find_if(all_, [&](const auto& branch) { return branch->name == name; });
  return found == all_.end() ? nullptr : found->get();
}

core::Result<void> Branches::Start(std::string name) {
  for (size_t number = 1; name.empty(); ++number) {
    std::string free = "branch-" + std::to_string(number);
    if (!Find(free)) name = std::move(free);
  }
  if (!IsBranchName(name)) {
    return UsersError("a branch's name has at most " + std::to_string(kMaxBranchName) +
                      " letters, digits and any of -_. instead of " + core::Quoted(name));
  }
  if (Find(name)) return UsersError("there is a branch " + name + " already; use %switch " + name);
  if (all_.size() >= kMaxBranches) {
    return UsersError("there are " + std::to_string(kMaxBranches) + " branches, the maximum");
  }
  core::Result<std::vector<std::shared_ptr<sessions::Session>>> started =
      current().session->Branch(1);
  if (!started) return started.error();
  all_.push_back(std::make_unique<Branch>(
      Branch{std::move(name), std::move(started->front()), current().cells}));
  current_ = all_.size() - 1;
  return {};
}

core::Result<void> Branches::SwitchTo(const std::string& name) {
  const auto found =
      std::ranges::find_if(all_, [&](const auto& branch) { return branch->name == name; });
  if (found == all_.end()) {
    return UsersError("no branch " + core::Quoted(name) + ": " + core::Joined(Names()) +
                      host::Suggestion(name, Names()));
  }
  current_ = static_cast<size_t>(found - all_.begin());
  return {};
}

core::Result<void> Branches::Reset(int cancel_fd) { return OpenFirst(cancel_fd); }

}  // namespace belljar::cli::repl
