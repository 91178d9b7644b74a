// cudaGetLastError and the names of errors.
#include <utility>

#include "vgpu/cudart/report/api_failure.h"
#include "vgpu/cudart/report/refused.h"
#include "vgpu/cudart/runtime.h"

namespace lockstep::vgpu::cudart {

namespace {

struct ErrorText {
  cudaError_t code;
  const char* name;
  const char* text;  // the standard texts, which users know from hardware
};

#define LOCKSTEP_ERROR(code, text) {code, #code, text}

// All errors in CUDA 13, and those that only older versions return.
constexpr ErrorText kErrors[] = {
    LOCKSTEP_ERROR(cudaSuccess, "no error"),
    LOCKSTEP_ERROR(cudaErrorInvalidValue, "invalid argument"),
    LOCKSTEP_ERROR(cudaErrorMemoryAllocation, "out of memory"),
    LOCKSTEP_ERROR(cudaErrorInitializationError, "initialization error"),
    LOCKSTEP_ERROR(cudaErrorCudartUnloading, "driver shutting down"),
    LOCKSTEP_ERROR(cudaErrorProfilerDisabled, "profiler disabled while using external profiling tool"),
    LOCKSTEP_ERROR(cudaErrorProfilerNotInitialized, "profiler not initialized: call cudaProfilerInitialize()"),
    LOCKSTEP_ERROR(cudaErrorProfilerAlreadyStarted, "profiler already started"),
    LOCKSTEP_ERROR(cudaErrorProfilerAlreadyStopped, "profiler already stopped"),
    LOCKSTEP_ERROR(cudaErrorInvalidConfiguration, "invalid configuration argument"),
    LOCKSTEP_ERROR(cudaErrorInvalidPitchValue, "invalid pitch argument"),
    LOCKSTEP_ERROR(cudaErrorInvalidSymbol, "invalid device symbol"),
    LOCKSTEP_ERROR(cudaErrorInvalidHostPointer, "invalid host pointer"),
    LOCKSTEP_ERROR(cudaErrorInvalidDevicePointer, "invalid device pointer"),
    LOCKSTEP_ERROR(cudaErrorInvalidTexture, "invalid texture reference"),
    LOCKSTEP_ERROR(cudaErrorInvalidTextureBinding, "texture is not bound to a pointer"),
    LOCKSTEP_ERROR(cudaErrorInvalidChannelDescriptor, "invalid channel descriptor"),
    LOCKSTEP_ERROR(cudaErrorInvalidMemcpyDirection, "invalid copy direction for memcpy"),
    LOCKSTEP_ERROR(cudaErrorAddressOfConstant, "invalid address of constant"),
    LOCKSTEP_ERROR(cudaErrorTextureFetchFailed, "fetch from texture failed"),
    LOCKSTEP_ERROR(cudaErrorTextureNotBound, "cannot fetch from a texture that is not bound"),
    LOCKSTEP_ERROR(cudaErrorSynchronizationError, "incorrect use of __syncthreads()"),
    LOCKSTEP_ERROR(cudaErrorInvalidFilterSetting, "linear filtering not supported for non-float type"),
    LOCKSTEP_ERROR(cudaErrorInvalidNormSetting, "read as normalized float not supported for data type"),
    LOCKSTEP_ERROR(cudaErrorMixedDeviceExecution, "device emulation mode and device execution mode cannot be mixed"),
    LOCKSTEP_ERROR(cudaErrorNotYetImplemented, "feature not yet implemented"),
    LOCKSTEP_ERROR(cudaErrorMemoryValueTooLarge, "memory size or pointer value too large to fit in 32 bit"),
    LOCKSTEP_ERROR(cudaErrorStubLibrary, "CUDA driver is a stub library"),
    LOCKSTEP_ERROR(cudaErrorInsufficientDriver, "CUDA driver version is insufficient for CUDA runtime version"),
    LOCKSTEP_ERROR(cudaErrorCallRequiresNewerDriver, "API call is not supported in the installed CUDA driver"),
    LOCKSTEP_ERROR(cudaErrorInvalidSurface, "invalid surface reference"),
    LOCKSTEP_ERROR(cudaErrorDuplicateVariableName, "duplicate global variable looked up by string name"),
    LOCKSTEP_ERROR(cudaErrorDuplicateTextureName, "duplicate texture looked up by string name"),
    LOCKSTEP_ERROR(cudaErrorDuplicateSurfaceName, "duplicate surface looked up by string name"),
    LOCKSTEP_ERROR(cudaErrorDevicesUnavailable, "CUDA-capable device(s) is/are busy or unavailable"),
    LOCKSTEP_ERROR(cudaErrorIncompatibleDriverContext, "incompatible driver context"),
    LOCKSTEP_ERROR(cudaErrorMissingConfiguration, "__global__ function call is not configured"),
    LOCKSTEP_ERROR(cudaErrorPriorLaunchFailure, "unspecified launch failure in prior launch"),
    LOCKSTEP_ERROR(cudaErrorLaunchMaxDepthExceeded, "launch would exceed maximum depth of nested launches"),
    LOCKSTEP_ERROR(cudaErrorLaunchFileScopedTex,
                   "launch failed because kernel uses unsupported, file-scoped textures (texture objects are "
                   "supported)"),
    LOCKSTEP_ERROR(cudaErrorLaunchFileScopedSurf,
                   "launch failed because kernel uses unsupported, file-scoped surfaces (surface objects are "
                   "supported)"),
    LOCKSTEP_ERROR(cudaErrorSyncDepthExceeded,
                   "cudaDeviceSynchronize failed because caller's grid depth exceeds "
                   "cudaLimitDevRuntimeSyncDepth"),
    LOCKSTEP_ERROR(cudaErrorLaunchPendingCountExceeded,
                   "launch failed because launch would exceed cudaLimitDevRuntimePendingLaunchCount"),
    LOCKSTEP_ERROR(cudaErrorInvalidDeviceFunction, "invalid device function"),
    LOCKSTEP_ERROR(cudaErrorNoDevice, "no CUDA-capable device is detected"),
    LOCKSTEP_ERROR(cudaErrorInvalidDevice, "invalid device ordinal"),
    LOCKSTEP_ERROR(cudaErrorDeviceNotLicensed, "device doesn't have valid Grid license"),
    LOCKSTEP_ERROR(cudaErrorSoftwareValidityNotEstablished, "integrity checks failed"),
    LOCKSTEP_ERROR(cudaErrorStartupFailure, "startup failure in cuda runtime"),
    LOCKSTEP_ERROR(cudaErrorInvalidKernelImage, "device kernel image is invalid"),
    LOCKSTEP_ERROR(cudaErrorDeviceUninitialized, "invalid device context"),
    LOCKSTEP_ERROR(cudaErrorMapBufferObjectFailed, "mapping of buffer object failed"),
    LOCKSTEP_ERROR(cudaErrorUnmapBufferObjectFailed, "unmapping of buffer object failed"),
    LOCKSTEP_ERROR(cudaErrorArrayIsMapped, "array is mapped"),
    LOCKSTEP_ERROR(cudaErrorAlreadyMapped, "resource already mapped"),
    LOCKSTEP_ERROR(cudaErrorNoKernelImageForDevice, "no kernel image is available for execution on the device"),
    LOCKSTEP_ERROR(cudaErrorAlreadyAcquired, "resource already acquired"),
    LOCKSTEP_ERROR(cudaErrorNotMapped, "resource not mapped"),
    LOCKSTEP_ERROR(cudaErrorNotMappedAsArray, "resource not mapped as array"),
    LOCKSTEP_ERROR(cudaErrorNotMappedAsPointer, "resource not mapped as pointer"),
    LOCKSTEP_ERROR(cudaErrorECCUncorrectable, "uncorrectable ECC error encountered"),
    LOCKSTEP_ERROR(cudaErrorUnsupportedLimit, "limit is not supported on this architecture"),
    LOCKSTEP_ERROR(cudaErrorDeviceAlreadyInUse, "exclusive-thread device already in use by a different thread"),
    LOCKSTEP_ERROR(cudaErrorPeerAccessUnsupported, "peer access is not supported between these two devices"),
    LOCKSTEP_ERROR(cudaErrorInvalidPtx, "a PTX JIT compilation failed"),
    LOCKSTEP_ERROR(cudaErrorInvalidGraphicsContext, "invalid OpenGL or DirectX context"),
    LOCKSTEP_ERROR(cudaErrorNvlinkUncorrectable, "uncorrectable NVLink error detected during the execution"),
    LOCKSTEP_ERROR(cudaErrorJitCompilerNotFound, "PTX JIT compiler library not found"),
    LOCKSTEP_ERROR(cudaErrorUnsupportedPtxVersion, "the provided PTX was compiled with an unsupported toolchain."),
    LOCKSTEP_ERROR(cudaErrorJitCompilationDisabled, "PTX JIT compilation was disabled"),
    LOCKSTEP_ERROR(cudaErrorUnsupportedExecAffinity, "the provided execution affinity is not supported"),
    LOCKSTEP_ERROR(cudaErrorUnsupportedDevSideSync,
                   "the provided PTX contains unsupported call to cudaDeviceSynchronize"),
    LOCKSTEP_ERROR(cudaErrorContained, "Invalid access of peer GPU memory over nvlink or a hardware error"),
    LOCKSTEP_ERROR(cudaErrorInvalidSource, "device kernel image is invalid"),
    LOCKSTEP_ERROR(cudaErrorFileNotFound, "file not found"),
    LOCKSTEP_ERROR(cudaErrorSharedObjectSymbolNotFound, "shared object symbol not found"),
    LOCKSTEP_ERROR(cudaErrorSharedObjectInitFailed, "shared object initialization failed"),
    LOCKSTEP_ERROR(cudaErrorOperatingSystem, "OS call failed or operation not supported on this OS"),
    LOCKSTEP_ERROR(cudaErrorInvalidResourceHandle, "invalid resource handle"),
    LOCKSTEP_ERROR(cudaErrorIllegalState, "the operation cannot be performed in the present state"),
    LOCKSTEP_ERROR(cudaErrorLossyQuery, "attempted introspection would be semantically lossy"),
    LOCKSTEP_ERROR(cudaErrorSymbolNotFound, "named symbol not found"),
    LOCKSTEP_ERROR(cudaErrorNotReady, "device not ready"),
    LOCKSTEP_ERROR(cudaErrorIllegalAddress, "an illegal memory access was encountered"),
    LOCKSTEP_ERROR(cudaErrorLaunchOutOfResources, "too many resources requested for launch"),
    LOCKSTEP_ERROR(cudaErrorLaunchTimeout, "the launch timed out and was terminated"),
    LOCKSTEP_ERROR(cudaErrorLaunchIncompatibleTexturing, "launch uses incompatible texturing mode"),
    LOCKSTEP_ERROR(cudaErrorPeerAccessAlreadyEnabled, "peer access is already enabled"),
    LOCKSTEP_ERROR(cudaErrorPeerAccessNotEnabled, "peer access has not been enabled"),
    LOCKSTEP_ERROR(cudaErrorSetOnActiveProcess, "cannot set while device is active in this process"),
    LOCKSTEP_ERROR(cudaErrorContextIsDestroyed, "context is destroyed"),
    LOCKSTEP_ERROR(cudaErrorAssert, "device-side assert triggered"),
    LOCKSTEP_ERROR(cudaErrorTooManyPeers, "peer mapping resources exhausted"),
    LOCKSTEP_ERROR(cudaErrorHostMemoryAlreadyRegistered, "part or all of the requested memory range is already mapped"),
    LOCKSTEP_ERROR(cudaErrorHostMemoryNotRegistered, "pointer does not correspond to a registered memory region"),
    LOCKSTEP_ERROR(cudaErrorHardwareStackError, "hardware stack error"),
    LOCKSTEP_ERROR(cudaErrorIllegalInstruction, "an illegal instruction was encountered"),
    LOCKSTEP_ERROR(cudaErrorMisalignedAddress, "misaligned address"),
    LOCKSTEP_ERROR(cudaErrorInvalidAddressSpace, "operation not supported on global/shared address space"),
    LOCKSTEP_ERROR(cudaErrorInvalidPc, "invalid program counter"),
    LOCKSTEP_ERROR(cudaErrorLaunchFailure, "unspecified launch failure"),
    LOCKSTEP_ERROR(cudaErrorCooperativeLaunchTooLarge, "too many blocks in cooperative launch"),
    LOCKSTEP_ERROR(cudaErrorTensorMemoryLeak, "tensor memory not completely freed"),
    LOCKSTEP_ERROR(cudaErrorNotPermitted, "operation not permitted"),
    LOCKSTEP_ERROR(cudaErrorNotSupported, "operation not supported"),
    LOCKSTEP_ERROR(cudaErrorSystemNotReady, "system not yet initialized"),
    LOCKSTEP_ERROR(cudaErrorSystemDriverMismatch, "system has unsupported display driver / cuda driver combination"),
    LOCKSTEP_ERROR(cudaErrorCompatNotSupportedOnDevice, "forward compatibility was attempted on non supported HW"),
    LOCKSTEP_ERROR(cudaErrorMpsConnectionFailed,
                   "MPS client failed to connect to the MPS control daemon or the MPS server"),
    LOCKSTEP_ERROR(cudaErrorMpsRpcFailure,
                   "the remote procedural call between the MPS server and the MPS client failed"),
    LOCKSTEP_ERROR(cudaErrorMpsServerNotReady, "MPS server is not ready to accept new MPS client requests"),
    LOCKSTEP_ERROR(cudaErrorMpsMaxClientsReached,
                   "the hardware resources required to create MPS client have been exhausted"),
    LOCKSTEP_ERROR(cudaErrorMpsMaxConnectionsReached,
                   "the hardware resources required to support device connections have been exhausted"),
    LOCKSTEP_ERROR(cudaErrorMpsClientTerminated, "the MPS client has been terminated by the server"),
    LOCKSTEP_ERROR(cudaErrorCdpNotSupported,
                   "is using CUDA Dynamic Parallelism, but the current configuration, like MPS, does not "
                   "support it"),
    LOCKSTEP_ERROR(cudaErrorCdpVersionMismatch,
                   "unsupported interaction between different versions of CUDA Dynamic Parallelism"),
    LOCKSTEP_ERROR(cudaErrorStreamCaptureUnsupported, "operation not permitted when stream is capturing"),
    LOCKSTEP_ERROR(cudaErrorStreamCaptureInvalidated, "operation failed due to a previous error during capture"),
    LOCKSTEP_ERROR(cudaErrorStreamCaptureMerge, "operation would result in a merge of separate capture sequences"),
    LOCKSTEP_ERROR(cudaErrorStreamCaptureUnmatched, "capture was not ended in the same stream as it began"),
    LOCKSTEP_ERROR(cudaErrorStreamCaptureUnjoined, "capturing stream has unjoined work"),
    LOCKSTEP_ERROR(cudaErrorStreamCaptureIsolation, "dependency created on uncaptured work in another stream"),
    LOCKSTEP_ERROR(cudaErrorStreamCaptureImplicit,
                   "operation would make the legacy stream depend on a capturing blocking stream"),
    LOCKSTEP_ERROR(cudaErrorCapturedEvent, "operation not permitted on an event last recorded in a capturing stream"),
    LOCKSTEP_ERROR(cudaErrorStreamCaptureWrongThread,
                   "attempt to terminate a thread-local capture sequence from another thread"),
    LOCKSTEP_ERROR(cudaErrorTimeout, "wait operation timed out"),
    LOCKSTEP_ERROR(cudaErrorGraphExecUpdateFailure,
                   "the graph update was not performed because it included changes which violated constraints "
                   "specific to instantiated graph update"),
    LOCKSTEP_ERROR(cudaErrorExternalDevice, "an async error has occured in external entity outside of CUDA"),
    LOCKSTEP_ERROR(cudaErrorInvalidClusterSize, "a kernel launch error has occurred due to cluster misconfiguration"),
    LOCKSTEP_ERROR(cudaErrorFunctionNotLoaded,
                   "the function handle is not loaded when calling an API that requires a loaded function"),
    LOCKSTEP_ERROR(cudaErrorInvalidResourceType,
                   "one or more resources passed in are not valid resource types for the operation"),
    LOCKSTEP_ERROR(cudaErrorInvalidResourceConfiguration,
                   "one or more resources are insufficient or non-applicable for the operation"),
    LOCKSTEP_ERROR(cudaErrorUnknown, "unknown error"),
    {static_cast<cudaError_t>(10000), "cudaErrorApiFailureBase", "api failure base"},
};

#undef LOCKSTEP_ERROR

const ErrorText* Find(cudaError_t code) {
  for (const ErrorText& error : kErrors) {
    if (error.code == code) return &error;
  }
  return nullptr;
}

constexpr char kUnrecognized[] = "unrecognized error code";

}  // namespace

int RefuseCall(const char* function) {
  return Api(function, [](Runtime& r) { NotSupported(std::string(RefusedSubject(r.function()))); });
}

}  // namespace lockstep::vgpu::cudart

