#include "engine/host/json_reader.h"

#include <locale.h>

#include <cmath>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

namespace belljar::host {
namespace {

using Json = nlohmann::json;
using Reason = JsonFailure::Reason;

class Builder final : public JsonEvents {
 public:
  explicit Builder(const JsonBounds& bounds) : bounds_(bounds) {}

  Json& root() { return root_; }
  const JsonFailure& failure() const { return failure_; }

  bool null() override { return Add(nullptr); }
  bool boolean(bool value) override { return Add(value); }
  bool number_integer(number_integer_t value) override { return Add(value); }
  bool number_unsigned(number_unsigned_t value) override { return Add(value); }
  bool Number(double value, bool) override { return Add(value); }
  bool string(string_t& value) override { return Add(std::move(value)); }
  bool start_object(size_t) override { return Open(Json::object()); }
  bool start_array(size_t) override { return Open(Json::array()); }
  bool end_object() override { return Close(); }
  bool end_array() override { return Close(); }

  bool key(string_t& name) override {
    const auto [member, is_new] =
        open_.back()->get_ref<Json::object_t&>().try_emplace(std::move(name));
    member_ = &member->second;
    return is_new || Fail({Reason::kRepeatedKey});
  }

 private:
  bool Fail(const JsonFailure& failure) override {
    failure_ = failure;
    return false;
  }

  bool Add(Json value) { return Place(std::move(value)) != nullptr; }

  Json* Place(Json value) {
    if (++values_ > bounds_.values) {
      Fail({Reason::kTooMany});
      return nullptr;
    }
    if (open_.empty()) return &(root_ = std::move(value));
    if (open_.back()->is_object()) return &(*member_ = std::move(value));
    // The pointers in open_ stay valid: an open container is the last item of its parent.
    auto& items = open_.back()->get_ref<Json::array_t&>();
    items.push_back(std::move(value));
    return &items.back();
  }

  bool Open(Json value) {
    if (open_.size() >= bounds_.depth) return Fail({Reason::kTooDeep});
    Json* const placed = Place(std::move(value));
    if (placed) open_.push_back(placed);
    return placed != nullptr;
  }

  bool Close() {
    open_.pop_back();
    return true;
  }

  const JsonBounds bounds_;
  Json root_;
  std::vector<Json*> open_;  // arrays and objects, innermost last
  Json* member_ = nullptr;   // in the innermost object: where the next value goes
  size_t values_ = 0;
  JsonFailure failure_;
};

}  // namespace

bool JsonEvents::Read(std::string_view text) {
  // The parser takes a NUL outside a string for the end of the text and ignores what follows. Valid
  // JSON text contains none.
  if (const size_t nul = text.find('\0'); nul != text.npos) {
    return Fail({Reason::kNotJson, nul + 1});
  }
  nlohmann::json_sax<Json>* const handler = this;
  return Json::sax_parse(text.begin(), text.end(), handler);
}

// The token has the first byte of the locale's decimal point in place of the point. The parsed
// value is wrong if that point has more than one byte.
bool JsonEvents::number_float(number_float_t, const string_t& token) {
  std::string text = token;
  const size_t point = text.find_first_not_of("0123456789+-eE");
  if (point != text.npos) text[point] = '.';
  static const locale_t plain = newlocale(LC_ALL_MASK, "C", nullptr);
  const double value = strtod_l(text.c_str(), nullptr, plain);
  if (!std::isfinite(value)) return Fail({Reason::kNumber});
  return Number(value, text.find_first_of(".eE") == text.npos);
}

bool JsonEvents::parse_error(size_t byte, const std::string&, const Json::exception& error) {
  // The only other error of the parser is a number out of range.
  const bool is_syntax = dynamic_cast<const Json::parse_error*>(&error) != nullptr;
  return Fail({is_syntax ? Reason::kNotJson : Reason::kNumber, byte});
}

JsonReading ReadJson(std::string_view text, const JsonBounds& bounds) {
  Builder builder(bounds);
  if (!builder.Read(text)) return builder.failure();
  return std::move(builder.root());
}

std::string Describe(const JsonFailure& failure, const JsonBounds& bounds) {
  switch (failure.reason) {
    case JsonFailure::Reason::kNotJson:
      return "not valid JSON at byte " + std::to_string(failure.byte);
    case JsonFailure::Reason::kNumber: return "a number is out of range";
    case JsonFailure::Reason::kTooDeep:
      return "nested deeper than " + std::to_string(bounds.depth) + " levels";
    case JsonFailure::Reason::kTooMany:
      return "more than " + std::to_string(bounds.values) +
             " values in one message: send long data as one string";
    case JsonFailure::Reason::kRepeatedKey: return "an object has a duplicate key";
  }
  return "not valid JSON";
}

}  // namespace belljar::host
