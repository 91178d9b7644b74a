// The judge's own kernels as PTX text; gpu_kernels.cu has them.
#pragma once

namespace lockstep::judge {

const char* GpuKernelsPtx();  // ends in a 0

}  // namespace lockstep::judge
