// What linking gives: several modules of PTX in one image, to be linked once they are loaded. NVIDIA's linkers give
// machine code here, which callers pass on to the loader without looking into it.
//
// The image is a header {8 bytes of magic, u64 bytes of the whole image} and, for each text, {u64 bytes, text, NUL}.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::vgpu::cudart {

// At least one text. One alone is its own image, with the NUL that ends it.
std::vector<uint8_t> MakeLinkedImage(std::span<const std::string> texts);

// Whether the 8 bytes at `image` are the mark of an image that MakeLinkedImage made of several texts.
bool IsLinkedImage(const void* image);
// Its size in bytes. 16 bytes are read.
uint64_t LinkedImageBytes(const void* image);
// Throws std::runtime_error on a malformed image.
std::vector<std::string> TextsOfLinkedImage(std::span<const uint8_t> image);

}  // namespace lockstep::vgpu::cudart
