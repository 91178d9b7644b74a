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
  const char* text;  // what programs print: as users of the hardware know it
};

#define LOCKSTEP_ERROR(code, text) {code, #code, text}

// The errors that this runtime returns, and those that programs commonly compare with.
constexpr ErrorText kErrors[] = {
    LOCKSTEP_ERROR(cudaSuccess, "no error"),
    LOCKSTEP_ERROR(cudaErrorInvalidValue, "invalid argument"),
    LOCKSTEP_ERROR(cudaErrorMemoryAllocation, "out of memory"),
    LOCKSTEP_ERROR(cudaErrorInitializationError, "initialization error"),
    LOCKSTEP_ERROR(cudaErrorCudartUnloading, "driver shutting down"),
    LOCKSTEP_ERROR(cudaErrorInvalidConfiguration, "invalid configuration argument"),
    LOCKSTEP_ERROR(cudaErrorInvalidPitchValue, "invalid pitch argument"),
    LOCKSTEP_ERROR(cudaErrorInvalidSymbol, "invalid device symbol"),
    LOCKSTEP_ERROR(cudaErrorInvalidHostPointer, "invalid host pointer"),
    LOCKSTEP_ERROR(cudaErrorInvalidDevicePointer, "invalid device pointer"),
    LOCKSTEP_ERROR(cudaErrorInvalidChannelDescriptor, "invalid channel descriptor"),
    LOCKSTEP_ERROR(cudaErrorInvalidFilterSetting, "linear filtering not supported for non-float type"),
    LOCKSTEP_ERROR(cudaErrorInvalidNormSetting, "read as normalized float not supported for 32-bit non float type"),
    LOCKSTEP_ERROR(cudaErrorInvalidMemcpyDirection, "invalid copy direction for memcpy"),
    LOCKSTEP_ERROR(cudaErrorInsufficientDriver, "CUDA driver version is insufficient for CUDA runtime version"),
    LOCKSTEP_ERROR(cudaErrorDevicesUnavailable, "CUDA-capable device(s) is/are busy or unavailable"),
    LOCKSTEP_ERROR(cudaErrorMissingConfiguration, "__global__ function call is not configured"),
    LOCKSTEP_ERROR(cudaErrorPriorLaunchFailure, "unspecified launch failure in prior launch"),
    LOCKSTEP_ERROR(cudaErrorLaunchMaxDepthExceeded, "launch would exceed maximum depth of nested launches"),
    LOCKSTEP_ERROR(cudaErrorLaunchPendingCountExceeded,
                   "launch failed because launch would exceed cudaLimitDevRuntimePendingLaunchCount"),
    LOCKSTEP_ERROR(cudaErrorInvalidDeviceFunction, "invalid device function"),
    LOCKSTEP_ERROR(cudaErrorNoDevice, "no CUDA-capable device is detected"),
    LOCKSTEP_ERROR(cudaErrorInvalidDevice, "invalid device ordinal"),
    LOCKSTEP_ERROR(cudaErrorInvalidKernelImage, "device kernel image is invalid"),
    LOCKSTEP_ERROR(cudaErrorDeviceUninitialized, "invalid device context"),
    LOCKSTEP_ERROR(cudaErrorMapBufferObjectFailed, "mapping of buffer object failed"),
    LOCKSTEP_ERROR(cudaErrorNoKernelImageForDevice, "no kernel image is available for execution on the device"),
    LOCKSTEP_ERROR(cudaErrorECCUncorrectable, "uncorrectable ECC error encountered"),
    LOCKSTEP_ERROR(cudaErrorUnsupportedLimit, "limit is not supported on this architecture"),
    LOCKSTEP_ERROR(cudaErrorPeerAccessUnsupported, "peer access is not supported between these two devices"),
    LOCKSTEP_ERROR(cudaErrorInvalidPtx, "a PTX JIT compilation failed"),
    LOCKSTEP_ERROR(cudaErrorUnsupportedPtxVersion, "the provided PTX was compiled with an unsupported toolchain."),
    LOCKSTEP_ERROR(cudaErrorInvalidSource, "device kernel image is invalid"),
    LOCKSTEP_ERROR(cudaErrorFileNotFound, "file not found"),
    LOCKSTEP_ERROR(cudaErrorSharedObjectSymbolNotFound, "shared object symbol not found"),
    LOCKSTEP_ERROR(cudaErrorSharedObjectInitFailed, "shared object initialization failed"),
    LOCKSTEP_ERROR(cudaErrorOperatingSystem, "OS call failed or operation not supported on this OS"),
    LOCKSTEP_ERROR(cudaErrorInvalidResourceHandle, "invalid resource handle"),
    LOCKSTEP_ERROR(cudaErrorIllegalState, "the operation cannot be performed in the present state"),
    LOCKSTEP_ERROR(cudaErrorSymbolNotFound, "named symbol not found"),
    LOCKSTEP_ERROR(cudaErrorNotReady, "device not ready"),
    LOCKSTEP_ERROR(cudaErrorIllegalAddress, "an illegal memory access was encountered"),
    LOCKSTEP_ERROR(cudaErrorLaunchOutOfResources, "too many resources requested for launch"),
    LOCKSTEP_ERROR(cudaErrorLaunchTimeout, "the launch timed out and was terminated"),
    LOCKSTEP_ERROR(cudaErrorPeerAccessAlreadyEnabled, "peer access is already enabled"),
    LOCKSTEP_ERROR(cudaErrorPeerAccessNotEnabled, "peer access has not been enabled"),
    LOCKSTEP_ERROR(cudaErrorSetOnActiveProcess, "cannot set while device is active in this process"),
    LOCKSTEP_ERROR(cudaErrorContextIsDestroyed, "context is destroyed"),
    LOCKSTEP_ERROR(cudaErrorAssert, "device-side assert triggered"),
    LOCKSTEP_ERROR(cudaErrorHostMemoryAlreadyRegistered, "part or all of the requested memory range is already mapped"),
    LOCKSTEP_ERROR(cudaErrorHostMemoryNotRegistered, "pointer does not correspond to a registered memory region"),
    LOCKSTEP_ERROR(cudaErrorHardwareStackError, "hardware stack error"),
    LOCKSTEP_ERROR(cudaErrorIllegalInstruction, "an illegal instruction was encountered"),
    LOCKSTEP_ERROR(cudaErrorMisalignedAddress, "misaligned address"),
    LOCKSTEP_ERROR(cudaErrorInvalidAddressSpace, "operation not supported on global/shared address space"),
    LOCKSTEP_ERROR(cudaErrorInvalidPc, "invalid program counter"),
    LOCKSTEP_ERROR(cudaErrorLaunchFailure, "unspecified launch failure"),
    LOCKSTEP_ERROR(cudaErrorCooperativeLaunchTooLarge, "too many blocks in cooperative launch"),
    LOCKSTEP_ERROR(cudaErrorNotPermitted, "operation not permitted"),
    LOCKSTEP_ERROR(cudaErrorNotSupported, "operation not supported"),
    LOCKSTEP_ERROR(cudaErrorSystemNotReady, "system not yet initialized"),
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
                   "the graph update was not performed because it included changes which violated constraints specific "
                   "to instantiated graph update"),
    LOCKSTEP_ERROR(cudaErrorInvalidClusterSize, "a kernel launch error has occurred due to cluster misconfiguration"),
    LOCKSTEP_ERROR(cudaErrorUnknown, "unknown error"),
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
  // Notes that the program asked; its own outcome is success.
  Api("cudaGetLastError", Faults::kNone, [](Runtime&) { NoteErrorRead(); });
  return error;
}

cudaError_t cudaPeekAtLastError() {
  Api("cudaPeekAtLastError", Faults::kNone, [](Runtime&) { NoteErrorRead(); });
  return LastError();
}

// What a worker does after each call of a launcher, in one: it waits for the device and takes the error that is left.
// Being none of the program's own calls it is not noted (Runtime::Leave).
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
