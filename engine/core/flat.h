// Flat: a structure as bytes, for the messages of wire.h that are more than one fixed structure.
// Its members both write and read it:
//
//   struct Rule {
//     std::string path;
//     bool optional = false;
//     static auto Members(auto& rule) { return std::tie(rule.path, rule.optional); }
//   };
//   const Result<Rule> read = FromFlat<Rule>("rule", ToFlat(rule));
//
// Numbers have eight bytes; texts, lists and optional values begin with their size. Both sides are
// of one build. The reader trusts nothing, since the host reads reports of hostile workers with it:
// it compares each size with what is left before it copies, a number must fit its member, and
// nothing may follow the last one.
#ifndef BELLJAR_ENGINE_CORE_FLAT_H_
#define BELLJAR_ENGINE_CORE_FLAT_H_

#include <concepts>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "engine/core/result.h"

namespace belljar::core {

template <typename T>
concept FlatList = std::same_as<T, std::vector<typename T::value_type>>;
// Any bytes are a valid value of such items, so they are copied as they are.
template <typename T>
concept FlatBytes = std::same_as<T, std::string> ||
    (FlatList<T>&& std::has_unique_object_representations_v<typename T::value_type> &&
     !std::same_as<typename T::value_type, bool>);
template <typename T>
concept FlatOptional = std::same_as<T, std::optional<typename T::value_type>>;
template <typename T>
concept FlatDuration = requires {
  typename T::period;
};

template <typename T>
void PutFlat(std::string& bytes, const T& value) {
  if constexpr (std::integral<T>) {
    const auto number = static_cast<uint64_t>(value);
    bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
  } else if constexpr (FlatDuration<T>) {
    PutFlat(bytes, value.count());
  } else if constexpr (FlatBytes<T>) {
    PutFlat(bytes, value.size());
    bytes.append(reinterpret_cast<const char*>(value.data()), value.size() * sizeof value[0]);
  } else if constexpr (FlatList<T>) {
    PutFlat(bytes, value.size());
    for (const auto& item : value) PutFlat(bytes, item);
  } else if constexpr (FlatOptional<T>) {
    PutFlat(bytes, value.has_value());
    if (value) PutFlat(bytes, *value);
  } else {
    std::apply([&](const auto&... members) { (PutFlat(bytes, members), ...); }, T::Members(value));
  }
}

class FlatReader {
 public:
  explicit FlatReader(std::string_view bytes) : rest_(bytes) {}

  bool IsWhole() const { return !failed_ && rest_.empty(); }

  template <typename T>
  void Get(T& value) {
    if constexpr (std::integral<T>) {
      uint64_t number = 0;
      if (rest_.size() < sizeof number) return Fail();
      Copy(&number, sizeof number);
      value = static_cast<T>(number);
      if (static_cast<uint64_t>(value) != number) Fail();
    } else if constexpr (FlatDuration<T>) {
      typename T::rep count = 0;
      Get(count);
      value = T(count);
    } else if constexpr (FlatBytes<T>) {
      value.resize(GetSize(sizeof value[0]));
      if (!value.empty()) Copy(value.data(), value.size() * sizeof value[0]);
    } else if constexpr (FlatList<T>) {
      value.clear();
      for (size_t left = GetSize(sizeof(uint64_t)); left > 0 && !failed_; --left) {
        Get(value.emplace_back());
      }
    } else if constexpr (FlatOptional<T>) {
      bool has_value = false;
      Get(has_value);
      if (has_value) Get(value.emplace());
    } else {
      std::apply([&](auto&... members) { (Get(members), ...); }, T::Members(value));
    }
  }

 private:
  // After a failure there is nothing left, so all that follows fails as well.
  void Fail() {
    failed_ = true;
    rest_ = {};
  }
  void Copy(void* to, size_t size) {
    memcpy(to, rest_.data(), size);
    rest_.remove_prefix(size);
  }
  // Reads the number of items that take at least `item` bytes each.
  size_t GetSize(size_t item) {
    uint64_t size = 0;
    Get(size);
    if (size <= rest_.size() / item) return size;
    Fail();
    return 0;
  }

  std::string_view rest_;
  bool failed_ = false;
};

template <typename T>
std::string ToFlat(const T& value) {
  std::string bytes;
  PutFlat(bytes, value);
  return bytes;
}

template <typename T>
Result<T> FromFlat(const char* what, std::string_view bytes) {
  T value;
  FlatReader reader(bytes);
  reader.Get(value);
  if (!reader.IsWhole()) return MakeError(std::string("read ") + what, "malformed");
  return value;
}

}  // namespace belljar::core

#endif  // BELLJAR_ENGINE_CORE_FLAT_H_
