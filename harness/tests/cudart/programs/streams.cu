// Scenarios for streams, each in a right and a wrong form, which differ in what orders their operations. `program
// list` names the scenarios; `program NAME right|wrong` runs one form of a scenario, of which only the wrong one
// races.
#include <atomic>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>

#include "streams_fixture.h"
#include "streams_graphs.h"

void Producer(Fixture& f, bool right) {
  Fill<<<kBlocks, kBlock, 0, f.s1>>>(f.a, 5);
  if (right) f.Order(f.s1, f.s2);
  Add<<<kBlocks, kBlock, 0, f.s2>>>(f.b, f.a);
}
void HostBetween(Fixture& f, bool right) {
  Fill<<<kBlocks, kBlock, 0, f.s1>>>(f.a, 5);
  CHECK(cudaStreamSynchronize(right ? f.s1 : f.s2));
  Add<<<kBlocks, kBlock, 0, f.s2>>>(f.b, f.a);
}
void QueryBetween(Fixture& f, bool right) {
  Fill<<<kBlocks, kBlock, 0, f.s1>>>(f.a, 5);
  while (cudaStreamQuery(right ? f.s1 : f.s3) == cudaErrorNotReady) std::this_thread::yield();
  Add<<<kBlocks, kBlock, 0, f.s2>>>(f.b, f.a);
}
void EventOfAnother(Fixture& f, bool right) {
  Fill<<<kBlocks, kBlock, 0, f.s1>>>(f.a, 5);
  CHECK(cudaEventRecord(f.event, f.s1));
  CHECK(cudaEventRecord(f.other_event, f.s3));
  CHECK(cudaEventSynchronize(right ? f.event : f.other_event));
  Add<<<kBlocks, kBlock, 0, f.s2>>>(f.b, f.a);
}
void EventTooEarly(Fixture& f, bool right) {
  if (!right) CHECK(cudaEventRecord(f.event, f.s1));
  Fill<<<kBlocks, kBlock, 0, f.s1>>>(f.a, 5);
  if (right) CHECK(cudaEventRecord(f.event, f.s1));
  CHECK(cudaStreamWaitEvent(f.s2, f.event));
  Add<<<kBlocks, kBlock, 0, f.s2>>>(f.b, f.a);
}
void WaitTooLate(Fixture& f, bool right) {
  Fill<<<kBlocks, kBlock, 0, f.s1>>>(f.a, 5);
  CHECK(cudaEventRecord(f.event, f.s1));
  if (right) CHECK(cudaStreamWaitEvent(f.s2, f.event));
  Add<<<kBlocks, kBlock, 0, f.s2>>>(f.b, f.a);
  if (!right) CHECK(cudaStreamWaitEvent(f.s2, f.event));
}
void MemsetBesideNonBlocking(Fixture& f, bool right) {
  CHECK(cudaMemset(f.a, 0, kBytes));
  Add<<<kBlocks, kBlock, 0, right ? f.s1 : f.loose>>>(f.b, f.a);
}
void DefaultBehindNonBlocking(Fixture& f, bool right) {
  static int result[kInts];
  Fill<<<kBlocks, kBlock, 0, right ? f.s1 : f.loose>>>(f.a, 5);
  CHECK(cudaMemcpy(result, f.a, kBytes, cudaMemcpyDeviceToHost));
}
void NonBlockingBehindDefault(Fixture& f, bool right) {
  Fill<<<kBlocks, kBlock>>>(f.a, 5);
  if (right) CHECK(cudaStreamSynchronize(nullptr));
  Add<<<kBlocks, kBlock, 0, f.loose>>>(f.b, f.a);
}
void CopyOnDevice(Fixture& f, bool right) {
  // Such a copy is asynchronous though its name does not say so.
  CHECK(cudaMemcpy(f.a, f.c, kBytes, cudaMemcpyDeviceToDevice));
  if (right) CHECK(cudaDeviceSynchronize());
  Add<<<kBlocks, kBlock, 0, f.loose>>>(f.b, f.a);
}
void SourceChanged(Fixture& f, bool right) {
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < kInts; ++i) f.pinned[i] = round * 100 + i;
    CHECK(cudaMemcpyAsync(f.a, f.pinned, kBytes, cudaMemcpyHostToDevice, f.s1));
    Add<<<kBlocks, kBlock, 0, f.s1>>>(f.b, f.a);
    if (right) CHECK(cudaStreamSynchronize(f.s1));
  }
}
void PageableSourceChanged(Fixture& f, bool right) {
  // The call makes its own copy of pageable memory.
  static int pageable[kInts];
  int* const source = right ? pageable : f.pinned;
  for (int i = 0; i < kInts; ++i) source[i] = i;
  CHECK(cudaMemcpyAsync(f.a, source, kBytes, cudaMemcpyHostToDevice, f.s1));
  for (int i = 0; i < kInts; ++i) source[i] = -i;
}
void RegisteredSourceChanged(Fixture& f, bool right) {
  static int memory[kInts];
  CHECK(cudaHostRegister(memory, kBytes, cudaHostRegisterDefault));
  CHECK(cudaMemcpyAsync(f.a, memory, kBytes, cudaMemcpyHostToDevice, f.s1));
  if (right) CHECK(cudaStreamSynchronize(f.s1));
  memory[17] = 4711;
  CHECK(cudaStreamSynchronize(f.s1));
  CHECK(cudaHostUnregister(memory));
}
void ResultFreed(Fixture& f, bool right) {
  CHECK(cudaMemcpyAsync(f.pinned, f.a, kBytes, cudaMemcpyDeviceToHost, f.s1));
  if (right) CHECK(cudaStreamSynchronize(f.s1));
  CHECK(cudaFreeHost(f.pinned));
  f.pinned = nullptr;
}
void InPlaceRoundTrip(Fixture& f, bool right) {
  // One host buffer is the source of the first copy and the destination of the last.
  CHECK(cudaMemcpyAsync(f.a, f.pinned, kBytes, cudaMemcpyHostToDevice, f.s1));
  Add<<<kBlocks, kBlock, 0, f.s1>>>(f.b, f.a);
  CHECK(cudaMemcpyAsync(f.pinned, f.b, kBytes, cudaMemcpyDeviceToHost, right ? f.s1 : f.s2));
}
void OneBufferTwoStreams(Fixture& f, bool right) {
  cudaStream_t streams[] = {f.s1, f.s2};
  int* buffers[] = {f.a, f.b};
  for (int k = 0; k < 2; ++k) {
    int* const buffer = right ? buffers[k] : f.a;
    CHECK(cudaMemcpyAsync(buffer, f.pinned, kBytes, cudaMemcpyHostToDevice, streams[k]));
    Add<<<kBlocks, kBlock, 0, streams[k]>>>(buffer, buffer);
  }
}
void ChunksThatOverlap(Fixture& f, bool right) {
  // The second chunk begins at an odd byte.
  char* const bytes = reinterpret_cast<char*>(f.a);
  const int half = 1001;
  FillBytes<<<8, 256, 0, f.s1>>>(bytes, 1, right ? half : half + 1);
  FillBytes<<<8, 256, 0, f.s2>>>(bytes + half, 2, half);
}
void ResultsInOnePlace(Fixture& f, bool right) {
  CHECK(cudaMemcpyAsync(f.pinned, f.a, kBytes / 2, cudaMemcpyDeviceToHost, f.s1));
  CHECK(cudaMemcpyAsync(f.pinned + (right ? kInts / 2 : 10), f.b, kBytes / 2, cudaMemcpyDeviceToHost, f.s2));
}
void Columns(Fixture& f, bool right) {
  const size_t pitch = 10 * sizeof(int), width = 5 * sizeof(int);
  char* const a = reinterpret_cast<char*>(f.a);
  CHECK(cudaMemset2DAsync(a, pitch, 1, width, 100, f.s1));
  CHECK(cudaMemset2DAsync(a + (right ? width : width - 1), pitch, 2, width, 100, f.s2));
}
void FreedInAnotherStream(Fixture& f, bool right) {
  int* memory = nullptr;
  CHECK(cudaMallocAsync(&memory, kBytes, f.s1));
  Fill<<<kBlocks, kBlock, 0, f.s1>>>(memory, 1);
  if (right) f.Order(f.s1, f.s2);
  CHECK(cudaFreeAsync(memory, f.s2));
}
void AllocatedInAnotherStream(Fixture& f, bool right) {
  int* memory = nullptr;
  CHECK(cudaMallocAsync(&memory, kBytes, f.s1));
  if (right) f.Order(f.s1, f.s2);
  Fill<<<kBlocks, kBlock, 0, f.s2>>>(memory, 1);
  CHECK(cudaStreamSynchronize(f.s2));
  CHECK(cudaFreeAsync(memory, f.s2));
}
void Counters(Fixture& f, bool right) {
  unsigned* const total = reinterpret_cast<unsigned*>(f.a);
  Count<<<1, 32, 0, f.s1>>>(total, right);
  Count<<<1, 32, 0, f.s2>>>(total, right);
}
void Readers(Fixture& f, bool right) {
  Add<<<kBlocks, kBlock, 0, f.s1>>>(f.b, f.a);
  Add<<<kBlocks, kBlock, 0, f.s2>>>(right ? f.c : f.b, f.a);
  if (!right) Fill<<<kBlocks, kBlock, 0, f.s3>>>(f.a, 9);
}
void SymbolBeside(Fixture& f, bool right) {
  const int two = 2;
  CHECK(cudaMemcpyToSymbolAsync(factor, &two, sizeof two, 0, cudaMemcpyHostToDevice, f.s1));
  Scale<<<kBlocks, kBlock, 0, right ? f.s1 : f.s2>>>(f.b, f.a);
}
const int kTwo = 2;
void ConstantBeside(Fixture& f, bool right) {
  CHECK(cudaMemcpyToSymbolAsync(table, &kTwo, sizeof kTwo, 0, cudaMemcpyHostToDevice, f.s1));
  if (right) f.Order(f.s1, f.s2);
  ScaleByTable<<<kBlocks, kBlock, 0, f.s2>>>(f.b, f.a, 0);
}
void ConstantChangedTooEarly(Fixture& f, bool right) {
  // The copy is in the default stream, so it waits only for blocking streams.
  ScaleByTable<<<kBlocks, kBlock, 0, right ? f.s1 : f.loose>>>(f.b, f.a, 0);
  CHECK(cudaMemcpyToSymbol(table, &kTwo, sizeof kTwo));
}
void ConstantForTheNext(Fixture& f, bool right) {
  // The host waits for each copy. The forms differ in whether the second copy is ordered after the first kernel.
  const cudaStream_t stream = right ? f.s1 : f.loose;
  for (int round = 0; round < 2; ++round) {
    CHECK(cudaMemcpyToSymbol(table, &round, sizeof round));
    ScaleByTable<<<kBlocks, kBlock, 0, stream>>>(f.b, f.a, 0);
  }
}
void ConstantOfAnother(Fixture& f, bool right) {
  ScaleByTable<<<kBlocks, kBlock, 0, f.loose>>>(f.b, f.a, right ? 1 : 0);
  CHECK(cudaMemcpyToSymbol(table, &kTwo, sizeof kTwo));
}
void ConstantInFunction(Fixture& f, bool right) {
  // The kernel names the variable in both forms, but reads it only in the wrong one.
  ScaleByFunction<<<kBlocks, kBlock, 0, f.loose>>>(f.b, f.a, !right);
  CHECK(cudaMemcpyToSymbol(table, &kTwo, sizeof kTwo));
}
void ConstantByAddress(Fixture& f, bool right) {
  int* at = nullptr;
  CHECK(cudaGetSymbolAddress(reinterpret_cast<void**>(&at), table));
  CHECK(cudaMemcpyAsync(at, f.c, sizeof table, cudaMemcpyDeviceToDevice, f.s1));
  if (right) CHECK(cudaStreamSynchronize(f.s1));
  Add<<<1, 32, 0, f.s2>>>(f.b, at, 2);
}
void Chain(Fixture& f, bool right) {
  Fill<<<kBlocks, kBlock, 0, f.s1>>>(f.a, 5);
  if (right) f.Order(f.s1, f.s2);
  CHECK(cudaEventRecord(f.other_event, f.s2));
  CHECK(cudaStreamWaitEvent(f.s3, f.other_event));
  Add<<<kBlocks, kBlock, 0, f.s3>>>(f.b, f.a);
}
void ForkAndJoin(Fixture& f, bool right) {
  Fill<<<kBlocks, kBlock, 0, f.s1>>>(f.a, 5);
  f.Order(f.s1, f.s2);
  Add<<<kBlocks, kBlock, 0, f.s1>>>(f.b, f.a);
  Add<<<kBlocks, kBlock, 0, f.s2>>>(f.c, f.a);
  if (right) f.Order(f.s2, f.s1);
  Add<<<kBlocks, kBlock, 0, f.s1>>>(f.b, f.c);
}
void DefaultJoinsBlocking(Fixture& f, bool right) {
  Fill<<<kBlocks, kBlock, 0, f.s1>>>(f.a, 5);
  // An operation in the default stream is ordered between those of blocking streams; one in another stream is not.
  Flag<<<1, 1, 0, right ? nullptr : f.s3>>>(f.c, 1);
  Add<<<kBlocks, kBlock, 0, f.s2>>>(f.b, f.a);
}
void Mapped(Fixture& f, bool right) {
  Fill<<<kBlocks, kBlock, 0, f.s1>>>(f.pinned, 5);
  if (right) f.Order(f.s1, f.s2);
  Add<<<kBlocks, kBlock, 0, f.s2>>>(f.b, f.pinned);
}
void StreamDestroyed(Fixture& f, bool right) {
  // Destroying a stream does not wait for its work.
  Fill<<<kBlocks, kBlock, 0, f.s1>>>(f.a, 5);
  if (right) CHECK(cudaStreamSynchronize(f.s1));
  CHECK(cudaStreamDestroy(f.s1));
  f.s1 = nullptr;
  Add<<<kBlocks, kBlock, 0, f.s2>>>(f.b, f.a);
}
void SameFlag(Fixture& f, bool right) {
  Flag<<<1, 1, 0, f.s1>>>(f.a, 1);
  Flag<<<1, 1, 0, f.s2>>>(f.a, right ? 1 : 2);
}
void MallocBetween(Fixture& f, bool right) {
  Fill<<<kBlocks, kBlock, 0, f.s1>>>(f.a, 5);
  int* memory = nullptr;
  // cudaMalloc is ordered between the work of all streams; cudaMallocAsync is not.
  CHECK(right ? cudaMalloc(&memory, kBytes) : cudaMallocAsync(&memory, kBytes, f.s3));
  Add<<<kBlocks, kBlock, 0, f.s2>>>(f.b, f.a);
  CHECK(cudaFree(memory));
}
struct CallbackData {
  int* pinned;
  int seen;
};
void HostFunction(Fixture& f, bool right) {
  // A host function of the stream finds what was copied before it.
  static CallbackData data;
  data = {f.pinned, 0};
  Fill<<<kBlocks, kBlock, 0, f.s1>>>(f.a, 41);
  CHECK(cudaMemcpyAsync(f.pinned, f.a, kBytes, cudaMemcpyDeviceToHost, right ? f.s1 : f.s2));
  CHECK(cudaLaunchHostFunc(
      f.s1,
      [](void* pointer) {
        auto* const given = static_cast<CallbackData*>(pointer);
        given->seen = given->pinned[1];
      },
      &data));
  CHECK(cudaStreamSynchronize(f.s1));
  if (right && data.seen != 42) std::printf("the host function saw %d\n", data.seen);
}
void RefilledByHostFunction(Fixture& f, bool right) {
  // A host function of the stream finds that copies before it have read their source.
  static CallbackData data;
  data = {f.pinned, 0};
  CHECK(cudaMemcpyAsync(f.a, f.pinned, kBytes, cudaMemcpyHostToDevice, f.s1));
  CHECK(cudaLaunchHostFunc(
      right ? f.s1 : f.s2,
      [](void* pointer) {
        auto* const given = static_cast<CallbackData*>(pointer);
        for (int i = 0; i < kInts; ++i) given->pinned[i] = i;
      },
      &data));
  CHECK(cudaMemcpyAsync(f.b, f.pinned, kBytes, cudaMemcpyHostToDevice, right ? f.s1 : f.s2));
}
void FilledAndFreed(Fixture& f, bool right) {
  CHECK(cudaMemsetAsync(f.pinned, 1, kBytes, f.s1));
  if (right) CHECK(cudaStreamSynchronize(f.s1));
  CHECK(cudaFreeHost(f.pinned));
  f.pinned = nullptr;
}
void SourceFreed(Fixture& f, bool right) {
  CHECK(cudaMemcpyAsync(f.a, f.pinned, kBytes, cudaMemcpyHostToDevice, f.s1));
  if (right) CHECK(cudaStreamSynchronize(f.s1));
  CHECK(cudaFreeHost(f.pinned));
  f.pinned = nullptr;
}
void SourceUnregistered(Fixture& f, bool right) {
  static int memory[kInts];
  CHECK(cudaHostRegister(memory, kBytes, cudaHostRegisterDefault));
  CHECK(cudaMemcpyAsync(f.a, memory, kBytes, cudaMemcpyHostToDevice, f.s1));
  CHECK(cudaStreamSynchronize(right ? f.s1 : f.s2));
  CHECK(cudaHostUnregister(memory));
}
// The function may run after its caller has returned.
__attribute__((noinline)) void CountLater(Fixture& f, bool waits) {
  int calls = 0;
  CHECK(cudaLaunchHostFunc(f.s1, [](void* data) { ++*static_cast<int*>(data); }, &calls));
  if (waits) CHECK(cudaStreamSynchronize(f.s1));
}
void ArgumentGone(Fixture& f, bool right) {
  CountLater(f, right);
  CHECK(cudaStreamSynchronize(f.s1));
}
__attribute__((noinline)) void CallBackLater(Fixture& f, int* calls) {
  int own = 0;
  CHECK(cudaStreamAddCallback(
      f.s1, [](cudaStream_t, cudaError_t, void* data) { ++*static_cast<int*>(data); }, calls != nullptr ? calls : &own,
      0));
}
void CallbacksArgumentGone(Fixture& f, bool right) {
  int calls = 0;
  CallBackLater(f, right ? &calls : nullptr);
  CHECK(cudaStreamSynchronize(f.s1));
}
// Host functions of one stream may change their common argument; the host may not change it for the next call.
void ArgumentUsedAgain(Fixture& f, bool right) {
  int calls = 0;
  for (int k = 0; k < 2; ++k) {
    if (!right) calls = 10 * k;
    CHECK(cudaLaunchHostFunc(f.s1, [](void* data) { ++*static_cast<int*>(data); }, &calls));
  }
  CHECK(cudaStreamSynchronize(f.s1));
}
void FilledAndRead(Fixture& f, bool right) {
  CHECK(cudaMemsetAsync(f.pinned, 1, kBytes, f.s1));
  if (right) f.Order(f.s1, f.s2);
  Add<<<kBlocks, kBlock, 0, f.s2>>>(f.a, f.pinned);
}

