#include "judge/device/gpu_kernels.h"

// The build compiles gpu_kernels.cu to this file, and defines its path.
asm(".section .rodata\n"
    ".global lockstep_gpu_kernels_ptx\n"
    "lockstep_gpu_kernels_ptx:\n"
    ".incbin \"" LOCKSTEP_GPU_KERNELS_PTX
    "\"\n"
    ".byte 0\n"
    ".previous\n");
extern "C" const char lockstep_gpu_kernels_ptx[];

namespace lockstep::judge {

const char* GpuKernelsPtx() { return lockstep_gpu_kernels_ptx; }

}  // namespace lockstep::judge
