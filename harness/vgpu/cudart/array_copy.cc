// Copies to, from and between CUDA arrays.
#include "vgpu/cudart/array.h"

namespace lockstep::vgpu::cudart {

namespace {

Layout LayoutOf(const Array& array) { return {array.image.pitch, array.image.slice}; }

// Where a region begins: x in bytes. It must be within the array.
void* PlaceIn(const Array& array, uint64_t x, uint64_t y, uint64_t z, const Region& region) {
  const auto within = [](uint64_t begin, uint64_t size, uint64_t end) { return begin <= end && size <= end - begin; };
  Require(within(x, region.width, array.RowBytes()) && within(y, region.height, array.image.height) &&
              within(z, region.depth, array.image.depth),
          cudaErrorInvalidValue);
  return reinterpret_cast<void*>(array.image.AddressOf(0, static_cast<uint32_t>(y), static_cast<uint32_t>(z)) + x);
}

// Some bytes from a place on, row after row.
void* PlaceInRows(const Array& array, uint64_t x, uint64_t y, uint64_t bytes) {
  Require(x < array.RowBytes() && y < array.image.height, cudaErrorInvalidValue);
  const uint64_t offset = y * array.RowBytes() + x;
  Require(bytes <= array.image.slice - offset, cudaErrorInvalidValue);
  return reinterpret_cast<void*>(array.image.base + offset);
}

// An array is the device's.
cudaMemcpyKind KindTo(cudaMemcpyKind kind) {
  Require(kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice || kind == cudaMemcpyDefault,
          cudaErrorInvalidMemcpyDirection);
  return kind;
}
cudaMemcpyKind KindFrom(cudaMemcpyKind kind) {
  Require(kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice || kind == cudaMemcpyDefault,
          cudaErrorInvalidMemcpyDirection);
  return kind;
}
cudaMemcpyKind KindBetween(cudaMemcpyKind kind) {
  Require(kind == cudaMemcpyDeviceToDevice || kind == cudaMemcpyDefault, cudaErrorInvalidMemcpyDirection);
  return kind;
}

CopyWork BytesToArray(cudaArray_t to, size_t x, size_t y, const void* from, size_t bytes, cudaMemcpyKind kind) {
  return MakeCopy(PlaceInRows(ArrayOf(to), x, y, bytes), from, bytes, KindTo(kind));
}
CopyWork BytesFromArray(void* to, cudaArray_const_t from, size_t x, size_t y, size_t bytes, cudaMemcpyKind kind) {
  return MakeCopy(to, PlaceInRows(ArrayOf(from), x, y, bytes), bytes, KindFrom(kind));
}

}  // namespace

CopyWork CopyToArray(cudaArray_t to, size_t x, size_t y, const void* from, size_t pitch, size_t width, size_t height,
                     cudaMemcpyKind kind) {
  const Array& array = ArrayOf(to);
  const Region region = {width, height, 1};
  return {PlaceIn(array, x, y, 0, region), LayoutOf(array), from, {pitch, pitch * height}, region, KindTo(kind)};
}

CopyWork CopyFromArray(void* to, size_t pitch, cudaArray_const_t from, size_t x, size_t y, size_t width, size_t height,
                       cudaMemcpyKind kind) {
  const Array& array = ArrayOf(from);
  const Region region = {width, height, 1};
  return {to, {pitch, pitch * height}, PlaceIn(array, x, y, 0, region), LayoutOf(array), region, KindFrom(kind)};
}

CopyWork CopyArray3D(const cudaMemcpy3DParms& parms) {
  const Array* const from = parms.srcArray == nullptr ? nullptr : &ArrayOf(parms.srcArray);
  const Array* const to = parms.dstArray == nullptr ? nullptr : &ArrayOf(parms.dstArray);
  Require((from == nullptr) == (parms.srcPtr.ptr != nullptr) && (to == nullptr) == (parms.dstPtr.ptr != nullptr),
          cudaErrorInvalidValue);
  // The extent and the positions count the array's elements.
  const uint32_t element = (from != nullptr ? from : to)->image.format.Bytes();
  Require(from == nullptr || to == nullptr || to->image.format.Bytes() == element, cudaErrorInvalidValue);
  const Region region = {parms.extent.width * element, parms.extent.height, parms.extent.depth};
  if (parms.kind == cudaMemcpyHostToHost ||
      parms.kind == (to != nullptr ? cudaMemcpyDeviceToHost : cudaMemcpyHostToDevice)) {
    throw ApiError{cudaErrorInvalidValue};
  }
  CopyWork work;
  work.region = region;
  work.of_arrays = true;
  work.kind = from != nullptr && to != nullptr ? KindBetween(parms.kind)
              : to != nullptr                  ? KindTo(parms.kind)
                                               : KindFrom(parms.kind);
  const auto end = [&](const Array* array, const cudaPitchedPtr& pointer, const cudaPos& at, Layout* layout) -> void* {
    if (array != nullptr) {
      *layout = LayoutOf(*array);
      return PlaceIn(*array, at.x * element, at.y, at.z, region);
    }
    *layout = {pointer.pitch, pointer.pitch * pointer.ysize};
    Require(pointer.pitch >= region.width || region.Bytes() == 0, cudaErrorInvalidValue);
    return static_cast<char*>(pointer.ptr) + at.z * layout->slice + at.y * layout->pitch + at.x * element;
  };
  work.from = end(from, parms.srcPtr, parms.srcPos, &work.from_layout);
  work.to = end(to, parms.dstPtr, parms.dstPos, &work.to_layout);
  return work;
}

}  // namespace lockstep::vgpu::cudart

