#include "vgpu/cudart/binary/fatbin.h"

#include <gtest/gtest.h>
#include <zstd.h>

#include <cstring>
#include <stdexcept>

namespace lockstep::vgpu::cudart {
namespace fatbin_test {

using Bytes = std::vector<uint8_t>;

constexpr uint64_t kPlain = 0x11, kZstd = 0x8011, kSpecific = 0x100000, kFamily = 0x200000;

template <typename T>
void Put(Bytes& bytes, size_t offset, T value) {
  std::memcpy(bytes.data() + offset, &value, sizeof value);
}

// One entry in nvcc's layout; the payload padded to a multiple of 8.
Bytes Entry(uint16_t kind, uint32_t sm, const std::string& text, uint64_t flags, uint32_t header_bytes = 80) {
  std::string payload = text;
  if (flags & kZstd & ~kPlain) {
    payload.resize(ZSTD_compressBound(text.size()));
    payload.resize(ZSTD_compress(payload.data(), payload.size(), text.data(), text.size(), 3));
  }
  const auto compressed = static_cast<uint32_t>(flags & kZstd & ~kPlain ? payload.size() : 0);
  payload.resize((payload.size() + 7) / 8 * 8);
  Bytes entry(header_bytes + payload.size());
  Put<uint16_t>(entry, 0, kind);
  Put<uint32_t>(entry, 4, header_bytes);
  Put<uint64_t>(entry, 8, payload.size());
  Put<uint32_t>(entry, 16, compressed);
  Put<uint32_t>(entry, 28, sm);
  Put<uint64_t>(entry, 40, flags);
  Put<uint64_t>(entry, 56, compressed != 0 ? text.size() : 0);
  std::memcpy(entry.data() + header_bytes, payload.data(), payload.size());
  return entry;
}

Bytes Container(const std::vector<Bytes>& entries) {
  Bytes bytes(16);
  for (const Bytes& entry : entries) bytes.insert(bytes.end(), entry.begin(), entry.end());
  Put<uint32_t>(bytes, 0, 0xBA55ED50);
  Put<uint16_t>(bytes, 4, 1);
  Put<uint16_t>(bytes, 6, 16);
  Put<uint64_t>(bytes, 8, bytes.size() - 16);
  return bytes;
}

Bytes PtxEntry(uint32_t sm, const std::string& text, uint64_t flags = kPlain) { return Entry(1, sm, text, flags); }
Bytes MachineCode(uint32_t sm) {
  return Entry(2, sm,
               "\x7f"
               "ELF",
               kPlain, 64);
}

std::string ErrorOf(const Bytes& image, int max_sm = 90) {
  try {
    ExtractPtx(image, max_sm);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

// What nvcc 13.0 -fatbin -gencode arch=compute_80,code=compute_80 makes of
//   __global__ void k(int* a) { a[threadIdx.x] = 3; }
constexpr uint8_t kFromNvcc[] = {
    0x50, 0xed, 0x55, 0xba, 0x01, 0x00, 0x10, 0x00, 0x38, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x01,
    0x01, 0x50, 0x00, 0x00, 0x00, 0xe8, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xe6, 0x00, 0x00, 0x00, 0x40, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x09, 0x00, 0x50, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x11,
    0x80, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x56, 0x01, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x48, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x28, 0xb5, 0x2f, 0xfd, 0x60, 0x56, 0x00, 0xe5, 0x06, 0x00, 0xf2, 0xcc, 0x29, 0x22, 0x30, 0x6b, 0xac, 0x03,
    0xd8, 0xb6, 0x99, 0x11, 0x42, 0x99, 0x02, 0x17, 0xe8, 0xc4, 0xb1, 0x05, 0xed, 0x41, 0x17, 0x56, 0x20, 0xae, 0x0a,
    0x5f, 0x92, 0x2d, 0x05, 0x1d, 0x87, 0x16, 0x06, 0x2a, 0x1c, 0xc6, 0x88, 0xff, 0xe1, 0x6f, 0x13, 0xf6, 0x9b, 0x62,
    0x2c, 0x54, 0xad, 0x29, 0xdf, 0x96, 0x26, 0xb5, 0x98, 0x5c, 0xe6, 0xf7, 0xc6, 0xd2, 0x62, 0xc8, 0x51, 0x61, 0x1b,
    0xc8, 0x79, 0x5b, 0x58, 0x8e, 0xf3, 0xd0, 0x94, 0x40, 0x1b, 0x3d, 0xce, 0x5b, 0x52, 0xcd, 0x5b, 0x9e, 0x86, 0xd9,
    0x67, 0xee, 0x9b, 0xd1, 0xc1, 0x1b, 0x63, 0xa1, 0x29, 0xe1, 0x3e, 0xb8, 0xf9, 0xdf, 0x14, 0x02, 0x09, 0xee, 0x43,
    0x99, 0xd2, 0x14, 0x2b, 0xd1, 0x87, 0xaa, 0xb5, 0xac, 0x32, 0xb0, 0xf7, 0x0e, 0x0f, 0x38, 0xe2, 0x1c, 0x53, 0xa0,
    0x55, 0xe7, 0xf5, 0x4b, 0xd8, 0x03, 0xc4, 0x02, 0x84, 0xc4, 0xc0, 0x29, 0x43, 0xcf, 0x06, 0x5c, 0x85, 0xcd, 0x12,
    0x65, 0x64, 0x8a, 0xc2, 0x86, 0x28, 0x9d, 0x94, 0xb0, 0x99, 0xdf, 0x1e, 0x19, 0x70, 0x8e, 0xd4, 0x09, 0x99, 0x7e,
    0x73, 0x8f, 0x2c, 0x81, 0x36, 0x9e, 0x28, 0x1b, 0x46, 0xfb, 0x14, 0x20, 0x40, 0x02, 0x23, 0x40, 0xf9, 0xcf, 0x10,
    0x54, 0x20, 0x77, 0x0b, 0x9e, 0x73, 0xc3, 0x31, 0x97, 0x1d, 0x8f, 0x38, 0x3c, 0xdc, 0x9e, 0x56, 0xa5, 0x6d, 0x8a,
    0xc0, 0x1d, 0xc4, 0x7a, 0x48, 0x43, 0x12, 0x40, 0xf2, 0xa8, 0x49, 0x12, 0xe5, 0x15, 0xb9, 0xf3, 0x9b, 0x84, 0x51,
    0xc8, 0xb8, 0x10, 0x00, 0x00};

TEST(FatbinTest, ReadsWhatNvccWrites) {
  EXPECT_EQ(FatbinBytes(kFromNvcc), sizeof kFromNvcc);
  const std::string text = ExtractPtx(kFromNvcc, 90);
  EXPECT_NE(text.find(".target sm_80"), std::string::npos);
  EXPECT_NE(text.find(".visible .entry _Z1kPi("), std::string::npos);
  EXPECT_EQ(text.find('\0'), std::string::npos);
  const std::vector<FatbinEntry> entries = ReadFatbin(kFromNvcc);
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries[0].compression, FatbinEntry::Compression::kZstd);
  EXPECT_EQ(entries[0].sm, 80);
}

TEST(FatbinTest, ReadsPlainAndCompressedPtx) {
  const std::string text(10000, 'x');
  EXPECT_EQ(ExtractPtx(Container({PtxEntry(80, text)}), 90), text);
  const Bytes compressed = Container({PtxEntry(80, text, kZstd)});
  EXPECT_LT(compressed.size(), 1000u);
  EXPECT_EQ(ExtractPtx(compressed, 90), text);
}

TEST(FatbinTest, TakesPtxTextAsItIs) {
  const std::string text = ".version 9.0\n";
  Bytes image(text.begin(), text.end());
  image.push_back(0);
  EXPECT_EQ(ExtractPtx(image, 90), text);
}

TEST(FatbinTest, PicksTheHighestArchitectureNotAboveTheDevice) {
  const Bytes image = Container({PtxEntry(75, "a"), PtxEntry(86, "b"), MachineCode(90), PtxEntry(80, "c"),
                                 PtxEntry(120, "d"), Entry(7, 80, "other", kPlain)});
  EXPECT_EQ(ExtractPtx(image, 90), "b");
  EXPECT_EQ(ExtractPtx(image, 86), "b");
  EXPECT_EQ(ExtractPtx(image, 80), "c");
  EXPECT_EQ(ExtractPtx(image, 120), "d");
}

TEST(FatbinTest, KeepsSpecificArchitecturesToTheirDevices) {
  const Bytes image = Container(
      {PtxEntry(80, "plain"), PtxEntry(90, "90a", kPlain | kSpecific), PtxEntry(100, "100f", kPlain | kFamily)});
  EXPECT_EQ(ExtractPtx(image, 90), "90a");
  EXPECT_EQ(ExtractPtx(image, 89), "plain");
  EXPECT_EQ(ExtractPtx(image, 103), "100f");
  EXPECT_EQ(ExtractPtx(image, 120), "plain");
}

TEST(FatbinTest, ReadsSeveralContainersAfterOneAnother) {
  Bytes image = Container({PtxEntry(75, "a")});
  const Bytes second = Container({PtxEntry(80, "b")});
  image.resize(image.size() + 8);  // the linker's padding
  image.insert(image.end(), second.begin(), second.end());
  EXPECT_EQ(ReadFatbin(image).size(), 2u);
  EXPECT_EQ(ExtractPtx(image, 90), "b");
}

TEST(FatbinTest, SaysWhatToDoWithoutPtx) {
  EXPECT_EQ(ErrorOf(Container({MachineCode(80)})),
            "the program holds machine code but no PTX; compile with -gencode arch=compute_80,code=compute_80, which "
            "puts PTX into the program");
  EXPECT_EQ(ErrorOf(Container({MachineCode(80), PtxEntry(120, "x"), PtxEntry(100, "x", kPlain | kFamily)})),
            "the program holds PTX for compute_120, compute_100f, which a device of compute capability 9.0 does not "
            "run; compile with -gencode arch=compute_80,code=compute_80, which puts PTX into the program");
  EXPECT_EQ(ErrorOf(Container({})), "the program holds no device code");
  EXPECT_EQ(ErrorOf({}), "the image is empty");
  EXPECT_EQ(ErrorOf({0x7f, 'E', 'L', 'F', 2, 1, 1}),
            "the image is machine code, not PTX; compile with -gencode arch=compute_80,code=compute_80, which puts PTX "
            "into the program");
}

TEST(FatbinTest, CollectsTheModulesOfSeparateCompilation) {
  const Bytes first = Container({PtxEntry(80, "a"), PtxEntry(90, "A")});
  const Bytes library = Container({MachineCode(90), PtxEntry(121, "library")});
  const Bytes second = Container({PtxEntry(80, "b", kZstd)});
  const std::vector<std::span<const uint8_t>> images = {first, library, second};
  const PtxModules modules = ExtractPtxModules(images, 90);
  EXPECT_EQ(modules.texts, (std::vector<std::string>{"A", "b"}));
  EXPECT_EQ(modules.left_out, std::vector<size_t>{1});
  const std::vector<std::span<const uint8_t>> only_library = {library};
  EXPECT_THROW(ExtractPtxModules(only_library, 90), std::runtime_error);
  EXPECT_THROW(ExtractPtxModules({}, 90), std::runtime_error);
}

TEST(FatbinTest, RefusesSizesThatLie) {
  const Bytes good = Container({PtxEntry(80, std::string(1000, 'x'), kZstd)});
  const auto with = [&](size_t offset, auto value) {
    Bytes image = good;
    Put(image, offset, value);
    return ErrorOf(image);
  };
  EXPECT_EQ(with(6, uint16_t{8}), "malformed fat binary: the header size is wrong");
  EXPECT_EQ(with(6, uint16_t{0xffff}), "malformed fat binary: the header size is wrong");
  EXPECT_EQ(with(8, UINT64_MAX), "malformed fat binary: the container is cut off");
  EXPECT_EQ(with(16 + 4, uint32_t{0}), "malformed fat binary: an entry's header size is wrong");
  EXPECT_EQ(with(16 + 4, UINT32_MAX), "malformed fat binary: an entry's header size is wrong");
  EXPECT_EQ(with(16 + 8, UINT64_MAX), "malformed fat binary: an entry is cut off");
  EXPECT_EQ(with(16 + 16, UINT32_MAX), "malformed fat binary: a compressed size is wrong");
  EXPECT_EQ(with(16 + 56, UINT64_MAX), "the program's PTX is longer than the 268435456 bytes that are left for it");
  EXPECT_NE(with(16 + 56, uint64_t{10}), "");  // decompresses to more than the header says
  EXPECT_EQ(with(16 + 40, uint64_t{0x2011}),
            "the program's PTX is compressed in a way that is not supported; compile with nvcc's --no-compress");
  EXPECT_NE(with(16 + 80, uint32_t{0}), "");  // no zstd frame
}

TEST(FatbinTest, SurvivesCutImages) {
  const Bytes good = Container({MachineCode(80), PtxEntry(80, std::string(50, 'x'), kZstd)});
  for (size_t length = 4; length < good.size(); ++length) {
    // A heap block of just this size, so that the sanitizer sees a read beyond it.
    EXPECT_NE(ErrorOf(Bytes(good.begin(), good.begin() + static_cast<ptrdiff_t>(length))), "") << length;
  }
  EXPECT_EQ(ErrorOf(good), "");
}

TEST(FatbinTest, FindsAContainersSize) {
  const Bytes image = Container({PtxEntry(80, "abc")});
  EXPECT_EQ(FatbinBytes(image.data()), image.size());
  Bytes huge = image;
  Put(huge, 8, UINT64_MAX);
  EXPECT_EQ(FatbinBytes(huge.data()), 0u);
  const char text[] = ".version 9.0\n.target sm_80";
  EXPECT_EQ(FatbinBytes(text), 0u);
}

}  // namespace fatbin_test
}  // namespace lockstep::vgpu::cudart
