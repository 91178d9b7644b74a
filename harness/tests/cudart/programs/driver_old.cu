// Launches and contexts of the driver API as before CUDA 4. driver_old.h100.txt is what it printed on an H100, built
// with
//   nvcc -arch=sm_90 -Wno-deprecated-declarations driver_old.cu -lcuda
#include "driver_show.h"

static const char kPtx[] = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .entry blend(.param .u64 to, .param .u32 whole, .param .f32 part) {
  .reg .b32 %r<6>;
  .reg .f32 %f;
  .reg .b64 %a<3>;
  ld.param.u64 %a0, [to];
  ld.param.u32 %r0, [whole];
  ld.param.f32 %f, [part];
  cvt.rzi.u32.f32 %r1, %f;
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.u32 %r5, %r2, %r3, %r4;
  mul.wide.u32 %a1, %r5, 4;
  add.u64 %a2, %a0, %a1;
  add.u32 %r1, %r1, %r0;
  add.u32 %r1, %r1, %r5;
  st.global.u32 [%a2], %r1;
  ret;
}
)";

static CUdeviceptr memory;

static void ShowLast(int at) {
  unsigned value = 0;
  SHOW(cuMemcpyDtoH(&value, memory + 4 * at, sizeof value));
  std::printf("%u\n", value);
}

int main() {
  CUdevice device;
  CUcontext context, same;
  SHOW(cuInit(0));
  SHOW(cuDeviceGet(&device, 0));
  SHOW(cuCtxAttach(&same, 0));
  SHOW(cuDevicePrimaryCtxRetain(&context, device));
  SHOW(cuCtxSetCurrent(context));
  SHOW(cuCtxAttach(&same, 0));
  std::printf("%d\n", same == context);
  SHOW(cuCtxDetach(same));
  CUsharedconfig config;
  SHOW(cuCtxGetSharedMemConfig(&config));
  SHOW(cuCtxSetSharedMemConfig(CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE));
  CUmodule module;
  CUfunction blend;
  CUstream stream;
  SHOW(cuModuleLoadData(&module, kPtx));
  SHOW(cuModuleGetFunction(&blend, module, "blend"));
  SHOW(cuStreamCreate(&stream, CU_STREAM_DEFAULT));
  SHOW(cuMemAlloc(&memory, 4096));
  SHOW(cuFuncSetBlockShape(blend, 32, 1, 1));
  SHOW(cuFuncSetBlockShape(blend, 0, 1, 1));
  SHOW(cuFuncSetSharedSize(blend, 128));
  SHOW(cuParamSetSize(blend, 16));
  SHOW(cuParamSetv(blend, 0, &memory, sizeof memory));
  SHOW(cuParamSeti(blend, 8, 1000));
  SHOW(cuParamSetf(blend, 12, 7.5f));
  SHOW(cuLaunch(blend));
  ShowLast(31);
  SHOW(cuLaunchGrid(blend, 4, 1));
  ShowLast(127);
  SHOW(cuLaunchGridAsync(blend, 6, 1, stream));
  SHOW(cuStreamSynchronize(stream));
  ShowLast(191);
  SHOW(cuMemFree(memory));
}
