#include "vgpu/cudart/binary/fatbin.h"

#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string_view>

namespace lockstep::vgpu::cudart {
namespace {

constexpr uint32_t kMagic = 0xBA55ED50;
constexpr size_t kHeaderBytes = 16;
constexpr size_t kEntryHeaderBytes = 64;
constexpr uint16_t kKindPtx = 1, kKindMachineCode = 2;
constexpr uint64_t kFlagZstd = 0x8000, kFlagLz4 = 0x2000;
constexpr uint64_t kFlagArchitectureSpecific = 0x100000, kFlagFamilySpecific = 0x200000;
constexpr std::string_view kRemedy =
    "; compile with -gencode arch=compute_80,code=compute_80, which puts PTX into the program";

template <typename T>
T Field(std::span<const uint8_t> bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

[[noreturn]] void FailTooLarge(uint64_t most_bytes) {
  throw PtxTooLarge("the program's PTX is longer than the " + std::to_string(most_bytes) +
                    " bytes that are left for it");
}

[[noreturn]] void FailMalformed(const char* what) {
  throw std::runtime_error(std::string("malformed fat binary: ") + what);
}

bool StartsWith(std::span<const uint8_t> image, std::string_view magic) {
  return image.size() >= magic.size() && std::memcmp(image.data(), magic.data(), magic.size()) == 0;
}

bool IsFatbin(std::span<const uint8_t> image) { return image.size() >= 4 && Field<uint32_t>(image, 0) == kMagic; }

// The entry at the front of `rest`; *bytes gets its size in the container.
FatbinEntry ReadEntry(std::span<const uint8_t> rest, size_t* bytes) {
  if (rest.size() < kEntryHeaderBytes) FailMalformed("an entry's header is cut off");
  const auto header_bytes = Field<uint32_t>(rest, 4);
  const auto payload_bytes = Field<uint64_t>(rest, 8);
  if (header_bytes < kEntryHeaderBytes || header_bytes > rest.size()) FailMalformed("an entry's header size is wrong");
  if (payload_bytes > rest.size() - header_bytes) FailMalformed("an entry is cut off");
  *bytes = header_bytes + payload_bytes;

  FatbinEntry entry;
  const auto kind = Field<uint16_t>(rest, 0);
  entry.kind = kind == kKindPtx           ? FatbinEntry::Kind::kPtx
               : kind == kKindMachineCode ? FatbinEntry::Kind::kMachineCode
                                          : FatbinEntry::Kind::kOther;
  entry.sm = static_cast<int>(std::min<uint32_t>(Field<uint32_t>(rest, 28), INT32_MAX));
  const auto flags = Field<uint64_t>(rest, 40);
  entry.architecture_specific = (flags & kFlagArchitectureSpecific) != 0;
  entry.family_specific = (flags & kFlagFamilySpecific) != 0;
  const auto compressed_bytes = Field<uint32_t>(rest, 16);
  entry.payload = rest.subspan(header_bytes, payload_bytes);
  if (compressed_bytes != 0) {
    if (compressed_bytes > payload_bytes) FailMalformed("a compressed size is wrong");
    entry.payload = entry.payload.first(compressed_bytes);
    entry.raw_bytes = Field<uint64_t>(rest, 56);
    entry.compression = (flags & kFlagZstd) != 0 ? FatbinEntry::Compression::kZstd : FatbinEntry::Compression::kUnknown;
  } else if ((flags & (kFlagZstd | kFlagLz4)) != 0) {
    entry.compression = FatbinEntry::Compression::kUnknown;
  }
  return entry;
}

bool Runs(const FatbinEntry& entry, int max_sm) {
  if (entry.architecture_specific) return entry.sm == max_sm;
  if (entry.family_specific) return entry.sm <= max_sm && entry.sm / 10 == max_sm / 10;
  return entry.sm <= max_sm;
}

std::string Text(std::span<const uint8_t> bytes) {
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  while (text.ends_with('\0')) text.remove_suffix(1);
  return std::string(text);
}

std::string ArchitectureName(const FatbinEntry& entry) {
  return "compute_" + std::to_string(entry.sm) + (entry.architecture_specific ? "a" : entry.family_specific ? "f" : "");
}

// The entry to run; null if there is none, with the reason in *reason.
const FatbinEntry* BestPtx(const std::vector<FatbinEntry>& entries, int max_sm, std::string* reason) {
  const FatbinEntry* best = nullptr;
  bool any_machine_code = false;
  std::string others;
  for (const FatbinEntry& entry : entries) {
    any_machine_code |= entry.kind == FatbinEntry::Kind::kMachineCode;
    if (entry.kind != FatbinEntry::Kind::kPtx) continue;
    if (!Runs(entry, max_sm)) {
      if (others.size() < 200) others += (others.empty() ? "" : ", ") + ArchitectureName(entry);
    } else if (best == nullptr || entry.sm > best->sm) {
      best = &entry;
    }
  }
  if (best != nullptr) return best;
  if (!others.empty()) {
    *reason = "the program holds PTX for " + others + ", which a device of compute capability " +
              std::to_string(max_sm / 10) + "." + std::to_string(max_sm % 10) + " does not run" + std::string(kRemedy);
  } else if (any_machine_code) {
    *reason = "the program holds machine code but no PTX" + std::string(kRemedy);
  } else {
    *reason = "the program holds no device code";
  }
  return nullptr;
}

// Finds the PTX to run in a fat binary or PTX text: *text gets it; or returns false, with the reason in *reason.
bool FindPtx(std::span<const uint8_t> image, int max_sm, uint64_t most_bytes, std::string* text, std::string* reason) {
  if (!IsFatbin(image)) {
    if (StartsWith(image,
                   "\x7f"
                   "ELF")) {
      *reason = "the image is machine code, not PTX" + std::string(kRemedy);
      return false;
    }
    if (image.size() > most_bytes) FailTooLarge(most_bytes);
    *text = Text(image);
    if (text->empty()) *reason = "the image is empty";
    return !text->empty();
  }
  const std::vector<FatbinEntry> entries = ReadFatbin(image);
  const FatbinEntry* best = BestPtx(entries, max_sm, reason);
  if (best == nullptr) return false;
  *text = ReadPtx(*best, most_bytes);
  return true;
}

}  // namespace

std::vector<FatbinEntry> ReadFatbin(std::span<const uint8_t> image) {
  std::vector<FatbinEntry> entries;
  size_t at = 0;
  while (image.size() - at >= kHeaderBytes) {
    const std::span<const uint8_t> rest = image.subspan(at);
    if (at > 0 && Field<uint64_t>(rest, 0) == 0) {
      at += sizeof(uint64_t);  // the linker aligns one container after another
      continue;
    }
    if (!IsFatbin(rest)) FailMalformed("no container where one is expected");
    const auto header_bytes = Field<uint16_t>(rest, 6);
    const auto body_bytes = Field<uint64_t>(rest, 8);
    if (header_bytes < kHeaderBytes || header_bytes > rest.size()) FailMalformed("the header size is wrong");
    if (body_bytes > rest.size() - header_bytes) FailMalformed("the container is cut off");
    std::span<const uint8_t> body = rest.subspan(header_bytes, body_bytes);
    while (!body.empty()) {
      size_t bytes = 0;
      entries.push_back(ReadEntry(body, &bytes));
      body = body.subspan(bytes);
    }
    at += header_bytes + body_bytes;
  }
  if (at == 0) FailMalformed("the header is cut off");
  return entries;
}

std::string ReadPtx(const FatbinEntry& entry, uint64_t most_bytes) {
  if (entry.payload.size() > most_bytes) FailTooLarge(most_bytes);
  switch (entry.compression) {
    case FatbinEntry::Compression::kNone:
      return Text(entry.payload);
    case FatbinEntry::Compression::kUnknown:
      throw std::runtime_error(
          "the program's PTX is compressed in a way that is not supported; compile with nvcc's --no-compress");
    case FatbinEntry::Compression::kZstd:
      break;
  }
  if (entry.raw_bytes > most_bytes) FailTooLarge(most_bytes);
  std::string text(entry.raw_bytes, '\0');
  const size_t written = ZSTD_decompress(text.data(), text.size(), entry.payload.data(), entry.payload.size());
  if (ZSTD_isError(written)) FailMalformed(ZSTD_getErrorName(written));
  return Text({reinterpret_cast<const uint8_t*>(text.data()), written});
}

std::string ExtractPtx(std::span<const uint8_t> image, int max_sm, uint64_t most_bytes) {
  std::string text, reason;
  if (!FindPtx(image, max_sm, most_bytes, &text, &reason)) throw std::runtime_error(reason);
  return text;
}

PtxModules ExtractPtxModules(std::span<const std::span<const uint8_t>> images, int max_sm, uint64_t most_bytes) {
  PtxModules modules;
  std::string first_reason;
  for (size_t k = 0; k < images.size(); ++k) {
    std::string text, reason;
    if (FindPtx(images[k], max_sm, most_bytes, &text, &reason)) {
      most_bytes -= text.size();
      modules.texts.push_back(std::move(text));
    } else {
      modules.left_out.push_back(k);
      if (first_reason.empty()) first_reason = reason;
    }
  }
  if (modules.texts.empty()) {
    throw std::runtime_error(first_reason.empty() ? "the program holds no device code" : first_reason);
  }
  return modules;
}

uint64_t FatbinBytes(const void* header) {
  const std::span<const uint8_t> bytes(static_cast<const uint8_t*>(header), kHeaderBytes);
  if (!IsFatbin(bytes)) return 0;
  const uint64_t header_bytes = Field<uint16_t>(bytes, 6);
  const auto body_bytes = Field<uint64_t>(bytes, 8);
  return body_bytes > UINT64_MAX - header_bytes ? 0 : header_bytes + body_bytes;
}

}  // namespace lockstep::vgpu::cudart
