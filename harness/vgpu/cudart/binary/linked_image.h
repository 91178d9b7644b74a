// The result of linking: several modules of PTX in one image, which are linked when loaded. NVIDIA's linkers return
// machine code instead; programs don't look inside, but pass the image on to the loader.
//
// The image is a header {8 bytes of magic, u64 bytes of the whole image} and, for each text, {u64 bytes, text, NUL}.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace lockstep::vgpu::cudart {

// `texts`: at least one. The image of a single text is the text with a terminating NUL.
std::vector<uint8_t> MakeLinkedImage(std::span<const std::string> texts);

// Whether the 8 bytes at `image` are the magic of an image made by MakeLinkedImage.
bool IsLinkedImage(const void* image);
// Its size in bytes. 16 bytes are read.
uint64_t LinkedImageBytes(const void* image);
// Throws std::runtime_error on a malformed image.
std::vector<std::string> TextsOfLinkedImage(std::span<const uint8_t> image);

}  // namespace lockstep::vgpu::cudart
