// Pending copies between the device and page-locked host memory, as the host sees them.
//
// Device work is done at the call, but the host sees its results later. The bytes of an asynchronous copy to
// page-locked memory are kept aside, and arrive when the host has waited for the copy. Until then the documentation
// promises nothing about the destination, which is filled with kNotArrived to expose a program that reads too early.
// For a copy from page-locked memory the source is kept, and compared when the host has waited: if it has changed,
// the host wrote to memory that the copy still had to read. Later operations of the stream see everything arrived.
#pragma once

#include <pthread.h>

#include <cstdint>
#include <string>
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
  // The bytes, row after row, arrive later.
  void Deliver(Runtime& r, const StreamPoint& copy, std::vector<Row> rows, std::vector<uint8_t> bytes);
  // The same for what a kernel has written: the host saw other bytes there before, and sees them until then.
  void DeliverResults(const StreamPoint& work, std::vector<Row> rows, std::vector<uint8_t> bytes);
  // These rows have been read, though their copy may run later.
  void Watch(Runtime& r, const StreamPoint& copy, std::vector<Row> rows);
  // The argument of a host function, which may run later: if it lies on the caller's stack, that frame must live until
  // the host has waited for the function, and the next function's argument can't take its place.
  void WatchArgument(Runtime& r, const StreamPoint& call, const void* argument);
  // The host function has run, and may have changed its argument itself.
  void HasRun(const void* argument);
  // frame: of the API function that this thread has just called.
  void LookAtArguments(Runtime& r, const void* frame);
  // The device is idle: all host functions have run.
  void ForgetArguments() { arguments_.clear(); }
  bool watches_arguments() const { return !arguments_.empty(); }
  // For what the host has waited for.
  void Arrive(Runtime& r);
  // For what is ordered before something that runs now.
  void ArriveBefore(Runtime& r, const StreamClocks::Clock& before);
  // A host function runs now: what is ordered before it has arrived and has been read. The function may fill sources
  // anew, and may tell the program's threads that they may.
  void BeforeHostFunction(Runtime& r, const StreamClocks::Clock& before);
  // The host memory is freed or no longer registered.
  void Free(Runtime& r, const void* begin, uint64_t bytes);

  // Device work that may write to host memory itself stands between the two.
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
  // Reports a source that has changed.
  static void Compare(Runtime& r, const Transfer& source);
  void Drop(size_t source);

  std::vector<Transfer> deliveries_, sources_;  // in the order in which they were asked for
  uint64_t watched_ = 0;                        // bytes of sources
  std::vector<Argument> arguments_;
};

// An operation of a stream. It has its place in the clocks from the first; what the device does between Begin and End
// is held against other operations.
class StreamOperation {
 public:
  // Unless it is a kernel's, an operation is told of from the program's first on: there may be a second stream later.
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

// While the device does something that may read or write host memory by itself.
class HostMemoryInUse {
 public:
  HostMemoryInUse(Runtime& r, const StreamPoint& point);
  ~HostMemoryInUse();
  HostMemoryInUse(const HostMemoryInUse&) = delete;
  HostMemoryInUse& operator=(const HostMemoryInUse&) = delete;

  // The device goes on: what it has written so far arrives now.
  void Suspend();

 private:
  Runtime& r_;
  const StreamPoint& point_;
  bool reaches_ = false;  // the device reaches host memory at all
};

}  // namespace lockstep::vgpu::cudart