using namespace lockstep::vgpu::cudart;

extern "C" {

cudaError_t cudaGetLastError() {
  const cudaError_t error = std::exchange(LastError(), cudaSuccess);
  // Records that the program checked; the call itself succeeds.
  Api("cudaGetLastError", Faults::kNone, [](Runtime&) { NoteErrorRead(); });
  return error;
}

cudaError_t cudaPeekAtLastError() {
  Api("cudaPeekAtLastError", Faults::kNone, [](Runtime&) { NoteErrorRead(); });
  return LastError();
}

// Called by a worker after each launcher call: waits for the device and takes the remaining error. It is not recorded,
// because the program did not make the call (Runtime::Leave).
cudaError_t __cudaLockstepFinishCall() {
  constexpr char kName[] = "__cudaLockstepFinishCall";
  const cudaError_t waited = Api(kName, [](Runtime& r) { r.timeline().SynchronizeDevice(r.device()); });
  const cudaError_t left = std::exchange(LastError(), cudaSuccess);
  Api(kName, Faults::kNone, [](Runtime&) { NoteErrorRead(); });
  return left != cudaSuccess ? left : waited;
}

const char* cudaGetErrorName(cudaError_t code) {
  const ErrorText* error = Find(code);
  return error != nullptr ? error->name : kUnrecognized;
}

const char* cudaGetErrorString(cudaError_t code) {
  const ErrorText* error = Find(code);
  return error != nullptr ? error->text : kUnrecognized;
}

}  // extern "C"
