// The PTX text of the judge's own kernels (gpu_kernels.cu).
#pragma once

namespace lockstep::judge {

const char* GpuKernelsPtx();  // zero-terminated

}  // namespace lockstep::judge
