// Reading fat binaries: the containers in which nvcc embeds PTX and machine code.
//
// A fat binary is a header {0xBA55ED50, u16 version, u16 header bytes, u64 bytes of entries} and entries, each one
// module of PTX or of machine code for one architecture, plain or compressed. The linker may concatenate several.
// Field offsets are as nvcc writes them. Images come from programs and are hostile: nothing outside the given span is
// read, and no size in an image is trusted.
#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace lockstep::vgpu::cudart {

struct FatbinEntry {
  enum class Kind : uint8_t { kPtx, kMachineCode, kOther };
  enum class Compression : uint8_t { kNone, kZstd, kUnknown };
  Kind kind = Kind::kOther;
  int sm = 0;                          // 80 for compute_80 and sm_80
  bool architecture_specific = false;  // compute_90a: only for this architecture
  bool family_specific = false;        // compute_100f: for all architectures of the family
  Compression compression = Compression::kNone;
  std::span<const uint8_t> payload;  // as stored, in the image
  uint64_t raw_bytes = 0;            // decompressed size as the entry's header claims; 0: not compressed
};

// The entries of all fat binaries in an image, in order. Throws std::runtime_error on a malformed image.
std::vector<FatbinEntry> ReadFatbin(std::span<const uint8_t> image);

// The limit in bytes of one text, or of a program's texts together. Larger ones are refused before decompression.
inline constexpr uint64_t kLargestPtx = uint64_t{256} << 20;
class PtxTooLarge : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// An entry's text, decompressed, without padding NULs. Throws std::runtime_error.
std::string ReadPtx(const FatbinEntry& entry, uint64_t most_bytes = kLargestPtx);

// The PTX text in an image, which is a fat binary or PTX text itself: that of the highest architecture not above
// max_sm (90 for compute capability 9.0). Throws std::runtime_error with a sentence that says what to do.
std::string ExtractPtx(std::span<const uint8_t> image, int max_sm, uint64_t most_bytes = kLargestPtx);

// The PTX of a program of several separately compiled modules (-rdc=true), to be linked: the images that its version 2
// wrapper points to. Images without PTX for this architecture, such as the toolkit's device runtime, are skipped and
// listed by index; linking then fails on functions defined only there. Throws if no image is left.
struct PtxModules {
  std::vector<std::string> texts;
  std::vector<size_t> left_out;
};
PtxModules ExtractPtxModules(std::span<const std::span<const uint8_t>> images, int max_sm,
                             uint64_t most_bytes = kLargestPtx);

// Size in bytes of the fat binary at `header`, of which 16 bytes are read; 0 if it is not one.
uint64_t FatbinBytes(const void* header);

}  // namespace lockstep::vgpu::cudart