using namespace lockstep::vgpu::cudart;

extern "C" {

cudaError_t cudaMemcpy2DToArray(cudaArray_t to, size_t x, size_t y, const void* from, size_t pitch, size_t width,
                                size_t height, cudaMemcpyKind kind) {
  return Api("cudaMemcpy2DToArray",
             [&](Runtime& r) { CopyNow(r, CopyToArray(to, x, y, from, pitch, width, height, kind)); });
}
LOCKSTEP_PER_THREAD(cudaMemcpy2DToArray, _ptds)

cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, size_t x, size_t y, const void* from, size_t pitch, size_t width,
                                     size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  return Api("cudaMemcpy2DToArrayAsync",
             [&](Runtime& r) { Submit(r, CopyToArray(to, x, y, from, pitch, width, height, kind), stream); });
}
LOCKSTEP_PER_THREAD(cudaMemcpy2DToArrayAsync, _ptsz)

cudaError_t cudaMemcpy2DFromArray(void* to, size_t pitch, cudaArray_const_t from, size_t x, size_t y, size_t width,
                                  size_t height, cudaMemcpyKind kind) {
  return Api("cudaMemcpy2DFromArray",
             [&](Runtime& r) { CopyNow(r, CopyFromArray(to, pitch, from, x, y, width, height, kind)); });
}
LOCKSTEP_PER_THREAD(cudaMemcpy2DFromArray, _ptds)

cudaError_t cudaMemcpy2DFromArrayAsync(void* to, size_t pitch, cudaArray_const_t from, size_t x, size_t y, size_t width,
                                       size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  return Api("cudaMemcpy2DFromArrayAsync",
             [&](Runtime& r) { Submit(r, CopyFromArray(to, pitch, from, x, y, width, height, kind), stream); });
}
LOCKSTEP_PER_THREAD(cudaMemcpy2DFromArrayAsync, _ptsz)

cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t to, size_t to_x, size_t to_y, cudaArray_const_t from, size_t from_x,
                                     size_t from_y, size_t width, size_t height, cudaMemcpyKind kind) {
  return Api("cudaMemcpy2DArrayToArray", [&](Runtime& r) {
    const Array& source = ArrayOf(from);
    const void* const place = PlaceIn(source, from_x, from_y, 0, {width, height, 1});
    CopyWork work = CopyToArray(to, to_x, to_y, place, source.image.pitch, width, height, KindBetween(kind));
    work.from_layout = LayoutOf(source);
    CopyNow(r, work);
  });
}
LOCKSTEP_PER_THREAD(cudaMemcpy2DArrayToArray, _ptds)

cudaError_t cudaMemcpyToArray(cudaArray_t to, size_t x, size_t y, const void* from, size_t bytes, cudaMemcpyKind kind) {
  return Api("cudaMemcpyToArray", [&](Runtime& r) { CopyNow(r, BytesToArray(to, x, y, from, bytes, kind)); });
}
LOCKSTEP_PER_THREAD(cudaMemcpyToArray, _ptds)

cudaError_t cudaMemcpyToArrayAsync(cudaArray_t to, size_t x, size_t y, const void* from, size_t bytes,
                                   cudaMemcpyKind kind, cudaStream_t stream) {
  return Api("cudaMemcpyToArrayAsync",
             [&](Runtime& r) { Submit(r, BytesToArray(to, x, y, from, bytes, kind), stream); });
}
LOCKSTEP_PER_THREAD(cudaMemcpyToArrayAsync, _ptsz)

cudaError_t cudaMemcpyFromArray(void* to, cudaArray_const_t from, size_t x, size_t y, size_t bytes,
                                cudaMemcpyKind kind) {
  return Api("cudaMemcpyFromArray", [&](Runtime& r) { CopyNow(r, BytesFromArray(to, from, x, y, bytes, kind)); });
}
LOCKSTEP_PER_THREAD(cudaMemcpyFromArray, _ptds)

cudaError_t cudaMemcpyFromArrayAsync(void* to, cudaArray_const_t from, size_t x, size_t y, size_t bytes,
                                     cudaMemcpyKind kind, cudaStream_t stream) {
  return Api("cudaMemcpyFromArrayAsync",
             [&](Runtime& r) { Submit(r, BytesFromArray(to, from, x, y, bytes, kind), stream); });
}
LOCKSTEP_PER_THREAD(cudaMemcpyFromArrayAsync, _ptsz)

cudaError_t cudaMemcpyArrayToArray(cudaArray_t to, size_t to_x, size_t to_y, cudaArray_const_t from, size_t from_x,
                                   size_t from_y, size_t bytes, cudaMemcpyKind kind) {
  return Api("cudaMemcpyArrayToArray", [&](Runtime& r) {
    const void* const place = PlaceInRows(ArrayOf(from), from_x, from_y, bytes);
    CopyNow(r, BytesToArray(to, to_x, to_y, place, bytes, KindBetween(kind)));
  });
}
LOCKSTEP_PER_THREAD(cudaMemcpyArrayToArray, _ptds)

}  // extern "C"
