// Work of host libraries: see library_call.h.
#include "vgpu/cudart/libraries/library_call.h"

#include "vgpu/core/float_environment.h"
#include "vgpu/cudart/graph.h"
#include "vgpu/cudart/report/call_site.h"
#include "vgpu/cudart/work.h"

namespace lockstep::vgpu::cudart {

namespace {

// The library's functions and data for one call, kept as long as a graph may run the call again.
class Callbacks {
 public:
  explicit Callbacks(const LockstepLibraryCall& call) : call_(call) {}
  ~Callbacks() { call_.release(call_.data); }
  Callbacks(const Callbacks&) = delete;
  Callbacks& operator=(const Callbacks&) = delete;
  bool Touches(LockstepMemory& memory) const { return call_.touches(call_.data, &memory); }
  void Run() const {
    const DefaultFloatEnvironment environment;
    call_.run(call_.data);
  }

 private:
  const LockstepLibraryCall call_;
};

struct TouchedMemory : LockstepMemory {
  LibraryLaunch* launch = nullptr;
};

bool Touch(LockstepMemory* self, const LockstepRows* rows) {
  return static_cast<TouchedMemory*>(self)->launch->Touch({rows->what, reinterpret_cast<uintptr_t>(rows->address),
                                                           rows->width, rows->rows, rows->pitch, rows->element,
                                                           rows->reads, rows->writes});
}

LibraryWork WorkOf(Runtime& r, const LockstepLibraryCall& call, std::shared_ptr<Callbacks> callbacks) {
  LibraryWork work;
  work.function = {call.function, r.OriginWithCallSite().call_site, call.operations,
                   static_cast<Arithmetic>(call.arithmetic)};
  work.body = [callbacks = std::move(callbacks)](LibraryLaunch& launch) {
    TouchedMemory memory;
    memory.touch = Touch;
    memory.launch = &launch;
    if (callbacks->Touches(memory)) callbacks->Run();
  };
  return work;
}

}  // namespace

void PerformLibrary(Runtime& r, const LibraryWork& work, Stream& stream) {
  if (r.faulted()) return;
  StreamOperation operation(r, stream, false);
  const HostMemoryInUse host_memory(r, operation.point());
  operation.Begin();
  const LaunchResult result =
      work.operation ? r.backend().DoOperation(*work.operation, {work.function.name.c_str(), work.function.call_site})
                     : r.backend().CallLibrary(work.function, work.body);
  operation.End();
  r.timeline().Enqueue(stream, result.microseconds, {"library", work.function.name});
  if (result.error != LaunchError::kNone) r.SetPending(ErrorOf(result.error));
}

}  // namespace lockstep::vgpu::cudart

using namespace lockstep::vgpu::cudart;

extern "C" {

cudaError_t lockstep_call_library(const LockstepLibraryCall* call) {
  const auto callbacks = std::make_shared<Callbacks>(*call);
  const lockstep::libraries::CalledAs called(call->function);
  const cudaError_t last = LastError();
  const cudaError_t error = Api(call->function, [&](Runtime& r) {
    if (HasJudge()) NotSupported("libraries in submissions: write the kernel yourself");
    Stream& stream = r.StreamForWork(call->stream);
    if (call->waits && stream.point.capture != nullptr) Spoil(stream, cudaErrorStreamCaptureUnsupported);
    // A fault of this call's own work is met by a later call, unless this one waits.
    const bool was_lost = r.faulted();
    Submit(r, WorkOf(r, *call, callbacks), call->stream);
    if (was_lost || (call->waits && r.faulted())) throw ApiError{cudaErrorLaunchFailure};
    if (call->waits) r.timeline().Synchronize(stream);
  });
  LastError() = last;
  return error;
}

cudaError_t lockstep_do_operation(const char* function, cudaStream_t stream,
                                  const lockstep::vgpu::LibraryOperation* operation) {
  const lockstep::libraries::CalledAs called(function);
  const cudaError_t last = LastError();
  const cudaError_t error = Api(function, [&](Runtime& r) {
    if (const std::string why = lockstep::vgpu::WhyNot(*operation); !why.empty()) NotSupported(why);
    LibraryWork work;
    work.function = {function, r.OriginWithCallSite().call_site};
    work.operation = *operation;
    Submit(r, std::move(work), stream);
    if (r.faulted()) throw ApiError{cudaErrorLaunchFailure};
  });
  LastError() = last;
  return error;
}

void lockstep_refuse(const char* library, const char* function, const char* what) {
  const lockstep::libraries::CalledAs called(function);
  const cudaError_t last = LastError();
  Api(function, Faults::kNone,
      [&](Runtime&) { NotSupported((what != nullptr ? what : "this function") + std::string(" of ") + library); });
  LastError() = last;
}

void lockstep_say(const char* function, const char* sentence) {
  Say(std::string(function) + AtCallSite() + ": " + sentence);
}

const char* lockstep_called_as(const char* function) { return std::exchange(CalledAs(), function); }

}  // extern "C"