struct Scenario {
  const char* name;
  void (*run)(Fixture& f, bool right);
};
#define SCENARIO(function) {#function, function}
constexpr Scenario kScenarios[] = {
    SCENARIO(SourceFreed),
    SCENARIO(SourceUnregistered),
    SCENARIO(ArgumentGone),
    SCENARIO(CallbacksArgumentGone),
    SCENARIO(ArgumentUsedAgain),
    SCENARIO(Producer),
    SCENARIO(HostBetween),
    SCENARIO(QueryBetween),
    SCENARIO(EventOfAnother),
    SCENARIO(EventTooEarly),
    SCENARIO(WaitTooLate),
    SCENARIO(MemsetBesideNonBlocking),
    SCENARIO(DefaultBehindNonBlocking),
    SCENARIO(NonBlockingBehindDefault),
    SCENARIO(CopyOnDevice),
    SCENARIO(SourceChanged),
    SCENARIO(PageableSourceChanged),
    SCENARIO(RegisteredSourceChanged),
    SCENARIO(ResultFreed),
    SCENARIO(InPlaceRoundTrip),
    SCENARIO(OneBufferTwoStreams),
    SCENARIO(ChunksThatOverlap),
    SCENARIO(ResultsInOnePlace),
    SCENARIO(Columns),
    SCENARIO(FreedInAnotherStream),
    SCENARIO(AllocatedInAnotherStream),
    SCENARIO(Counters),
    SCENARIO(Readers),
    SCENARIO(SymbolBeside),
    SCENARIO(ConstantBeside),
    SCENARIO(ConstantChangedTooEarly),
    SCENARIO(ConstantForTheNext),
    SCENARIO(ConstantOfAnother),
    SCENARIO(ConstantInFunction),
    SCENARIO(ConstantByAddress),
    SCENARIO(Chain),
    SCENARIO(ForkAndJoin),
    SCENARIO(DefaultJoinsBlocking),
    SCENARIO(Mapped),
    SCENARIO(StreamDestroyed),
    SCENARIO(SameFlag),
    SCENARIO(MallocBetween),
    SCENARIO(HostFunction),
    SCENARIO(RefilledByHostFunction),
    SCENARIO(FilledAndFreed),
    SCENARIO(FilledAndRead),
    SCENARIO(GraphTwice),
    SCENARIO(GraphsSourceChanged),
    SCENARIO(GraphsResultFreed),
    SCENARIO(GraphBranches),
    SCENARIO(GraphBesideStream),
    SCENARIO(GraphWithin),
    SCENARIO(GraphBesideOneWithin),
};

