#include "container/wire/greeting.h"

#include <algorithm>

#include "container/wire/fields.h"
#include "engine/core/text.h"

namespace belljar::container::wire {
namespace {

using nlohmann::json;

constexpr host::JsonBounds kGreetingBounds{.depth = 2, .values = 32};
constexpr size_t kMaxName = 200;
constexpr size_t kMaxOperation = 400;
constexpr size_t kMaxDetail = 1000;
constexpr uint64_t kMaxErrno = 4095;  // the kernel's MAX_ERRNO
constexpr char kRebuild[] = "rebuild the image with this Belljar: belljar image build";

std::string Shortened(std::string_view text, size_t max) {
  std::string shown = core::Printable(text.substr(0, max));
  if (shown.size() > max)
    shown.resize(core::CompletePrefix(std::string_view(shown).substr(0, max)));
  return shown;
}

// A version or the name of a profile: safe to display anywhere.
std::string Name(Fields& fields, const char* key) {
  std::string name = fields.Text(key, kMaxName);
  if (name.empty() || core::Printable(name) != name)
    throw FormError(std::string(key) + " is not a name");
  return name;
}

}  // namespace

std::string HelloToText(const Hello& hello) {
  return FormText({{"protocol", hello.protocol},
                   {"belljar", hello.belljar},
                   {"python", hello.python},
                   {"profile", hello.profile},
                   {"isolation", hello.isolation},
                   {"policy", hello.policy}});
}

core::Result<Hello> ReadHello(std::string_view text) {
  Hello hello;
  core::Result<void> read =
      ReadForm(text, kGreetingBounds, "parse a container's hello", [&](const json& form) {
        Fields fields(form);
        hello.protocol = static_cast<uint32_t>(fields.Number("protocol", UINT32_MAX));
        if (hello.protocol != kContainerProtocol) return;
        hello.belljar = Name(fields, "belljar");
        hello.python = Name(fields, "python");
        hello.profile = Name(fields, "profile");
        hello.isolation = Name(fields, "isolation");
        hello.policy = Name(fields, "policy");
        fields.End();
      });
  if (!read) return read.error();
  return hello;
}

core::Result<void> CheckHello(const Hello& hello, const Hello& expected) {
  if (hello.protocol != expected.protocol) {
    return core::MakeError("greet a container",
                           "it speaks protocol " + std::to_string(hello.protocol) + ", not " +
                               std::to_string(expected.protocol) + "; " + kRebuild);
  }
  const struct {
    const char* what;
    const std::string& is;
    const std::string& wanted;
  } kParts[] = {{"Belljar", hello.belljar, expected.belljar},
                {"Python", hello.python, expected.python},
                {"profile", hello.profile, expected.profile},
                {"isolation", hello.isolation, expected.isolation},
                {"policy", hello.policy, expected.policy}};
  for (const auto& part : kParts) {
    if (part.is == part.wanted) continue;
    return core::MakeError("greet a container", "it has " + std::string(part.what) + " " +
                                                    core::Quoted(part.is) + ", not " +
                                                    core::Quoted(part.wanted) + "; " + kRebuild);
  }
  return {};
}

std::string FailureToText(const core::Error& error) {
  const auto number = static_cast<uint64_t>(std::max(error.error_number, 0));
  return FormText({{"operation", Shortened(error.operation, kMaxOperation)},
                   {"errno", std::min(number, kMaxErrno)},
                   {"detail", Shortened(error.detail, kMaxDetail)}});
}

core::Error ReadFailure(std::string_view text) {
  core::Error said;
  core::Result<void> read =
      ReadForm(text, kGreetingBounds, "read a container's failure", [&](const json& form) {
        Fields fields(form);
        said.operation = core::Printable(fields.Text("operation", kMaxOperation));
        said.error_number = static_cast<int>(fields.Number("errno", kMaxErrno));
        said.detail = core::Printable(fields.Text("detail", kMaxDetail));
        fields.End();
      });
  return read ? core::MakeError("in the container", said.ToString()) : read.error();
}

}  // namespace belljar::container::wire
