// Kernels that wait for the host, and for each other. side_by_side.h100.txt is this program's output on a machine with
// one H100. The first argument bounds each wait in a kernel, in clock cycles; 0, usual on the virtual GPU, means no
// bound. With a second argument the program does one thing that does not end well:
//   exit     ends while a kernel waits
//   endless  waits for a kernel that waits in vain
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

#include "check.h"

long long most = 0;  // clock cycles that a kernel may wait

__device__ bool Waits(const volatile int* flag, int value, long long most) {
  const long long begin = most > 0 ? clock64() : 0;
  while (*flag != value) {
    if (most > 0 && clock64() - begin > most) return false;
  }
  return true;
}

__global__ void WaitThenStore(const volatile int* flag, int value, int* to, int stored, long long most) {
  const bool came = Waits(flag, value, most);
  __threadfence_system();
  *to = came ? stored : -1;
  __threadfence_system();
}
__global__ void Store(volatile int* to, int value) { *to = value; }
__global__ void CopyOne(int* to, const int* from) { *to = *from; }

// Answers each value from 1 to n on `to` when it has come on `from`.
__global__ void Answer(const volatile int* from, volatile int* to, int n, int* done, long long most) {
  int k = 1;
  while (k <= n && Waits(from, k, most)) {
    __threadfence_system();
    *to = k++;
  }
  *done = k - 1;
}
// Sends each value from 1 to n on `to`, and waits for its answer on `from`.
__global__ void Ask(const volatile int* from, volatile int* to, int n, int* done, long long most) {
  int k = 1;
  for (; k <= n; ++k) {
    *to = k;
    __threadfence_system();
    if (!Waits(from, k, most)) break;
  }
  *done = k - 1;
}
// Every block holds its part of the device until the flag is set; one thread of each polls.
__global__ void Hold(const volatile int* flag, int* count, long long most) {
  extern __shared__ int held[];
  if (threadIdx.x == 0) held[0] = Waits(flag, 1, most) ? 1 : 0;
  __syncthreads();
  if (threadIdx.x == 31) atomicAdd(count, held[0]);
}
// Thread 0 reads the flag and passes it to the block through barriers.
__global__ void WaitByBarriers(const volatile int* flag, int* to, long long most) {
  __shared__ int seen;
  const long long begin = most > 0 ? clock64() : 0;
  for (;;) {
    __syncthreads();
    if (threadIdx.x == 0) seen = *flag != 0 ? 1 : most > 0 && clock64() - begin > most ? 2 : 0;
    __syncthreads();
    if (seen != 0) break;
  }
  if (threadIdx.x == 0) *to = seen;
}

struct Flags {
  int* at = nullptr;
  Flags() {
    CHECK(cudaHostAlloc(&at, 64 * sizeof(int), cudaHostAllocMapped));
    std::memset(at, 0, 64 * sizeof(int));
  }
  ~Flags() { CHECK(cudaFreeHost(at)); }
  volatile int& operator[](int k) { return at[k]; }
};
struct Number {
  int* at = nullptr;
  Number() {
    CHECK(cudaMalloc(&at, sizeof(int)));
    CHECK(cudaMemset(at, 0, sizeof(int)));
    CHECK(cudaDeviceSynchronize());
  }
  ~Number() { CHECK(cudaFree(at)); }
  int value() const {
    int value = 0;
    CHECK(cudaMemcpy(&value, at, sizeof value, cudaMemcpyDeviceToHost));
    return value;
  }
};
struct Stream {
  cudaStream_t at = nullptr;
  Stream() { CHECK(cudaStreamCreateWithFlags(&at, cudaStreamNonBlocking)); }
  ~Stream() { CHECK(cudaStreamDestroy(at)); }
};
struct Event {
  cudaEvent_t at = nullptr;
  Event() { CHECK(cudaEventCreate(&at)); }
  ~Event() { CHECK(cudaEventDestroy(at)); }
};

const char* Query(cudaStream_t stream) { return cudaGetErrorName(cudaStreamQuery(stream)); }
const char* Query(const Event& event) { return cudaGetErrorName(cudaEventQuery(event.at)); }
void Set(volatile int& flag, int value) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  flag = value;
}
// Waits at most 20 seconds for the memory to hold the value; returns whether it does.
bool Comes(volatile int& flag, int value) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (flag != value) {
    if (std::chrono::steady_clock::now() > end) return false;
  }
  return true;
}
// The stream's answer when it is no longer "not ready".
const char* Ask(cudaStream_t stream) {
  cudaError_t error = cudaSuccess;
  while ((error = cudaStreamQuery(stream)) == cudaErrorNotReady) {
  }
  return cudaGetErrorName(error);
}