// What the host sees of a copy to page-locked memory, before and after the wait.
int ShowArrival() {
  Fixture f;
  Fill<<<kBlocks, kBlock, 0, f.s1>>>(f.a, 100);
  CHECK(cudaMemcpyAsync(f.pinned, f.a, kBytes, cudaMemcpyDeviceToHost, f.s1));
  volatile int* const seen = f.pinned;
  std::printf("copied, not waited: %s\n", seen[7] == 107 ? "arrived" : "not arrived");
  CHECK(cudaStreamSynchronize(f.s2));
  std::printf("waited for another stream: %s\n", seen[7] == 107 ? "arrived" : "not arrived");
  CHECK(cudaStreamSynchronize(f.s1));
  std::printf("waited: %s\n", seen[7] == 107 ? "arrived" : "not arrived");
  CHECK(cudaMemsetAsync(f.pinned, 1, kBytes, f.s1));
  std::printf("filled, not waited: %s\n", seen[7] == 0x01010101 ? "arrived" : "not arrived");
  Add<<<kBlocks, kBlock, 0, f.s1>>>(f.b, f.pinned);
  CHECK(cudaMemcpy(f.pinned2, f.b, kBytes, cudaMemcpyDeviceToHost));
  std::printf("read by the next kernel: %s\n", f.pinned2[7] == 0x01010102 ? "arrived" : "not arrived");
  static int pageable[kInts];
  CHECK(cudaMemcpyAsync(pageable, f.a, kBytes, cudaMemcpyDeviceToHost, f.s1));
  std::printf("to pageable memory: %s\n", pageable[7] == 107 ? "arrived" : "not arrived");
  return 0;
}

