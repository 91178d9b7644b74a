// Converts between Work and the parameter structures of the graph API.
#pragma once

#include "vgpu/cudart/graph.h"

namespace lockstep::vgpu::cudart {

KernelWork MakeKernel(Runtime& r, const cudaKernelNodeParams* params);
FillWork MakeFill(const cudaMemsetParams* params);
HostWork MakeHost(const cudaHostNodeParams* params);
CopyWork MakeCopyToSymbol(Runtime& r, const void* symbol, const void* from, size_t bytes, size_t offset,
                          cudaMemcpyKind kind);
CopyWork MakeCopyFromSymbol(Runtime& r, void* to, const void* symbol, size_t bytes, size_t offset, cudaMemcpyKind kind);

cudaKernelNodeParams ParamsOf(Node& node, const KernelWork& work);
cudaMemsetParams ParamsOf(const FillWork& work);
cudaMemcpy3DParms ParamsOf(const CopyWork& work);

}  // namespace lockstep::vgpu::cudart
