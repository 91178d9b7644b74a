// Structs on the wire: one list of fields serves both directions.
//
//   template <class Wire>
//   void Fields(Wire& wire, vgpu::Dim3& dim) {
//     wire(dim.x, dim.y, dim.z);
//   }
//
// A Writer encodes the fields; a Reader decodes them into the object and throws WireError for what is invalid.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "protocol/wire.h"

namespace lockstep::worker {

// The largest enumerator that may arrive; a specialisation for each enumeration on the wire.
template <class Enum>
struct Last;

// A string with its own limit, above which a Reader refuses it. A Writer truncates CutText to the limit.
struct Text {
  std::string& text;
  uint64_t most;
};
struct CutText {
  std::string& text;
  uint64_t most;
};
template <class Item>
struct AtMost {
  std::vector<Item>& items;
  uint32_t most;
};
// Bytes as the last field of a message, which a sender need not copy. Tail: after their length; WholeRest: without it.
struct Tail {
  std::span<const uint8_t> bytes;
};
struct WholeRest {
  std::span<const uint8_t> bytes;
};

class Writer {
 public:
  static constexpr bool kReads = false;
  explicit Writer(Encoder& out) : out_(out) {}
  template <class... Field>
  void operator()(const Field&... fields) {
    (Put(fields), ...);
  }
  // The bytes of a Tail or a WholeRest, to be sent after the encoder's bytes.
  std::span<const uint8_t> rest() const { return rest_; }

 private:
  template <class T>
    requires std::is_integral_v<T> || std::is_enum_v<T>
  void Put(T value) {
    out_.Put(value);
  }
  void Put(double value) { out_.PutDouble(value); }
  void Put(const std::string& text) { out_.PutString(text); }
  void Put(const Text& text) { out_.PutString(text.text); }
  void Put(const CutText& text) { out_.PutString(std::string_view(text.text).substr(0, text.most)); }
  void Put(std::span<const uint8_t> bytes) { out_.PutBytes(bytes); }
  void Put(const std::vector<uint8_t>& bytes) { out_.PutBytes(bytes); }
  void Put(const Tail& tail) {
    out_.PutLengthOf(tail.bytes);
    rest_ = tail.bytes;
  }
  void Put(const WholeRest& rest) { rest_ = rest.bytes; }
  template <class Item>
  void Put(const AtMost<Item>& list) {
    Put(list.items);
  }
  template <class Item>
  void Put(const std::vector<Item>& items) {
    Put(std::span<const Item>(items));
  }
  template <class Item>
  void Put(std::span<const Item> items) {
    out_.Put(static_cast<uint32_t>(items.size()));
    for (const Item& item : items) Put(item);
  }
  template <class T>
  void Put(const std::optional<T>& value) {
    out_.Put(value.has_value());
    if (value) Put(*value);
  }
  template <class T>
    requires std::is_class_v<T>
  void Put(const T& object) {
    Fields(*this, const_cast<T&>(object));  // a Writer changes nothing
  }

  Encoder& out_;
  std::span<const uint8_t> rest_;
};

class Reader {
 public:
  static constexpr bool kReads = true;
  // Spans and string views in the decoded object point into the payload.
  explicit Reader(std::span<const uint8_t> payload) : in_(payload) {}
  template <class... Field>
  void operator()(Field&&... fields) {
    (Get(fields), ...);
  }
  template <class T>
  T Read() {
    T value{};
    Get(value);
    return value;
  }
  void Finish() const { in_.Finish(); }

 private:
  template <class T>
    requires std::is_integral_v<T>
  void Get(T& value) {
    if constexpr (std::is_same_v<T, bool>) {
      value = in_.GetBool();
    } else {
      value = in_.Get<T>();
    }
  }
  template <class T>
    requires std::is_enum_v<T>
  void Get(T& value) {
    const auto number = in_.Get<std::underlying_type_t<T>>();
    if (number > static_cast<std::underlying_type_t<T>>(Last<T>::value)) throw WireError("unknown enumerator");
    value = static_cast<T>(number);
  }
  void Get(double& value) { value = in_.GetDouble(); }
  void Get(std::string& text) { text = in_.GetString(); }
  void Get(Text& text) { text.text = in_.GetString(text.most); }
  void Get(CutText& text) { text.text = in_.GetString(text.most); }
  void Get(std::span<const uint8_t>& bytes) { bytes = in_.GetBytes(); }
  void Get(std::vector<uint8_t>& bytes) {
    const auto view = in_.GetBytes();
    bytes.assign(view.begin(), view.end());
  }
  void Get(Tail& tail) { tail.bytes = in_.GetBytes(); }
  void Get(WholeRest& rest) { rest.bytes = in_.GetRest(); }
  template <class Item>
  void Get(AtMost<Item>& list) {
    Get(list.items);
    if (list.items.size() > list.most) throw WireError("list of " + std::to_string(list.items.size()) + " items");
  }
  template <class Item>
  void Get(std::vector<Item>& items) {
    items.resize(in_.GetCount(LeastBytes<Item>()));
    for (Item& item : items) Get(item);
  }
  template <class T>
  void Get(std::optional<T>& value) {
    value.reset();
    if (in_.GetBool()) Get(value.emplace());
  }
  template <class T>
    requires std::is_class_v<T>
  void Get(T& object) {
    Fields(*this, object);
  }
  // The encoded size of an item whose lists and strings are empty.
  template <class Item>
  static uint64_t LeastBytes() {
    Encoder encoder;
    Writer writer(encoder);
    writer(Item{});
    return encoder.bytes().size();
  }

  Decoder in_;
};

template <class T>
Encoder& Put(Encoder& encoder, const T& object) {
  Writer writer(encoder);
  writer(object);
  return encoder;
}

// Encode and decode a whole payload.
template <class T>
std::vector<uint8_t> Encoded(const T& object) {
  Encoder encoder;
  return Put(encoder, object).Take();
}
template <class T>
T Decoded(std::span<const uint8_t> payload) {
  Reader reader(payload);
  T object = reader.Read<T>();
  reader.Finish();
  return object;
}

}  // namespace lockstep::worker
