// The modelled clock: when the operations in streams begin and end, in microseconds since the first.
//
// The host's own time is not modelled: it enqueues work at once, and a call that waits for the device advances the
// host's time to the device's. Work in the legacy default stream waits for work in all blocking streams, and theirs
// for it, as documented. A stream belongs to the device that was current when it was created.
//
// Vector clocks beside the times keep which operation is ordered after which (observers/stream_clocks.h).
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "vgpu/observers/stream_clocks.h"

namespace lockstep::vgpu::cudart {

struct Capture;  // graph.h
struct Node;

// What a capturing stream, or an event recorded in one, stands at: the nodes that what follows depends on.
struct CapturePoint {
  std::shared_ptr<Capture> capture;  // null: none
  std::vector<Node*> after;
};

// How often the host has asked whether something is over that ends then.
struct Questions {
  double end_us = -1;
  int times = 0;
};

struct Stream {
  int device = 0;
  unsigned flags = cudaStreamDefault;
  int priority = 0;
  unsigned long long id = 0;
  double ready_us = 0;  // when all that was enqueued is done
  Questions asked = {};
  CapturePoint point = {};
  std::map<cudaLaunchAttributeID, cudaLaunchAttributeValue> attributes = {};
  uint32_t slot = 0;              // in the clocks
  bool in_graph = false;          // a graph's node is performed in it
  bool destroyed = false;         // by the program; what is in it is still done
  unsigned long long number = 0;  // of those that the program made, from 1; 0: a default stream
};

struct Event {
  int device = 0;
  unsigned flags = cudaEventDefault;
  bool recorded = false;
  CapturePoint point = {};
  bool of_ended_capture = false;  // that it was recorded in last
  double at_us = 0;
  Questions asked = {};
  StreamClocks::Clock clock = {};  // the operations that it stands behind
  // The record that is not done yet, and its operation (side_by_side.h).
  std::shared_ptr<Event> later = nullptr;
  uint64_t operation = 0;
  // Takes over that record, if it is done now.
  void Settle();
};

// What an operation in a stream is, for vgpu-run --timeline.
struct OperationName {
  const char* category;   // "kernel", "copy", "fill", "library"
  std::string_view name;  // a kernel's as the linker has it
  uint64_t bytes = 0;     // that it moves; 0: not known
};
// One that was enqueued: times in microseconds of the modelled clock.
struct Operation {
  int device;
  unsigned long long stream;  // its number; 0: the default stream
  bool in_graph;
  double begins_us, takes_us;
  const char* category;
  std::string name;
  uint64_t bytes;
};

// Whether this thread's call takes no stream for cudaStreamPerThread instead of the legacy stream.
bool& NullIsOfThread();
inline bool IsLegacy(cudaStream_t stream) {
  return stream == cudaStreamLegacy || (stream == nullptr && !NullIsOfThread());
}

class Timeline {
 public:
  // Handles; throw ApiError for one that does not exist. `device` is the current one, which the default stream means.
  cudaStream_t CreateStream(int device, unsigned flags, int priority);
  void DestroyStream(cudaStream_t stream);
  Stream& StreamOf(int device, cudaStream_t stream);
  cudaEvent_t CreateEvent(int device, unsigned flags);
  void DestroyEvent(cudaEvent_t event);
  Event& EventOf(cudaEvent_t event);

  // Work of this length is put in the stream.
  void Enqueue(Stream& stream, double microseconds, const OperationName& what);
  // What was enqueued, where LOCKSTEP_TIMELINE_FILE asks for it (timeline_file.cc).
  const std::vector<Operation>& operations() const { return operations_; }
  void Record(Event& event, const Stream& stream);
  void Wait(Stream& stream, const Event& event);
  // The host waits.
  void Synchronize(const Stream& stream);
  // The same on the modelled clock alone.
  void MoveHostTo(const Stream& stream) { host_us_ = Ready(stream); }
  void MoveHostToEnd();  // of all that was enqueued
  void Synchronize(const Event& event);
  // seen: the host knows that it has waited, and sees what copies have brought.
  void SynchronizeDevice(int device, bool seen = true);
  // Whether the host has waited for it, or for something behind it.
  bool IsOver(const Event& event) const { return event.at_us <= host_us_; }
  // Whether the host, which asks, finds it over: not until it has asked kAsks times, when the modelled clock goes on to
  // the end. So a loop that polls ends, and a question or a few that are taken for a wait are answered as a GPU does.
  static constexpr int kAsks = 16;
  bool AskWhetherOver(Stream& stream) { return AskWhetherOver(stream.asked, Ready(stream)); }
  bool AskWhetherOver(Event& event) { return AskWhetherOver(event.asked, event.at_us); }
  StreamClocks& clocks() { return clocks_; }
  // An operation of the stream's begins.
  StreamPoint Begin(const Stream& stream);
  // No stream or event takes part in this capture any more.
  void LeaveCapture(const Capture* capture);
  void ForgetNode(const Node* node);
  // Forgets the device's streams and events.
  void Reset(int device);

 private:
  // When all that this stream must wait for is done.
  double Ready(const Stream& stream) const;
  bool AskWhetherOver(Questions& asked, double end_us);

  Stream& DefaultOf(int device);
  Stream& OfThisThread(int device);
  bool IsDefault(const Stream& stream) const;

  std::map<int, Stream> defaults_;  // by device
  std::map<cudaStream_t, std::unique_ptr<Stream>> streams_;
  std::set<cudaStream_t> lost_;                                         // with their context
  std::map<std::pair<int, std::thread::id>, cudaStream_t> of_threads_;  // by device; in `streams_`
  std::map<cudaEvent_t, std::unique_ptr<Event>> events_;
  unsigned long long next_id_ = 1;
  unsigned long long created_ = 0;
  double host_us_ = 0;
  const bool keeps_ = std::getenv("LOCKSTEP_TIMELINE_FILE") != nullptr;
  std::vector<Operation> operations_;
  StreamClocks clocks_;
};

}  // namespace lockstep::vgpu::cudart