// Kernels use registered memory: the host sees their writes after the wait, and the next kernel sees the host's.
int ShowRegistered() {
  Fixture f;
  static int memory[kInts], result[kInts];
  for (int i = 0; i < kInts; ++i) memory[i] = -i;
  CHECK(cudaHostRegister(memory, kBytes, cudaHostRegisterMapped));
  int* on_device = nullptr;
  CHECK(cudaHostGetDevicePointer(&on_device, memory, 0));
  int* inside = nullptr;
  CHECK(cudaHostGetDevicePointer(&inside, memory + 500, 0));
  std::printf("within: %d\n", static_cast<int>(inside - on_device));
  Add<<<kBlocks, kBlock, 0, f.s1>>>(f.a, on_device);
  Fill<<<kBlocks, kBlock, 0, f.s1>>>(on_device, 100, 500);
  std::printf("not waited: %d\n", memory[7]);
  CHECK(cudaStreamSynchronize(f.s1));
  std::printf("waited: %d %d\n", memory[7], memory[600]);
  CHECK(cudaMemcpy(result, f.a, kBytes, cudaMemcpyDeviceToHost));
  std::printf("read by the kernel: %d\n", result[7]);
  memory[8] = 4000;
  Add<<<kBlocks, kBlock, 0, f.s1>>>(f.b, on_device);
  CHECK(cudaMemcpy(result, f.b, kBytes, cudaMemcpyDeviceToHost));
  std::printf("changed by the host: %d %d\n", result[7], result[8]);
  CHECK(cudaHostUnregister(memory));
  return 0;
}