void FlagSetAfterTheLaunch() {
  Flags flags;
  Number number;
  Stream stream;
  WaitThenStore<<<1, 1, 0, stream.at>>>(flags.at, 1, number.at, 7, most);
  std::printf("launched: %s\n", cudaGetErrorName(cudaGetLastError()));
  std::printf("waits: %s\n", cudaGetErrorName(cudaStreamQuery(stream.at)));
  std::printf("last error: %s\n", cudaGetErrorName(cudaGetLastError()));
  Set(flags[0], 1);
  CHECK(cudaStreamSynchronize(stream.at));
  std::printf("done: %s, %d\n", Query(stream.at), number.value());
}

void FlagSetByAThread() {
  Flags flags;
  Number number;
  WaitThenStore<<<1, 1>>>(flags.at, 1, number.at, 8, most);
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    Set(flags[0], 1);
  });
  CHECK(cudaDeviceSynchronize());
  other.join();
  std::printf("a thread sets the flag: %d\n", number.value());
}

void PingPong() {
  Flags flags;
  Number number;
  Answer<<<1, 1>>>(flags.at, flags.at + 32, 100, number.at, most);
  int rounds = 0;
  while (rounds < 100) {
    Set(flags[0], ++rounds);
    if (!Comes(flags[32], rounds)) break;
  }
  CHECK(cudaDeviceSynchronize());
  std::printf("host and kernel: %d, %d\n", rounds, number.value());
}

void TwoStreams() {
  Number asks, answers, asked, answered;
  Stream first, second;
  Answer<<<1, 1, 0, first.at>>>(asks.at, answers.at, 50, answered.at, most);
  Ask<<<1, 1, 0, second.at>>>(answers.at, asks.at, 50, asked.at, most);
  CHECK(cudaDeviceSynchronize());
  std::printf("two streams: %d, %d\n", asked.value(), answered.value());
}

void ProducerSecond() {
  Number flag, number;
  Stream first, second;
  WaitThenStore<<<1, 32, 0, first.at>>>(flag.at, 5, number.at, 9, most);
  Store<<<1, 1, 0, second.at>>>(flag.at, 5);
  CHECK(cudaStreamSynchronize(first.at));
  std::printf("the producer is launched second: %d\n", number.value());
}

void Events() {
  Flags flags;
  Number number;
  Stream stream;
  Event before, behind;
  CHECK(cudaEventRecord(before.at, stream.at));
  WaitThenStore<<<1, 1, 0, stream.at>>>(flags.at, 1, number.at, 1, most);
  CHECK(cudaEventRecord(behind.at, stream.at));
  CHECK(cudaEventSynchronize(before.at));
  float time = 0;
  std::printf("events: %s, %s", Query(before), Query(behind));
  std::printf(", %s", cudaGetErrorName(cudaEventElapsedTime(&time, before.at, behind.at)));
  Set(flags[0], 1);
  CHECK(cudaEventSynchronize(behind.at));
  std::printf(", %s", Query(behind));
  std::printf(", %s\n", cudaGetErrorName(cudaEventElapsedTime(&time, before.at, behind.at)));
}

void CopiesBehind() {
  Flags flags;
  Number number, other;
  Stream stream;
  int* page_locked = nullptr;
  CHECK(cudaMallocHost(&page_locked, sizeof(int)));
  *page_locked = 3;
  WaitThenStore<<<1, 1, 0, stream.at>>>(flags.at, 1, number.at, 11, most);
  CHECK(cudaMemcpyAsync(page_locked, number.at, sizeof(int), cudaMemcpyDeviceToHost, stream.at));
  int pageable = 21;
  CHECK(cudaMemcpyAsync(other.at, &pageable, sizeof(int), cudaMemcpyHostToDevice, stream.at));
  pageable = 22;
  std::printf("a copy behind: %s, %d", Query(stream.at), *static_cast<volatile int*>(page_locked));
  Set(flags[0], 1);
  CHECK(cudaStreamSynchronize(stream.at));
  std::printf(", then %d, and %d of memory that was changed\n", *page_locked, other.value());
  CHECK(cudaFreeHost(page_locked));
}

void Calls(void* data) { *static_cast<volatile int*>(data) += 1; }
void CallsBack(cudaStream_t, cudaError_t, void* data) { *static_cast<volatile int*>(data) += 10; }

