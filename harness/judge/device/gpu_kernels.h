// The PTX text of the judge's own kernels (gpu_kernels.cu).
#pragma once

namespace lockstep::judge {

const char* GpuKernelsPtx();  // ends in a 0

}  // namespace lockstep::judge