// Which errors a host function gets from its own CUDA calls.
int ShowCallsWithin() {
  Fixture f;
  static cudaError_t errors[4];
  CHECK(cudaLaunchHostFunc(
      f.s1,
      [](void*) {
        void* memory = nullptr;
        errors[0] = cudaMalloc(&memory, 4);
        errors[1] = cudaDeviceSynchronize();
        errors[2] = cudaGetLastError();
      },
      nullptr));
  CHECK(cudaStreamSynchronize(f.s1));
  CHECK(cudaStreamAddCallback(
      f.s1, [](cudaStream_t stream, cudaError_t, void*) { errors[3] = cudaStreamQuery(stream); }, nullptr, 0));
  CHECK(cudaStreamSynchronize(f.s1));
  for (const cudaError_t error : errors) std::printf("%s\n", cudaGetErrorName(error));
  return 0;
}

// When the host sees what a host function stores: after a wait for it, or after a while.
int ShowWhenItSees() {
  Fixture f;
  std::atomic<int> calls = 0;
  const auto put = [&] {
    CHECK(cudaLaunchHostFunc(f.s1, [](void* count) { ++*static_cast<std::atomic<int>*>(count); }, &calls));
  };
  int early = 1;
  for (int tries = 0; tries < 100 && early > 0; ++tries) {  // again if a busy machine took a while
    calls = 0;
    put();
    CHECK(cudaStreamSynchronize(f.s2));
    early = calls;
    CHECK(cudaStreamSynchronize(f.s1));
  }
  std::printf("another stream: %d, waited: %d", early, calls.load());
  put();
  while (calls < 2) std::this_thread::yield();
  std::printf(", by itself: %d", calls.load());
  put();
  Fill<<<kBlocks, kBlock, 0, f.s1>>>(f.a, 1);
  std::printf(", behind it: %d\n", calls.load());
  return 0;
}