void FunctionsBehind() {
  Flags flags;
  Number number;
  Stream stream;
  volatile int calls = 0;
  WaitThenStore<<<1, 1, 0, stream.at>>>(flags.at, 1, number.at, 1, most);
  CHECK(cudaLaunchHostFunc(stream.at, Calls, const_cast<int*>(&calls)));
  CHECK(cudaStreamAddCallback(stream.at, CallsBack, const_cast<int*>(&calls), 0));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  std::printf("host functions: %d", calls);
  Set(flags[0], 1);
  CHECK(cudaStreamSynchronize(stream.at));
  std::printf(", then %d\n", calls);
}

void StreamsThatWait() {
  Flags flags;
  Number number, copy, free;
  Stream first, second, third;
  Event event;
  WaitThenStore<<<1, 1, 0, first.at>>>(flags.at, 1, number.at, 13, most);
  CHECK(cudaEventRecord(event.at, first.at));
  CHECK(cudaStreamWaitEvent(second.at, event.at, 0));
  CopyOne<<<1, 1, 0, second.at>>>(copy.at, number.at);
  Store<<<1, 1, 0, third.at>>>(free.at, 14);
  CHECK(cudaStreamSynchronize(third.at));
  std::printf("a stream that waits for an event: %s, another: %s", Query(second.at), Query(third.at));
  Set(flags[0], 1);
  CHECK(cudaStreamSynchronize(second.at));
  std::printf(", then %d, %d\n", copy.value(), free.value());
}

void TheDefaultStream() {
  Flags flags;
  Number number, copy, free;
  cudaStream_t blocking = nullptr;
  CHECK(cudaStreamCreate(&blocking));
  Stream other;
  WaitThenStore<<<1, 1>>>(flags.at, 1, number.at, 15, most);
  CopyOne<<<1, 1, 0, blocking>>>(copy.at, number.at);
  Store<<<1, 1, 0, other.at>>>(free.at, 16);
  CHECK(cudaStreamSynchronize(other.at));
  std::printf("the default stream: %s, a blocking one: %s, another: %s", Query(nullptr), Query(blocking),
              Query(other.at));
  Set(flags[0], 1);
  CHECK(cudaDeviceSynchronize());
  std::printf(", then %d, %d\n", copy.value(), free.value());
  CHECK(cudaStreamDestroy(blocking));
}

void Graphs() {
  Flags flags;
  Number number, copy;
  Stream stream;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  CHECK(cudaStreamBeginCapture(stream.at, cudaStreamCaptureModeGlobal));
  WaitThenStore<<<1, 1, 0, stream.at>>>(flags.at, 1, number.at, 17, most);
  CopyOne<<<1, 1, 0, stream.at>>>(copy.at, number.at);
  CHECK(cudaStreamEndCapture(stream.at, &graph));
  CHECK(cudaGraphInstantiate(&executable, graph, 0));
  CHECK(cudaGraphLaunch(executable, stream.at));
  std::printf("a graph: %s", Query(stream.at));
  CHECK(cudaGraphExecDestroy(executable));
  CHECK(cudaGraphDestroy(graph));
  Set(flags[0], 1);
  CHECK(cudaStreamSynchronize(stream.at));
  std::printf(", then %s, %d\n", Query(stream.at), copy.value());
}

void StreamDestroyed() {
  Flags flags;
  Number number;
  cudaStream_t stream = nullptr;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  WaitThenStore<<<1, 1, 0, stream>>>(flags.at, 1, number.at, 18, most);
  Store<<<1, 1, 0, stream>>>(flags.at + 32, 1);
  CHECK(cudaStreamDestroy(stream));
  std::printf("a stream that was destroyed: %d", flags[32]);
  Set(flags[0], 1);
  const bool came = Comes(flags[32], 1);
  std::printf(", then %d, %d\n", came, number.value());
}

