#include "vgpu/decode/kernel_printf.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <utility>

namespace lockstep::vgpu {
namespace {

constexpr int kMaxField = 4096;          // width or precision: a hostile format could ask for gigabytes
constexpr size_t kMaxString = 64 << 10;  // per %s
constexpr int kMaxArguments = 32;        // as on the hardware

// Reads the arguments in order.
class Arguments {
 public:
  Arguments(uint64_t address, const ReadMemory& read) : address_(address), read_(read) {}

  template <typename T>
  T Next() {
    T value{};
    if (++count_ > kMaxArguments) return value;
    address_ = (address_ + sizeof(T) - 1) / sizeof(T) * sizeof(T);
    if (!read_(address_, &value, sizeof value)) return T{};
    address_ += sizeof(T);
    return value;
  }

  std::string NextString(size_t limit) {
    const uint64_t address = Next<uint64_t>();
    if (address == 0) return "(null)";
    std::string text = ReadString(read_, address, limit);
    bytes_ += text.size();
    return text;
  }

  uint64_t bytes() const { return bytes_; }  // bytes of strings read so far
  int taken() const { return std::min(count_, kMaxArguments); }

 private:
  uint64_t address_;
  const ReadMemory& read_;
  int count_ = 0;
  uint64_t bytes_ = 0;
};

template <typename T>
std::string Print(const std::string& specification, T value) {
  char buffer[2 * kMaxField + 512];
  const int n = std::snprintf(buffer, sizeof buffer, specification.c_str(), value);
  return n <= 0 ? std::string() : std::string(buffer, std::min<size_t>(static_cast<size_t>(n), sizeof buffer - 1));
}

// Parses a width (digits or *) or a precision (digits only).
std::string Field(std::string_view format, size_t& at, Arguments& arguments, bool is_width) {
  int value = 0;
  bool given = false;
  if (is_width && at < format.size() && format[at] == '*') {
    ++at;
    value = std::clamp(arguments.Next<int32_t>(), -kMaxField, kMaxField);
    given = true;  // a negative one is left-justified
  }
  while (at < format.size() && format[at] >= '0' && format[at] <= '9') {
    value = std::min(value * 10 + (format[at++] - '0'), kMaxField);
    given = true;
  }
  if (is_width) return given ? std::to_string(value) : std::string();
  return "." + (given ? std::to_string(value) : std::string("0"));
}

std::string Convert(std::string_view format, size_t& at, Arguments& arguments) {
  const size_t start = at - 1;
  std::string specification = "%";
  while (at < format.size() && std::string_view("-+ #0").find(format[at]) != std::string_view::npos &&
         specification.size() < 8) {
    specification += format[at++];
  }
  specification += Field(format, at, arguments, true);
  if (at < format.size() && format[at] == '.') {
    // Device printf does not support a precision from an argument: an H200 prints %.*f unchanged and takes no argument.
    if (++at < format.size() && format[at] == '*') return std::string(format.substr(start, at - start));
    specification += Field(format, at, arguments, false);
  }
  // L, j, z and t are unknown to device printf, as seen on an H100: printed as they are, without an argument.
  std::string length;
  while (at < format.size() && (format[at] == 'h' || format[at] == 'l') && length.size() < 2) length += format[at++];
  if (at >= format.size()) return std::string(format.substr(start));
  const char conversion = format[at++];
  const bool wide = length == "l" || length == "ll";
  switch (conversion) {
    case 'd':
    case 'i': {
      const int64_t value = wide             ? arguments.Next<int64_t>()
                            : length == "hh" ? static_cast<int8_t>(arguments.Next<int32_t>())
                            : length == "h"  ? static_cast<int16_t>(arguments.Next<int32_t>())
                                             : arguments.Next<int32_t>();
      return Print(specification + "lld", static_cast<long long>(value));
    }
    case 'u':
    case 'o':
    case 'x':
    case 'X': {
      const uint64_t value = wide             ? arguments.Next<uint64_t>()
                             : length == "hh" ? static_cast<uint8_t>(arguments.Next<uint32_t>())
                             : length == "h"  ? static_cast<uint16_t>(arguments.Next<uint32_t>())
                                              : arguments.Next<uint32_t>();
      return Print(specification + "ll" + conversion, static_cast<unsigned long long>(value));
    }
    case 'c':
      return Print(specification + "c", static_cast<int>(static_cast<unsigned char>(arguments.Next<int32_t>())));
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
    case 'a':
    case 'A':
      return Print(specification + conversion, arguments.Next<double>());
    case 'p':
      return Print(specification + "p", reinterpret_cast<void*>(arguments.Next<uint64_t>()));
    case 's': {
      std::string text = arguments.NextString(kMaxString);
      if (specification == "%") return text;
      return Print(specification + "s", text.c_str());
    }
    case '%':
      return specification == "%" ? "%" : std::string(format.substr(start, at - start));
    default:
      return std::string(format.substr(start, at - start));  // unchanged
  }
}

}  // namespace

std::string ReadString(const ReadMemory& read, uint64_t address, size_t limit) {
  constexpr uint64_t kPiece = 64;
  std::string text;
  while (text.size() < limit) {
    // Up to the next multiple of kPiece; byte by byte if the readable memory ends within it.
    char piece[kPiece];
    const uint64_t at = address + text.size();
    uint64_t bytes = std::min<uint64_t>(kPiece - at % kPiece, limit - text.size());
    if (!read(at, piece, bytes)) bytes = 1;
    if (bytes == 1 && !read(at, piece, 1)) break;
    const size_t length = strnlen(piece, bytes);
    text.append(piece, length);
    if (length < bytes) break;
  }
  return text;
}

KernelPrintf FormatKernelPrintf(const std::string& format, uint64_t address, const ReadMemory& read) {
  Arguments arguments(address, read);
  std::string text;
  size_t at = 0;
  while (at < format.size()) {
    if (format[at] != '%') {
      text += format[at++];
      continue;
    }
    ++at;
    text += Convert(format, at, arguments);
  }
  const uint64_t bytes = format.size() + arguments.bytes() + text.size();
  return {std::move(text), arguments.taken(), bytes};
}

}  // namespace lockstep::vgpu
