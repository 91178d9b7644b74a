#include "vgpu/cudart/graph.h"

namespace lockstep::vgpu::cudart {

KernelWork MakeKernel(Runtime& r, const cudaKernelNodeParams* params) {
  Require(params != nullptr, cudaErrorInvalidValue);
  if (params->extra != nullptr && params->kernelParams == nullptr)
    NotSupported("a kernel node's parameters as one packed buffer (extra)");
  return MakeLaunch(r, params->func, {params->gridDim, params->blockDim, params->sharedMemBytes, nullptr},
                    params->kernelParams, false);
}

FillWork MakeFill(const cudaMemsetParams* params) {
  Require(params != nullptr && params->dst != nullptr, cudaErrorInvalidValue);
  const unsigned unit = params->elementSize;
  Require((unit == 1 || unit == 2 || unit == 4) && params->width <= SIZE_MAX / unit, cudaErrorInvalidValue);
  Require(params->width > 0 && params->height > 0, cudaErrorInvalidValue);
  Require(params->height == 1 || (params->width * unit <= params->pitch && params->pitch % unit == 0),
          cudaErrorInvalidValue);
  const uint64_t width = params->width * unit;
  // The pitch of a single row is not used.
  const uint64_t pitch = params->height <= 1 ? width : params->pitch;
  FillWork work{params->dst, {pitch, pitch * params->height}, params->value, unit, {width, params->height, 1}};
  work.told_pitch = params->pitch;
  return work;
}

HostWork MakeHost(const cudaHostNodeParams* params) {
  Require(params != nullptr && params->fn != nullptr, cudaErrorInvalidValue);
  return {params->fn, params->userData};
}

cudaEvent_t EventOfNode(Runtime& r, cudaEvent_t event) {
  Require(event != nullptr, cudaErrorInvalidValue);
  r.timeline().EventOf(event);
  return event;
}

namespace {

void CheckKind(cudaMemcpyKind kind) {
  Require(kind >= cudaMemcpyHostToHost && kind <= cudaMemcpyDefault, cudaErrorInvalidMemcpyDirection);
}

void* PlaceIn(Runtime& r, const void* symbol, uint64_t bytes, uint64_t offset) {
  const VariableInfo& variable = r.VariableOf(symbol);
  Require(offset <= variable.bytes && bytes <= variable.bytes - offset, cudaErrorInvalidValue);
  return reinterpret_cast<void*>(variable.address + offset);
}

}  // namespace

void CheckSymbolKind(SymbolIs role, cudaMemcpyKind kind) {
  CheckKind(kind);
  const cudaMemcpyKind other = role == SymbolIs::kTarget ? cudaMemcpyDeviceToHost : cudaMemcpyHostToDevice;
  Require(kind != cudaMemcpyHostToHost && kind != other, cudaErrorInvalidMemcpyDirection);
}

CopyWork MakeNodeCopy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  Require(bytes != 0, cudaErrorInvalidValue);
  CheckKind(kind);
  return MakeCopy(to, from, bytes, kind);
}

CopyWork MakeSymbolCopy(Runtime& r, SymbolIs role, const void* symbol, const void* other, size_t bytes, size_t offset,
                        cudaMemcpyKind kind) {
  if (bytes == 0) return {};
  r.RequireContext();
  void* const place = PlaceIn(r, symbol, bytes, offset);
  CheckSymbolKind(role, kind);
  return role == SymbolIs::kTarget ? MakeCopy(place, other, bytes, kind)
                                   : MakeCopy(const_cast<void*>(other), place, bytes, kind);
}

CopyWork MakeNodeSymbolCopy(Runtime& r, SymbolIs role, const void* symbol, const void* other, size_t bytes,
                            size_t offset, cudaMemcpyKind kind) {
  CheckKind(kind);
  if (bytes != 0) return MakeSymbolCopy(r, role, symbol, other, bytes, offset, kind);
  PlaceIn(r, symbol, bytes, offset);
  CheckSymbolKind(role, kind);
  return {};
}

cudaKernelNodeParams ParamsOf(Node& node, const KernelWork& work) {
  node.arguments.clear();
  for (const KernelParameter& parameter : work.kernel->info->parameters) {
    node.arguments.push_back(const_cast<uint8_t*>(work.parameters.data()) + parameter.offset);
  }
  cudaKernelNodeParams params = {};
  // The program's host function for it; null if it used a handle.
  params.func = const_cast<void*>(runtime().HostFunctionOf(*work.kernel));
  params.gridDim = work.configuration.grid;
  params.blockDim = work.configuration.block;
  params.sharedMemBytes = static_cast<unsigned>(work.configuration.shared);
  params.kernelParams = node.arguments.data();
  return params;
}

cudaMemsetParams ParamsOf(const FillWork& work) {
  cudaMemsetParams params = {};
  params.dst = work.to;
  params.pitch = work.region.height > 1 ? work.layout.pitch : work.told_pitch;
  params.value = work.value;
  params.elementSize = work.element_bytes;
  params.width = work.region.width / work.element_bytes;
  params.height = work.region.height;
  return params;
}

cudaMemcpy3DParms ParamsOf(const CopyWork& work) {
  if (work.of_arrays) NotSupported("reading the parameters of a node that copies arrays");
  const auto pitched = [&](const void* base, const Layout& layout) {
    const uint64_t rows = layout.pitch == 0 ? 0 : layout.slice / layout.pitch;
    // A single row's pitch is reported as 0.
    if (work.region.height == 1 && work.region.depth == 1) return cudaPitchedPtr{const_cast<void*>(base), 0, 0, 0};
    return cudaPitchedPtr{const_cast<void*>(base), layout.pitch, work.region.width, rows};
  };
  cudaMemcpy3DParms params = {};
  params.dstPtr = pitched(work.to, work.to_layout);
  params.srcPtr = pitched(work.from, work.from_layout);
  params.extent = {work.region.width, work.region.height, work.region.depth};
  params.kind = work.kind;
  return params;
}

}  // namespace lockstep::vgpu::cudart
