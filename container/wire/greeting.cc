#include "container/wire/greeting.h"

#include <algorithm>

#include "container/wire/fields.h"
#include "engine/core/text.h"

namespace belljar {
namespace {

using nlohmann::json;

constexpr JsonBounds kBounds{.depth = 2, .values = 32};
constexpr size_t kLongestName = 200;
constexpr size_t kLongestOperation = 400;
constexpr size_t kLongestDetail = 1000;
constexpr uint64_t kHighestErrno = 4095;  // as the kernel's own MAX_ERRNO
constexpr char kRebuild[] = "build the image again with this Belljar: belljar image build";

std::string Shortened(std::string_view text, size_t most) {
  std::string shown = Printable(text.substr(0, most));
  if (shown.size() > most) shown.resize(CompletePrefix(std::string_view(shown).substr(0, most)));
  return shown;
}

// A version, the name of a profile: nothing that could be anything else where it is shown.
std::string Name(Fields& fields, const char* key) {
  std::string name = fields.Text(key, kLongestName);
  if (name.empty() || Printable(name) != name) throw FormError(std::string(key) + " is no name");
  return name;
}

}  // namespace

std::string HelloToText(const Hello& hello) {
  return FormText({{"protocol", hello.protocol},
                   {"belljar", hello.belljar},
                   {"python", hello.python},
                   {"profile", hello.profile},
                   {"isolation", hello.isolation},
                   {"language", hello.language}});
}

Result<Hello> ReadHello(std::string_view text) {
  Hello hello;
  Result<void> read = ReadForm(text, kBounds, "read a container's hello", [&](const json& form) {
    Fields fields(form);
    hello.protocol = static_cast<uint32_t>(fields.Number("protocol", UINT32_MAX));
    if (hello.protocol != kContainerProtocol) return;
    hello.belljar = Name(fields, "belljar");
    hello.python = Name(fields, "python");
    hello.profile = Name(fields, "profile");
    hello.isolation = Name(fields, "isolation");
    hello.language = Name(fields, "language");
    fields.End();
  });
  if (!read) return read.error();
  return hello;
}

Result<void> CheckHello(const Hello& hello, const Hello& expected) {
  if (hello.protocol != expected.protocol) {
    return MakeError("greet a container", "it speaks protocol " + std::to_string(hello.protocol) +
                                              ", not " + std::to_string(expected.protocol) + "; " +
                                              kRebuild);
  }
  const struct {
    const char* what;
    const std::string& is;
    const std::string& wanted;
  } kParts[] = {{"Belljar", hello.belljar, expected.belljar},
                {"Python", hello.python, expected.python},
                {"profile", hello.profile, expected.profile},
                {"isolation", hello.isolation, expected.isolation},
                {"language", hello.language, expected.language}};
  for (const auto& part : kParts) {
    if (part.is == part.wanted) continue;
    return MakeError("greet a container", "it has " + std::string(part.what) + " " +
                                              Quoted(part.is) + ", not " + Quoted(part.wanted) +
                                              "; " + kRebuild);
  }
  return {};
}

std::string FailureToText(const Error& error) {
  const auto number = static_cast<uint64_t>(std::max(error.error_number, 0));
  return FormText({{"operation", Shortened(error.operation, kLongestOperation)},
                   {"errno", std::min(number, kHighestErrno)},
                   {"detail", Shortened(error.detail, kLongestDetail)}});
}

Error ReadFailure(std::string_view text) {
  Error said;
  Result<void> read = ReadForm(text, kBounds, "read a container's failure", [&](const json& form) {
    Fields fields(form);
    said.operation = Printable(fields.Text("operation", kLongestOperation));
    said.error_number = static_cast<int>(fields.Number("errno", kHighestErrno));
    said.detail = Printable(fields.Text("detail", kLongestDetail));
    fields.End();
  });
  return read ? MakeError("in the container", said.ToString()) : read.error();
}

}  // namespace belljar
