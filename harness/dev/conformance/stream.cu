// Streams and events: flags, priorities, handles, waits, values written and waited for.
#define CONFORMANCE_CLASS "stream"
#include "ask.h"

__global__ void Empty() {}

namespace {

void Creation() {
  for (unsigned flags : {0u, 1u, 2u, 3u, 4u, 8u}) {
    for (int priority : {-1000, -100, -6, -5, -4, -1, 0, 1, 2, 1000}) {
      cudaStream_t stream = nullptr;
      const std::string name = F("f%u_p%d", flags, priority);
      Say(name, cudaStreamCreateWithPriority(&stream, flags, priority));
      if (stream == nullptr) continue;
      int read = 77;
      unsigned read_flags = 77;
      cudaStreamGetPriority(stream, &read);
      cudaStreamGetFlags(stream, &read_flags);
      Say(name + "_is", F("%u %d", read_flags, read));
      cudaLaunchAttributeValue value{};
      cudaStreamGetAttribute(stream, cudaLaunchAttributePriority, &value);
      Say(name + "_attribute", value.priority);
      Say(name + "_destroy", cudaStreamDestroy(stream));
      CUstream drv = nullptr;
      Say(name + "_drv", cuStreamCreateWithPriority(&drv, flags, priority));
    }
    cudaStream_t stream = nullptr;
    Say(F("flags%u", flags), cudaStreamCreateWithFlags(&stream, flags));
    CUstream drv = nullptr;
    Say(F("drvflags%u", flags), cuStreamCreate(&drv, flags));
  }
  Say("null", cudaStreamCreate(nullptr));
  Say("drvnull", cuStreamCreate(nullptr, 0));
}

void Handles() {
  cudaStream_t own = nullptr, blocking = nullptr;
  cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking);
  cudaStreamCreate(&blocking);
  const std::pair<const char*, cudaStream_t> streams[] = {{"null", nullptr},
                                                          {"legacy", cudaStreamLegacy},
                                                          {"perthread", cudaStreamPerThread},
                                                          {"own", own},
                                                          {"blocking", blocking}};
  cudaEvent_t event = nullptr;
  cudaEventCreate(&event);
  int* device = nullptr;
  cudaMalloc(&device, 64);
  for (const auto& [name, s] : streams) {
    unsigned flags = 77;
    int number = 77;
    unsigned long long id = 77, again = 78;
    CUcontext context = nullptr, current = nullptr;
    cuCtxGetCurrent(&current);
    Say(F("%s/flags", name), cudaStreamGetFlags(s, &flags));
    Say(F("%s/flags_are", name), flags);
    Say(F("%s/flags_null", name), cudaStreamGetFlags(s, nullptr));
    Say(F("%s/priority", name), cudaStreamGetPriority(s, &number));
    Say(F("%s/priority_is", name), number);
    Say(F("%s/priority_null", name), cudaStreamGetPriority(s, nullptr));
    Say(F("%s/id", name), cudaStreamGetId(s, &id));
    cuStreamGetId(s, &again);
    Say(F("%s/id_same", name), id == again);
    Say(F("%s/id_is", name),
        s == nullptr || s == cudaStreamLegacy || s == cudaStreamPerThread ? F("%llu", id) : std::string("own"));
    Say(F("%s/device", name), cudaStreamGetDevice(s, &number));
    Say(F("%s/device_is", name), number);
    Say(F("%s/ctx", name), cuStreamGetCtx(s, &context));
    Say(F("%s/ctx_is", name), context == current ? "current" : IsSet(context));
    Say(F("%s/query", name), cudaStreamQuery(s));
    Say(F("%s/sync", name), cudaStreamSynchronize(s));
    Say(F("%s/record", name), cudaEventRecord(event, s));
    Say(F("%s/wait", name), cudaStreamWaitEvent(s, event, 0));
    Say(F("%s/wait_flags1", name), cudaStreamWaitEvent(s, event, 1));
    Say(F("%s/wait_flags2", name), cudaStreamWaitEvent(s, event, 2));
    Say(F("%s/wait_null", name), cudaStreamWaitEvent(s, nullptr, 0));
    Say(F("%s/launch", name), (Empty<<<1, 1, 0, s>>>(), cudaGetLastError()));
    Say(F("%s/memset", name), cudaMemsetAsync(device, 0, 4, s));
    Say(F("%s/hostfunc", name), cudaLaunchHostFunc(s, [](void*) {}, nullptr));
    Say(F("%s/callback", name), cudaStreamAddCallback(s, [](cudaStream_t, cudaError_t, void*) {}, nullptr, 0));
    Say(F("%s/callback_flags1", name), cudaStreamAddCallback(s, [](cudaStream_t, cudaError_t, void*) {}, nullptr, 1));
    Say(F("%s/callback_null", name), cudaStreamAddCallback(s, nullptr, nullptr, 0));
    cudaStreamCaptureStatus status{};
    Say(F("%s/capturing", name), cudaStreamIsCapturing(s, &status));
    Say(F("%s/capturing_is", name), static_cast<int>(status));
    Say(F("%s/copyattributes", name), cudaStreamCopyAttributes(own, s));
    for (unsigned flag : {0u, 1u, 2u, 3u}) {
      Say(F("%s/write%u", name, flag), cuStreamWriteValue32(s, Dev(device), 5, flag));
      Say(F("%s/write64_%u", name, flag), cuStreamWriteValue64(s, Dev(device), 5, flag));
    }
    for (unsigned flag : {0u, 1u, 2u, 3u, 4u}) {
      const unsigned value = flag == 2 ? 1 : flag == 3 ? 0 : 5;
      Say(F("%s/waitvalue%u", name, flag), cuStreamWaitValue32(s, Dev(device), value, flag));
    }
    cuStreamWaitValue64(s, Dev(device), 0, CU_STREAM_WAIT_VALUE_GEQ);  // two words, of which the first was written
    Say(F("%s/write_misaligned", name), cuStreamWriteValue32(s, Dev(device) + 1, 5, 0));
    Say(F("%s/write_null", name), cuStreamWriteValue32(s, 0, 5, 0));
    Say(F("%s/end", name), cudaStreamSynchronize(s));
    int written = 0;
    cudaMemcpy(&written, device, 4, cudaMemcpyDeviceToHost);
    Say(F("%s/written", name), written);
    CUstreamBatchMemOpParams op{};
    op.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
    op.writeValue.address = Dev(device);
    op.writeValue.value = 9;
    Say(F("%s/batch0", name), cuStreamBatchMemOp(s, 0, &op, 0));
    Say(F("%s/batch1", name), cuStreamBatchMemOp(s, 1, &op, 0));
    Say(F("%s/batch_flags1", name), cuStreamBatchMemOp(s, 1, &op, 1));
    Say(F("%s/batchsync", name), cudaStreamSynchronize(s));
    if (s != own && s != blocking) Say(F("%s/destroy", name), cudaStreamDestroy(s));
  }
  Say("destroy", cudaStreamDestroy(own));
  Say("drvdestroy_null", cuStreamDestroy(nullptr));
  Say("id_null", cudaStreamGetId(blocking, nullptr));
}

