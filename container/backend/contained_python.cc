#include "container/backend/contained_python.h"

#include <utility>

namespace belljar::container::backend {
namespace {

using Kind = wire::Inquiry::Kind;

Kind KindOf(run::Question::Kind kind) {
  switch (kind) {
    case run::Question::Kind::kComplete: return Kind::kComplete;
    case run::Question::Kind::kInspect: return Kind::kInspect;
    case run::Question::Kind::kVariables: break;
  }
  return Kind::kVariables;
}

}  // namespace

core::Result<wire::Reply> ContainedPython::Inquire(const wire::Inquiry& inquiry, int kill_fd) {
  core::Result<wire::Reply> reply = container_.guest->Inquire(inquiry, kill_fd);
  if (reply && reply->error) return *reply->error;
  return reply;
}

core::Result<std::string> ContainedPython::Ask(const run::Question& question, int kill_fd) {
  core::Result<wire::Reply> reply =
      Inquire({KindOf(question.kind), question.source, question.cursor, {}}, kill_fd);
  if (!reply) return reply.error();
  return std::move(reply->content);
}

core::Result<std::vector<sessions::SessionFile>> ContainedPython::Files(int kill_fd) {
  core::Result<wire::Reply> reply = Inquire({Kind::kFiles, "", {}, {}}, kill_fd);
  if (!reply) return reply.error();
  return std::move(reply->files);
}

core::Result<std::string> ContainedPython::ReadFile(std::string_view path, int kill_fd) {
  core::Result<wire::Reply> reply = Inquire({Kind::kReadFile, std::string(path), {}, {}}, kill_fd);
  if (!reply) return reply.error();
  return std::move(reply->content);
}

core::Result<void> ContainedPython::WriteFiles(const std::vector<host::InputFile>& files,
                                               int kill_fd) {
  const core::Result<wire::Reply> reply = Inquire({Kind::kWriteFiles, "", {}, files}, kill_fd);
  return reply ? core::Result<void>() : reply.error();
}

core::Result<void> ContainedPython::RemoveFile(std::string_view path, int kill_fd) {
  const core::Result<wire::Reply> reply =
      Inquire({Kind::kRemoveFile, std::string(path), {}, {}}, kill_fd);
  return reply ? core::Result<void>() : reply.error();
}

}  // namespace belljar::container::backend
