// Copies and fills, for every API function that makes them.
#pragma once

#include "vgpu/cudart/runtime.h"

namespace lockstep::vgpu::cudart {

// A region of `height` rows of `width` bytes, rows `pitch` bytes apart; `depth` slices of `slice` bytes.
struct Region {
  uint64_t width = 0, height = 1, depth = 1;
  uint64_t Bytes() const { return width * height * depth; }
};
struct Layout {
  uint64_t pitch = 0, slice = 0;
};

// Throw ApiError. The stream's modelled clock moves on; the host waits where the call is a synchronous one.
void Copy(Runtime& r, void* to, const void* from, uint64_t bytes, cudaMemcpyKind kind, cudaStream_t stream);
void CopyRegion(Runtime& r, void* to, Layout to_layout, const void* from, Layout from_layout, Region region,
                cudaMemcpyKind kind, cudaStream_t stream);
void Fill(Runtime& r, void* to, Layout layout, int value, Region region, cudaStream_t stream);

}  // namespace lockstep::vgpu::cudart