void Events() {
  cudaStream_t stream = nullptr;
  cudaStreamCreate(&stream);
  for (unsigned flags = 0; flags <= 9; ++flags) {
    cudaEvent_t event = nullptr, second = nullptr;
    const std::string name = F("f%u", flags);
    Say(name, cudaEventCreateWithFlags(&event, flags));
    CUevent drv = nullptr;
    Say(name + "/drv", cuEventCreate(&drv, flags));
    if (event == nullptr) continue;
    cudaEventCreate(&second);
    float ms = -1;
    Say(name + "/query_unrecorded", cudaEventQuery(event));
    Say(name + "/sync_unrecorded", cudaEventSynchronize(event));
    Say(name + "/elapsed_unrecorded", cudaEventElapsedTime(&ms, event, event));
    Say(name + "/elapsed_second_unrecorded",
        (cudaEventRecord(event, stream), cudaEventElapsedTime(&ms, event, second)));
    Say(name + "/wait_unrecorded", cudaStreamWaitEvent(stream, second, 0));
    Say(name + "/record", cudaEventRecord(event, stream));
    for (unsigned how : {0u, 1u, 2u})
      Say(name + F("/recordflags%u", how), cudaEventRecordWithFlags(event, stream, how));
    Say(name + "/sync", cudaEventSynchronize(event));
    Say(name + "/query", cudaEventQuery(event));
    Say(name + "/elapsed", cudaEventElapsedTime(&ms, event, event));
    cudaEventRecord(second, stream);
    cudaEventSynchronize(second);
    Say(name + "/elapsed_plain", cudaEventElapsedTime(&ms, event, second));
    Say(name + "/elapsed_null", cudaEventElapsedTime(nullptr, second, second));
    Say(name + "/elapsed_ofnull", cudaEventElapsedTime(&ms, nullptr, second));
    cudaIpcEventHandle_t handle;
    Say(name + "/ipc", cudaIpcGetEventHandle(&handle, event));
    Say(name + "/destroy", cudaEventDestroy(event));
  }
  Say("create_null", cudaEventCreate(nullptr));
  Say("destroy_null", cudaEventDestroy(nullptr));
  Say("record_null", cudaEventRecord(nullptr, stream));
  Say("query_null", cudaEventQuery(nullptr));
  Say("sync_null", cudaEventSynchronize(nullptr));
  Say("drvdestroy_null", cuEventDestroy(nullptr));
  Say("drvrecord_null", cuEventRecord(nullptr, stream));
}

}  // namespace

void AddCases(Cases& cases) {
  cases("create", [] { Start(), Creation(); });
  cases("handle", [] { Start(), Handles(); });
  cases("event", [] { Start(), Events(); });
}
