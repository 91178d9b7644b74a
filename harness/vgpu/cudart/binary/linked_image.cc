#include "vgpu/cudart/binary/linked_image.h"

#include <cstring>
#include <stdexcept>

namespace lockstep::vgpu::cudart {

namespace {

constexpr char kLinkedMagic[8] = {'\x7f', 'L', 'K', 'S', 'T', 'P', 'T', 'X'};
constexpr uint64_t kLinkedHeaderBytes = sizeof kLinkedMagic + sizeof(uint64_t);

void AppendBytes(std::vector<uint8_t>& image, const void* data, uint64_t bytes) {
  const auto* from = static_cast<const uint8_t*>(data);
  image.insert(image.end(), from, from + bytes);
}

uint64_t LengthAt(const void* address) {
  uint64_t number;
  std::memcpy(&number, address, sizeof number);
  return number;
}

}  // namespace

std::vector<uint8_t> MakeLinkedImage(std::span<const std::string> texts) {
  std::vector<uint8_t> image;
  if (texts.size() == 1) {
    AppendBytes(image, texts[0].c_str(), texts[0].size() + 1);
    return image;
  }
  uint64_t whole = kLinkedHeaderBytes;
  for (const std::string& text : texts) whole += sizeof(uint64_t) + text.size() + 1;
  AppendBytes(image, kLinkedMagic, sizeof kLinkedMagic);
  AppendBytes(image, &whole, sizeof whole);
  for (const std::string& text : texts) {
    const uint64_t bytes = text.size();
    AppendBytes(image, &bytes, sizeof bytes);
    AppendBytes(image, text.c_str(), bytes + 1);
  }
  return image;
}

bool IsLinkedImage(const void* image) { return std::memcmp(image, kLinkedMagic, sizeof kLinkedMagic) == 0; }

uint64_t LinkedImageBytes(const void* image) {
  return LengthAt(static_cast<const uint8_t*>(image) + sizeof kLinkedMagic);
}

std::vector<std::string> TextsOfLinkedImage(std::span<const uint8_t> image) {
  std::vector<std::string> texts;
  const std::runtime_error malformed("a linked image is cut off or was changed: link the program again");
  if (image.size() < kLinkedHeaderBytes || LinkedImageBytes(image.data()) != image.size()) throw malformed;
  std::span<const uint8_t> rest = image.subspan(kLinkedHeaderBytes);
  while (!rest.empty()) {
    if (rest.size() < sizeof(uint64_t)) throw malformed;
    const uint64_t bytes = LengthAt(rest.data());
    rest = rest.subspan(sizeof(uint64_t));
    if (bytes >= rest.size()) throw malformed;
    texts.emplace_back(rest.begin(), rest.begin() + static_cast<ptrdiff_t>(bytes));
    rest = rest.subspan(bytes + 1);
  }
  if (texts.empty()) throw malformed;
  return texts;
}

}  // namespace lockstep::vgpu::cudart
