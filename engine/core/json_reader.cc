#include "engine/core/json_reader.h"

#include <locale.h>

#include <cmath>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

namespace belljar {
namespace {

using Json = nlohmann::json;
using Reason = JsonFailure::Reason;

// Returning false ends the parse.
class Builder final : public nlohmann::json_sax<Json> {
 public:
  explicit Builder(const JsonBounds& bounds) : bounds_(bounds) {}

  Json& root() { return root_; }
  const JsonFailure& failure() const { return failure_; }

  bool null() override { return Add(nullptr); }
  bool boolean(bool value) override { return Add(value); }
  bool number_integer(number_integer_t value) override { return Add(value); }
  bool number_unsigned(number_unsigned_t value) override { return Add(value); }
  bool number_float(number_float_t, const string_t& text) override {
    const std::optional<double> value = JsonFloat(text);
    return value ? Add(*value) : Fail(Reason::kNumber);
  }
  bool string(string_t& value) override { return Add(std::move(value)); }
  bool binary(binary_t& value) override { return Add(std::move(value)); }
  bool start_object(size_t) override { return Open(Json::object()); }
  bool start_array(size_t) override { return Open(Json::array()); }
  bool end_object() override { return Close(); }
  bool end_array() override { return Close(); }

  bool key(string_t& name) override {
    const auto [member, is_new] =
        open_.back()->get_ref<Json::object_t&>().try_emplace(std::move(name));
    member_ = &member->second;
    return is_new || Fail(Reason::kRepeatedKey);
  }

  bool parse_error(size_t byte, const std::string&, const Json::exception& error) override {
    // A number out of range is the one other thing that the parser finds.
    const bool is_syntax = dynamic_cast<const Json::parse_error*>(&error) != nullptr;
    return Fail(is_syntax ? Reason::kNotJson : Reason::kNumber, byte);
  }

 private:
  bool Fail(Reason reason, size_t byte = 0) {
    failure_ = {reason, byte};
    return false;
  }

  bool Add(Json value) { return Place(std::move(value)) != nullptr; }

  Json* Place(Json value) {
    if (++values_ > bounds_.values) {
      Fail(Reason::kTooMany);
      return nullptr;
    }
    if (open_.empty()) return &(root_ = std::move(value));
    if (open_.back()->is_object()) return &(*member_ = std::move(value));
    // What is open stays where it is: it is the last item of whatever holds it.
    auto& items = open_.back()->get_ref<Json::array_t&>();
    items.push_back(std::move(value));
    return &items.back();
  }

  bool Open(Json value) {
    if (open_.size() >= bounds_.depth) return Fail(Reason::kTooDeep);
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
  std::vector<Json*> open_;  // arrays and objects, the innermost last
  Json* member_ = nullptr;   // of the innermost object: where the next value goes
  size_t values_ = 0;
  JsonFailure failure_;
};

}  // namespace

std::optional<double> JsonFloat(std::string text) {
  const size_t point = text.find_first_not_of("0123456789+-eE");
  if (point != text.npos) text[point] = '.';
  static const locale_t plain = newlocale(LC_ALL_MASK, "C", nullptr);
  const double value = strtod_l(text.c_str(), nullptr, plain);
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

JsonReading ReadJson(std::string_view text, const JsonBounds& bounds) {
  // nlohmann takes a NUL outside of a string for the end of the text (3.11), and would not see what
  // stands behind it. No JSON text holds one.
  if (const size_t nul = text.find('\0'); nul != text.npos) {
    return JsonFailure{Reason::kNotJson, nul + 1};
  }
  Builder builder(bounds);
  if (!Json::sax_parse(text.begin(), text.end(), &builder)) return builder.failure();
  return std::move(builder.root());
}

}  // namespace belljar