void MemoryOfAllKinds() {
  int* const memory = static_cast<int*>(std::aligned_alloc(4096, 4096));
  std::memset(memory, 0, 4096);
  CHECK(cudaHostRegister(memory, 4096, cudaHostRegisterMapped));
  int* device = nullptr;
  CHECK(cudaHostGetDevicePointer(&device, memory, 0));
  Number number;
  Answer<<<1, 1>>>(device, device + 32, 10, number.at, most);
  int rounds = 0;
  while (rounds < 10) {
    Set(*static_cast<volatile int*>(memory), ++rounds);
    if (!Comes(*static_cast<volatile int*>(memory + 32), rounds)) break;
  }
  CHECK(cudaDeviceSynchronize());
  std::printf("registered memory: %d, %d\n", rounds, number.value());
  CHECK(cudaHostUnregister(memory));
  std::free(memory);

  int* managed = nullptr;
  CHECK(cudaMallocManaged(&managed, 2 * sizeof(int)));
  managed[0] = managed[1] = 0;
  WaitThenStore<<<1, 1>>>(managed, 1, managed + 1, 19, most);
  Set(*static_cast<volatile int*>(managed), 1);
  CHECK(cudaDeviceSynchronize());
  std::printf("managed memory: %d\n", managed[1]);
  CHECK(cudaFree(managed));

  // A copy sets the flag.
  Number flag;
  Stream first, second;
  WaitThenStore<<<1, 1, 0, first.at>>>(flag.at, 0x01010101, number.at, 20, most);
  CHECK(cudaMemsetAsync(flag.at, 1, sizeof(int), second.at));
  CHECK(cudaStreamSynchronize(first.at));
  std::printf("a fill sets the flag: %d\n", number.value());
}

void FreedBehind() {
  Flags flags;
  Number number;
  Stream stream;
  int* scratch = nullptr;
  CHECK(cudaMallocAsync(reinterpret_cast<void**>(&scratch), sizeof(int), stream.at));
  WaitThenStore<<<1, 1, 0, stream.at>>>(flags.at, 1, scratch, 23, most);
  CopyOne<<<1, 1, 0, stream.at>>>(number.at, scratch);
  CHECK(cudaFreeAsync(scratch, stream.at));
  Set(flags[0], 1);
  std::printf("memory that is freed behind: %s", Ask(stream.at));
  std::printf(", %d\n", number.value());
}

// A kernel that takes all of the device's shared memory, then one that needs some: it starts when the first has ended.
void Residency() {
  cudaDeviceProp properties;
  CHECK(cudaGetDeviceProperties(&properties, 0));
  const int bytes = static_cast<int>(properties.sharedMemPerBlockOptin);
  CHECK(cudaFuncSetAttribute(Hold, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  int blocks = 0;
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, Hold, 32, bytes));
  blocks *= properties.multiProcessorCount;
  Flags flags;
  Number count, second_count;
  Stream first, second;
  Set(flags[1], 1);
  Hold<<<blocks, 32, bytes, first.at>>>(flags.at, count.at, most);
  Hold<<<1, 32, bytes, second.at>>>(flags.at + 1, second_count.at, most);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  std::printf("a device that is full: %s, %s", Query(first.at), Query(second.at));
  Set(flags[0], 1);
  CHECK(cudaDeviceSynchronize());
  std::printf(", then %d, %d\n", count.value() == blocks, second_count.value());

  // A kernel that takes half of the device leaves room for another.
  Set(flags[0], 0);
  Hold<<<blocks / 2, 32, bytes, first.at>>>(flags.at, count.at, most);
  Hold<<<1, 32, bytes, second.at>>>(flags.at + 1, second_count.at, most);
  CHECK(cudaStreamSynchronize(second.at));
  std::printf("one that is half full: %s, %s", Query(first.at), Query(second.at));
  Set(flags[0], 1);
  CHECK(cudaDeviceSynchronize());
  std::printf(", then %d, %d\n", count.value() == blocks + blocks / 2, second_count.value());
}

void Barriers() {
  Flags flags;
  Number number;
  Stream stream;
  WaitByBarriers<<<1, 64, 0, stream.at>>>(flags.at, number.at, most);
  std::printf("a loop with barriers: %s", Query(stream.at));
  Set(flags[0], 1);
  CHECK(cudaStreamSynchronize(stream.at));
  std::printf(", then %d\n", number.value());
}

int main(int count, char** arguments) {
  if (count > 1) most = std::atoll(arguments[1]);
  const std::string one = count > 2 ? arguments[2] : "";
  if (one == "exit" || one == "endless") {
    Flags flags;
    int* to = nullptr;
    CHECK(cudaMalloc(&to, sizeof(int)));
    WaitThenStore<<<1, 32>>>(flags.at, 1, to, 1, most);
    std::printf("%s: %s\n", one.c_str(), Query(nullptr));
    std::fflush(stdout);
    if (one == "exit") std::exit(0);
    std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    std::fflush(stdout);
    std::exit(3);
  }
  FlagSetAfterTheLaunch();
  FlagSetByAThread();
  PingPong();
  TwoStreams();
  ProducerSecond();
  Events();
  CopiesBehind();
  FunctionsBehind();
  StreamsThatWait();
  TheDefaultStream();
  Graphs();
  StreamDestroyed();
  MemoryOfAllKinds();
  FreedBehind();
  Residency();
  Barriers();
}
