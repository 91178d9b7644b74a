// The main program of a worker: the process in which a submission runs. It announces its launchers, calls
// them on request, and reports what they returned.
//
// Nothing here is protected: the submission shares the process and can do anything to it. The other end of the socket
// sees and judges what it does.
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <map>

#include "worker/launchers.h"

extern "C" __attribute__((weak)) cudaError_t __cudaLockstepFinishCall();
extern "C" __attribute__((weak)) void __cudaLockstepInCall(int is_in_call);

namespace lockstep::worker {

namespace {

// Runs before any constructor, the submission's or the C++ library's: tells the judge that the executable was loaded,
// so that later failures are the submission's doing.
void SendStarted(int, char**, char**) {
  static const uint8_t message[kHeaderBytes] = {0, 0, 0, 0, static_cast<uint8_t>(MessageType::kStarted), 0, 0, 0};
  (void)!::send(kSocketDescriptor, message, sizeof message, MSG_NOSIGNAL);
}
__attribute__((section(".preinit_array"), used)) void (*const say_started)(int, char**, char**) = SendStarted;

// Tells the CUDA runtime replacement that its device is at the other end of the socket. Ahead of the
// submission's own constructors, which may call CUDA.
__attribute__((constructor(101))) void PointRuntimeAtJudge() {
  setenv("LOCKSTEP_SOCKET", std::to_string(kSocketDescriptor).c_str(), 1);
}

// NVIDIA's id of this thread's context, which changes with cudaDeviceReset. 0 without a context.
unsigned long long ContextNumber() {
  using GetNumber = int (*)(void* context, unsigned long long* number);
  static const auto get_number = [] {
    void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    return driver == nullptr ? nullptr : reinterpret_cast<GetNumber>(dlsym(driver, "cuCtxGetId"));
  }();
  unsigned long long number = 0;
  return get_number != nullptr && get_number(nullptr, &number) == 0 ? number : 0;
}

bool IsDeviceMemory(const void* pointer) {
  cudaPointerAttributes attributes;
  if (cudaPointerGetAttributes(&attributes, pointer) == cudaSuccess) return attributes.type == cudaMemoryTypeDevice;
  cudaGetLastError();  // our own error, not the launcher's
  return false;
}

// Opens the judge's memory by IPC handle: once, because opening is slow, and again after a launcher has reset the
// device.
cudaError_t OpenIpcMemory(const std::vector<uint8_t>& handle, void** base) {
  struct Opened {
    void* base;
    unsigned long long context;
  };
  static std::map<std::string, Opened> opened;
  const std::string key(handle.begin(), handle.end());
  if (const auto found = opened.find(key); found != opened.end()) {
    *base = found->second.base;
    if (found->second.context == ContextNumber() && IsDeviceMemory(*base)) return cudaSuccess;
  }
  cudaIpcMemHandle_t ipc_handle;
  static_assert(sizeof ipc_handle == kIpcHandleBytes);
  std::memcpy(&ipc_handle, handle.data(), sizeof ipc_handle);
  const cudaError_t error = cudaIpcOpenMemHandle(base, ipc_handle, cudaIpcMemLazyEnablePeerAccess);
  if (error == cudaSuccess) opened[key] = {*base, ContextNumber()};
  return error;
}

// Replaces arrays, strings and IPC handles of the call by addresses in this process.
std::string Localize(std::span<Argument> arguments) {
  for (Argument& argument : arguments) {
    switch (argument.kind) {
      case ArgumentKind::kIpcPointer: {
        void* base = nullptr;
        if (const cudaError_t error = OpenIpcMemory(argument.bytes, &base); error != cudaSuccess) {
          return std::string("cudaIpcOpenMemHandle: ") + cudaGetErrorName(error);
        }
        argument.bits += reinterpret_cast<uintptr_t>(base);
        break;
      }
      case ArgumentKind::kCString:
        argument.bytes.push_back(0);
        [[fallthrough]];
      case ArgumentKind::kHostArray:
        argument.bits = reinterpret_cast<uintptr_t>(argument.bytes.data());
        break;
      default:
        break;
    }
  }
  return "";
}

// A prepared call: its launcher, and its arguments in this process.
struct Ready {
  const Launcher* launcher = nullptr;
  std::vector<Argument> arguments;
  std::string refused;  // why it can't be made
};

Ready MakeReady(Call call) {
  Ready ready;
  ready.arguments = std::move(call.arguments);
  for (const Launcher& candidate : Launchers()) {
    if (candidate.info.name == call.launcher) ready.launcher = &candidate;
  }
  if (ready.launcher == nullptr) {
    ready.refused = "the worker has no launcher " + call.launcher;
  } else {
    ready.refused = Mismatch(ready.launcher->info, ready.arguments);
  }
  if (ready.refused.empty()) ready.refused = Localize(ready.arguments);
  return ready;
}

Returned Refuse(const std::string& why) {
  Returned returned;
  returned.refused = why;
  return returned;
}

// Waits for the device, and takes the remaining error. Our runtime does both in one function, without a trace; NVIDIA's
// has no such function.
cudaError_t FinishCall() {
  if (__cudaLockstepFinishCall != nullptr) return __cudaLockstepFinishCall();
  const cudaError_t waited = cudaDeviceSynchronize();
  const cudaError_t left = cudaGetLastError();
  return left != cudaSuccess ? left : waited;
}

// Marks the submission's code as running or not: if it ends the program meanwhile, its location is reported. Not
// available with NVIDIA's runtime.
void SetInCall(bool is_in_call) {
  if (__cudaLockstepInCall != nullptr) __cudaLockstepInCall(is_in_call ? 1 : 0);
}

// Calls the launchers in sequence, then waits for the device. Requested arrays are copied before that wait: results
// that a launcher did not wait for are missing.
Returned Run(std::span<Ready> calls, std::span<const Argument> arguments = {}) {
  Returned returned;
  SetInCall(true);
  for (const Ready& call : calls) returned.result = call.launcher->invoke(call.arguments);
  SetInCall(false);
  std::fflush(nullptr);
  for (const Argument& argument : arguments) {
    if (argument.kind == ArgumentKind::kHostArray) returned.arrays.push_back(argument.bytes);
  }
  const cudaError_t error = FinishCall();
  returned.cuda_error = error;
  if (error != cudaSuccess) returned.cuda_error_name = cudaGetErrorName(error);
  return returned;
}

Returned RunOne(Call call) {
  Ready ready = MakeReady(std::move(call));
  if (!ready.refused.empty()) return Refuse(ready.refused);
  return Run({&ready, 1}, ready.arguments);
}

int Serve() {
  Hello hello;
  for (const Launcher& launcher : Launchers()) hello.launchers.push_back(launcher.info);
  Send(kSocketDescriptor, MessageType::kHello, 0, Encode(hello));
  std::vector<Ready> batch;
  for (;;) {
    const Message message = Receive(kSocketDescriptor);
    Returned returned;
    switch (message.type) {
      case MessageType::kQuit:
        return 0;
      case MessageType::kCall:
        returned = RunOne(DecodeCall(message.payload));
        break;
      case MessageType::kCallAll: {
        std::vector<std::vector<uint8_t>> all;
        for (const auto& call : DecodeAll(message.payload)) all.push_back(Encode(RunOne(DecodeCall(call))));
        Send(kSocketDescriptor, MessageType::kReturnedAll, 0, EncodeAll(all));
        continue;
      }
      case MessageType::kPrepare:
        if ((message.flags & kContinued) == 0) batch.clear();
        batch.push_back(MakeReady(DecodeCall(message.payload)));
        returned = Refuse(batch.back().refused);
        if (!batch.back().refused.empty()) batch.pop_back();
        break;
      case MessageType::kRun: {
        const auto calls = Decoder(message.payload).Get<uint32_t>();
        if (calls > batch.size()) throw WireError("Run of more calls than were prepared");
        returned = Run(std::span(batch).first(calls));
        break;
      }
      default:
        throw WireError("unexpected " + std::string(NameOf(message.type)));
    }
    Send(kSocketDescriptor, MessageType::kReturned, 0, Encode(returned));
  }
}

}  // namespace

}  // namespace lockstep::worker

int main() {
  // The submission's output reaches the judge line by line, even if it dies.
  std::setvbuf(stdout, nullptr, _IOLBF, 1 << 16);
  try {
    return lockstep::worker::Serve();
  } catch (const lockstep::worker::WireError& error) {
    std::fprintf(stderr, "This program is a worker: the judge starts it and talks to it over descriptor 3 (%s).\n",
                 error.what());
    return lockstep::worker::kConnectionLostStatus;
  }
}
