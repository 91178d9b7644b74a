// Device variables that host code accesses by name.
#include "vgpu/cudart/graph.h"

using namespace lockstep::vgpu::cudart;

// An asynchronous copy's direction is checked before its range.
static void CopyLater(Runtime& r, SymbolIs role, const void* symbol, const void* other, size_t bytes, size_t offset,
                      cudaMemcpyKind kind, cudaStream_t stream) {
  if (bytes != 0) {
    r.RequireContext();
    r.VariableOf(symbol);
    CheckSymbolKind(role, kind);
  }
  Submit(r, MakeSymbolCopy(r, role, symbol, other, bytes, offset, kind), stream);
}

extern "C" {

cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* from, size_t bytes, size_t offset, cudaMemcpyKind kind) {
  return Api("cudaMemcpyToSymbol",
             [&](Runtime& r) { CopyNow(r, MakeSymbolCopy(r, SymbolIs::kTarget, symbol, from, bytes, offset, kind)); });
}
LOCKSTEP_PER_THREAD(cudaMemcpyToSymbol, _ptds)

cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* from, size_t bytes, size_t offset,
                                    cudaMemcpyKind kind, cudaStream_t stream) {
  return Api("cudaMemcpyToSymbolAsync",
             [&](Runtime& r) { CopyLater(r, SymbolIs::kTarget, symbol, from, bytes, offset, kind, stream); });
}
LOCKSTEP_PER_THREAD(cudaMemcpyToSymbolAsync, _ptsz)

cudaError_t cudaMemcpyFromSymbol(void* to, const void* symbol, size_t bytes, size_t offset, cudaMemcpyKind kind) {
  return Api("cudaMemcpyFromSymbol",
             [&](Runtime& r) { CopyNow(r, MakeSymbolCopy(r, SymbolIs::kSource, symbol, to, bytes, offset, kind)); });
}
LOCKSTEP_PER_THREAD(cudaMemcpyFromSymbol, _ptds)

cudaError_t cudaMemcpyFromSymbolAsync(void* to, const void* symbol, size_t bytes, size_t offset, cudaMemcpyKind kind,
                                      cudaStream_t stream) {
  return Api("cudaMemcpyFromSymbolAsync",
             [&](Runtime& r) { CopyLater(r, SymbolIs::kSource, symbol, to, bytes, offset, kind, stream); });
}
LOCKSTEP_PER_THREAD(cudaMemcpyFromSymbolAsync, _ptsz)

cudaError_t cudaGetSymbolAddress(void** address, const void* symbol) {
  return Api("cudaGetSymbolAddress", [&](Runtime& r) {
    Require(address != nullptr, cudaErrorInvalidValue);
    *address = reinterpret_cast<void*>(r.VariableOf(symbol).address);
  });
}

cudaError_t cudaGetSymbolSize(size_t* bytes, const void* symbol) {
  return Api("cudaGetSymbolSize", [&](Runtime& r) {
    Require(bytes != nullptr, cudaErrorInvalidValue);
    *bytes = r.VariableOf(symbol).bytes;
  });
}

}  // extern "C"