// Two devices with no streams but their default streams. cudaMemcpyPeer is ordered with all work of both devices;
// cudaMemcpyPeerAsync is work of the current one.
int CopyToPeer(bool right) {
  int *a, *b;
  CHECK(cudaSetDevice(1));
  CHECK(cudaMalloc(&b, kBytes));
  CHECK(cudaSetDevice(0));
  CHECK(cudaMalloc(&a, kBytes));
  Fill<<<kBlocks, kBlock>>>(a, 5);
  CHECK(right ? cudaMemcpyPeer(b, 1, a, 0, kBytes) : cudaMemcpyPeerAsync(b, 1, a, 0, kBytes));
  CHECK(cudaSetDevice(1));
  Add<<<kBlocks, kBlock>>>(b, b);
  CHECK(cudaDeviceSynchronize());
  return 0;
}

int main(int argc, char** argv) {
  const std::string name = argc > 1 ? argv[1] : "list";
  if (name == "peer") return CopyToPeer(std::strcmp(argv[2], "right") == 0);
  if (name == "arrival") return ShowArrival();
  if (name == "registered") return ShowRegistered();
  if (name == "calls_within") return ShowCallsWithin();
  if (name == "sees") return ShowWhenItSees();
  for (const Scenario& scenario : kScenarios) {
    if (name == "list") {
      std::printf("%s\n", scenario.name);
    } else if (name == scenario.name && argc > 2) {
      Fixture fixture;
      scenario.run(fixture, std::strcmp(argv[2], "right") == 0);
    }
  }
  return 0;
}
