// Pending copies between the device and page-locked host memory, as the host sees them.
//
// Device work is done at the call, but the host sees its results later. The bytes of an asynchronous copy to
// page-locked memory are held back until the host has waited for the copy. Until then the documentation promises
// nothing about the destination, which is filled with kNotArrived to expose a program that reads too early. For a copy
// from page-locked memory a snapshot of the source is compared when the host has waited: if it differs, the host wrote
// to memory that the copy still had to read. Later operations of the stream see all results.
#pragma once

#include <pthread.h>

#include <cstdint>
#include <vector>

#include "vgpu/observers/stream_clocks.h"

namespace lockstep::vgpu::cudart {

class Runtime;
struct Stream;

inline constexpr uint8_t kNotArrived = 0xd7;

class HostTransfers {
 public:
  struct Row {
    uint8_t* at;  // in host memory
    uint64_t bytes;
  };
  // Delivers these bytes later, row by row.
  void Deliver(Runtime& r, const StreamPoint& copy, std::vector<Row> rows, std::vector<uint8_t> bytes);
  // The same for a kernel's writes: until then the host sees the previous bytes.
  void DeliverResults(const StreamPoint& work, std::vector<Row> rows, std::vector<uint8_t> bytes);
  // Snapshots rows that were read, because the copy may run later.
  void Watch(Runtime& r, const StreamPoint& copy, std::vector<Row> rows);
  // Watches the argument of a host function that may run later: if it is on the caller's stack, that frame must live
  // until the host has waited for the function, and the next function's argument can't reuse it.
  void WatchArgument(Runtime& r, const StreamPoint& call, const void* argument);
  // The host function has run, and may itself have changed its argument.
  void HasRun(const void* argument);
  // Reports arguments whose stack frame has ended. frame: that of the API function just called by this thread.
  void LookAtArguments(Runtime& r, const void* frame);
  // The device is idle: all host functions have run.
  void ForgetArguments() { arguments_.clear(); }
  bool watches_arguments() const { return !arguments_.empty(); }
  // Completes operations that the host has waited for.
  void Arrive(Runtime& r);
  // Delivers the results of operations ordered before one that runs now.
  void ArriveBefore(Runtime& r, const StreamClocks::Clock& before);
  // A host function is about to run: completes the operations ordered before it. The function may refill sources, and
  // may signal other threads to do so.
  void BeforeHostFunction(Runtime& r, const StreamClocks::Clock& before);
  // The host memory was freed or unregistered.
  void Free(Runtime& r, const void* begin, uint64_t bytes);

  // Call the pair around device work that may write to host memory directly.
  void BeforeDeviceWrites(Runtime& r);
  void AfterDeviceWrites();

 private:
  struct Transfer {
    StreamPoint copy;
    std::vector<Row> rows;
    std::vector<uint8_t> bytes;
    bool results = false;
  };
  struct Argument {
    StreamPoint call;
    uintptr_t at;
    pthread_t thread;
    uint32_t first_word;
  };
  static constexpr uint64_t kMostWatched = uint64_t{256} << 20;

  template <typename Covered>
  void DeliverWhere(Runtime& r, Covered covered);
  template <typename Covered>
  void CompareWhere(Runtime& r, Covered covered);
  // Reports a source that was changed too early.
  static void Compare(Runtime& r, const Transfer& source);
  void Drop(size_t source);

  std::vector<Transfer> deliveries_, sources_;  // in the order of requests
  uint64_t watched_ = 0;                        // bytes of sources
  std::vector<Argument> arguments_;
};

// An operation of a stream. It enters the clocks at its construction; device accesses between Begin and End are checked
// against other operations.
class StreamOperation {
 public:
  // Kernels are recorded only once there are several streams; other operations always, as a second stream may follow.
  StreamOperation(Runtime& r, const Stream& stream, bool is_kernel, std::vector<StreamPoint::Span> spans = {});
  ~StreamOperation() { End(); }
  void Begin();
  void End();
  StreamOperation(const StreamOperation&) = delete;
  StreamOperation& operator=(const StreamOperation&) = delete;

  const StreamPoint& point() const { return point_; }

 private:
  Runtime& r_;
  StreamPoint point_;
  bool is_kernel_ = false, told_ = false;
};

// Active while device work may access host memory directly.
class HostMemoryInUse {
 public:
  HostMemoryInUse(Runtime& r, const StreamPoint& point);
  ~HostMemoryInUse();
  HostMemoryInUse(const HostMemoryInUse&) = delete;
  HostMemoryInUse& operator=(const HostMemoryInUse&) = delete;

  // The device is suspended: its writes so far become visible now.
  void Suspend();

 private:
  Runtime& r_;
  const StreamPoint& point_;
  bool reaches_ = false;  // whether device work can access host memory at all
};

}  // namespace lockstep::vgpu::cudart
