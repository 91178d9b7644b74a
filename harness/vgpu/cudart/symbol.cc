// Variables of device code that host code names.
#include "vgpu/cudart/work.h"

using namespace lockstep::vgpu::cudart;

namespace {

void* PlaceIn(Runtime& r, const void* symbol, uint64_t bytes, uint64_t offset) {
  const auto& variable = r.VariableOf(symbol);
  Require(offset <= variable.bytes && bytes <= variable.bytes - offset, cudaErrorInvalidValue);
  return reinterpret_cast<void*>(variable.address + offset);
}

void CopyTo(Runtime& r, const void* symbol, const void* from, size_t bytes, size_t offset, cudaMemcpyKind kind,
            cudaStream_t stream) {
  Require(kind != cudaMemcpyDeviceToHost && kind != cudaMemcpyHostToHost, cudaErrorInvalidMemcpyDirection);
  Submit(r, MakeCopy(PlaceIn(r, symbol, bytes, offset), from, bytes, kind), stream);
}

void CopyFrom(Runtime& r, void* to, const void* symbol, size_t bytes, size_t offset, cudaMemcpyKind kind,
              cudaStream_t stream) {
  Require(kind != cudaMemcpyHostToDevice && kind != cudaMemcpyHostToHost, cudaErrorInvalidMemcpyDirection);
  Submit(r, MakeCopy(to, PlaceIn(r, symbol, bytes, offset), bytes, kind), stream);
}

}  // namespace

extern "C" {

cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* from, size_t bytes, size_t offset, cudaMemcpyKind kind) {
  return Api("cudaMemcpyToSymbol", [&](Runtime& r) {
    CopyTo(r, symbol, from, bytes, offset, kind, nullptr);
    r.timeline().Synchronize(r.StreamOf(nullptr));
  });
}
LOCKSTEP_PER_THREAD(cudaMemcpyToSymbol, _ptds)

cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* from, size_t bytes, size_t offset,
                                    cudaMemcpyKind kind, cudaStream_t stream) {
  return Api("cudaMemcpyToSymbolAsync", [&](Runtime& r) { CopyTo(r, symbol, from, bytes, offset, kind, stream); });
}
LOCKSTEP_PER_THREAD(cudaMemcpyToSymbolAsync, _ptsz)

cudaError_t cudaMemcpyFromSymbol(void* to, const void* symbol, size_t bytes, size_t offset, cudaMemcpyKind kind) {
  return Api("cudaMemcpyFromSymbol", [&](Runtime& r) {
    CopyFrom(r, to, symbol, bytes, offset, kind, nullptr);
    r.timeline().Synchronize(r.StreamOf(nullptr));
  });
}
LOCKSTEP_PER_THREAD(cudaMemcpyFromSymbol, _ptds)

cudaError_t cudaMemcpyFromSymbolAsync(void* to, const void* symbol, size_t bytes, size_t offset, cudaMemcpyKind kind,
                                      cudaStream_t stream) {
  return Api("cudaMemcpyFromSymbolAsync", [&](Runtime& r) { CopyFrom(r, to, symbol, bytes, offset, kind, stream); });
}
LOCKSTEP_PER_THREAD(cudaMemcpyFromSymbolAsync, _ptsz)

cudaError_t cudaGetSymbolAddress(void** address, const void* symbol) {
  return Api("cudaGetSymbolAddress", [&](Runtime& r) {
    Require(address != nullptr, cudaErrorInvalidValue);
    *address = PlaceIn(r, symbol, 0, 0);
  });
}

cudaError_t cudaGetSymbolSize(size_t* bytes, const void* symbol) {
  return Api("cudaGetSymbolSize", [&](Runtime& r) {
    Require(bytes != nullptr, cudaErrorInvalidValue);
    *bytes = r.VariableOf(symbol).bytes;
  });
}

}  // extern "C"
