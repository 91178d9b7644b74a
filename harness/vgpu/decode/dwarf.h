// DWARF 2 embedded in PTX (PTX ISA, "Debugging Directives"): sections of .b8 to .b64 whose addresses are labels.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

#include "vgpu/ptx/module.h"

namespace lockstep::vgpu::dwarf {

enum Tag : uint64_t {
  kArrayType = 0x01,
  kClassType = 0x02,
  kEnumeration = 0x04,
  kFormalParameter = 0x05,
  kLexicalBlock = 0x0b,
  kMember = 0x0d,
  kPointerType = 0x0f,
  kReferenceType = 0x10,
  kStructType = 0x13,
  kTypedef = 0x16,
  kUnionType = 0x17,
  kInheritance = 0x1c,
  kInlinedSubroutine = 0x1d,
  kSubrange = 0x21,
  kBaseType = 0x24,
  kConstType = 0x26,
  kSubprogram = 0x2e,
  kVariable = 0x34,
  kVolatileType = 0x35,
  kRvalueReference = 0x42,
};
enum Attribute : uint64_t {
  kLocation = 0x02,
  kName = 0x03,
  kByteSize = 0x0b,
  kLowPc = 0x11,
  kHighPc = 0x12,
  kUpperBound = 0x2f,
  kAbstractOrigin = 0x31,
  kCount = 0x37,
  kMemberLocation = 0x38,
  kEncoding = 0x3e,
  kType = 0x49,
  kLinkageName = 0x2007,
};
enum Operation : uint8_t { kAddr = 0x03, kPlusUconst = 0x23, kRegx = 0x90 };

// A section's bytes, and the symbols at some positions.
struct Bytes {
  std::string data;
  std::unordered_map<size_t, std::string> symbols;
};

// Throws std::out_of_range at the end of the bytes.
class Reader {
 public:
  Reader(const Bytes& bytes, size_t at) : bytes_(bytes), at_(at) {}
  size_t at() const { return at_; }
  bool AtEnd() const { return at_ >= bytes_.data.size(); }
  uint64_t Fixed(size_t width) {
    uint64_t value = 0;
    for (size_t k = 0; k < width; ++k) value |= uint64_t{Byte()} << (8 * k);
    return value;
  }
  uint64_t Uleb() {
    uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      const uint8_t byte = Byte();
      if (shift < 64) value |= uint64_t{byte & 0x7fu} << shift;
      if ((byte & 0x80) == 0) return value;
    }
  }
  std::string String() {
    std::string text;
    while (const uint8_t byte = Byte()) text += static_cast<char>(byte);
    return text;
  }
  void Skip(uint64_t count) {
    if (count > bytes_.data.size() - at_) throw std::out_of_range("DWARF");
    at_ += count;
  }
  // The symbol at a fixed-width value, if there is one.
  std::string Symbol() const {
    const auto found = bytes_.symbols.find(at_);
    return found == bytes_.symbols.end() ? "" : found->second;
  }

 private:
  uint8_t Byte() {
    if (AtEnd()) throw std::out_of_range("DWARF");
    return static_cast<uint8_t>(bytes_.data[at_++]);
  }
  const Bytes& bytes_;
  size_t at_;
};

struct Value {
  uint64_t number = 0;
  std::string text;              // a string's, or a symbol
  size_t block = 0, length = 0;  // a block's position in .debug_info
  bool is_block = false;
};

struct Entry {
  uint64_t tag = 0;
  int depth = 0;  // an entry's children follow it with a larger depth
  std::unordered_map<uint64_t, Value> attributes;
  const Value* Find(uint64_t attribute) const {
    const auto found = attributes.find(attribute);
    return found == attributes.end() ? nullptr : &found->second;
  }
  std::string Text(uint64_t attribute) const {
    const Value* value = Find(attribute);
    return value == nullptr ? "" : value->text;
  }
};

// A module's debug information. Throws std::out_of_range if it is not in nvcc's format.
struct Unit {
  Bytes info, locations;
  std::vector<Entry> entries;
  std::unordered_map<uint64_t, size_t> index;  // by offset in .debug_info

  explicit Unit(const ptx::DebugSections& sections);
  const Entry* At(uint64_t offset) const {
    const auto found = index.find(offset);
    return found == index.end() ? nullptr : &entries[found->second];
  }
};

}  // namespace lockstep::vgpu::dwarf
