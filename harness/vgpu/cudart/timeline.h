// The modelled clock: when the operations in streams begin and end, in microseconds since the first.
//
// The host's own time is not modelled: it enqueues work at once, and a call that waits for the device advances the
// host's time to the device's. As documented, work in the legacy default stream waits for earlier work in all blocking
// streams, and their work for earlier work in it. A stream belongs to the device that was current at its creation.
//
// Besides times, vector clocks record the order of operations (observers/stream_clocks.h).
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "vgpu/observers/stream_clocks.h"

namespace lockstep::vgpu::cudart {

struct Capture;          // graph.h
struct ExecutableGraph;  // graph.h
struct Node;

// The position of a capturing stream, or of an event recorded in one: the nodes on which later nodes depend.
struct CapturePoint {
  std::shared_ptr<Capture> capture;  // null: none
  std::vector<Node*> after;
};

// How often the host has queried the completion of work that ends at this time.
struct Questions {
  double end_us = -1;
  int times = 0;
};

struct Stream {
  int device = 0;
  unsigned flags = cudaStreamDefault;
  int priority = 0;
  unsigned long long id = 0;
  double ready_us = 0;  // when all enqueued work is done
  Questions asked = {};
  CapturePoint point = {};
  std::map<cudaLaunchAttributeID, cudaLaunchAttributeValue> attributes = {};
  uint32_t slot = 0;                       // its slot in StreamClocks
  bool in_graph = false;                   // a graph's node is running in it
  const ExecutableGraph* graph = nullptr;  // whose nodes are launched in it
  bool destroyed = false;                  // by the program; its enqueued work is still done
  unsigned long long number = 0;           // number of the stream created by the program, from 1; 0: a default stream
  std::optional<const void*> context = std::nullopt;  // as from OwnContext(); none, a default stream: the current one
};

struct Event {
  int device = 0;
  unsigned flags = cudaEventDefault;
  bool recorded = false;
  const Stream* stream = nullptr;  // in which it was recorded last
  const void* context = nullptr;   // in which it was created, as from OwnContext()
  CapturePoint point = {};
  bool of_ended_capture = false;  // whether its last record was in a capture that has ended
  double at_us = 0;
  Questions asked = {};
  StreamClocks::Clock clock = {};  // the operations ordered before it
  // The record that is still pending, and its operation (side_by_side.h).
  std::shared_ptr<Event> later = nullptr;
  uint64_t operation = 0;
  // Adopts that record if it is done.
  void Settle();
  // Whether its last record was in a capture that has ended or was invalidated.
  bool IsOfLostCapture() const;
};

// Describes an operation in a stream, for vgpu-run --timeline.
struct OperationName {
  const char* category;   // "kernel", "copy", "fill", "library"
  std::string_view name;  // mangled name of a kernel
  uint64_t bytes = 0;     // bytes moved; 0: unknown
};
// An enqueued operation, with times in microseconds of the modelled clock.
struct Operation {
  int device;
  unsigned long long stream;  // the stream's number; 0: the default stream
  bool in_graph;
  double begins_us, takes_us;
  const char* category;
  std::string name;
  uint64_t bytes;
};

// Whether a null stream in this thread's call means cudaStreamPerThread instead of the legacy stream.
bool& NullIsOfThread();
inline bool IsLegacy(cudaStream_t stream) {
  return stream == cudaStreamLegacy || (stream == nullptr && !NullIsOfThread());
}

// Streams, events and arrays of contexts that have ended.
std::set<const void*>& LostHandles();

class Timeline {
 public:
  // Throw ApiError for an unknown handle. A default stream's handle means that of `device`, the current device.
  cudaStream_t CreateStream(int device, unsigned flags, int priority);
  void DestroyStream(cudaStream_t stream);
  Stream& StreamOf(int device, cudaStream_t stream);
  cudaEvent_t CreateEvent(int device, unsigned flags);
  void DestroyEvent(cudaEvent_t event);
  Event& EventOf(cudaEvent_t event);

  // Enqueues work of this length in the stream.
  void Enqueue(Stream& stream, double microseconds, const OperationName& what);
  // The enqueued work, recorded only if LOCKSTEP_TIMELINE_FILE or LOCKSTEP_PAGE_FILE is set (timeline_file.cc).
  const std::vector<Operation>& operations() const { return operations_; }
  void Record(Event& event, Stream& stream);
  void Wait(Stream& stream, const Event& event);
  // The host waits.
  void Synchronize(const Stream& stream);
  // Advances only the modelled clock.
  void MoveHostTo(const Stream& stream) { host_us_ = Ready(stream); }
  void MoveHostToEnd();  // to the end of all enqueued work
  void Synchronize(const Event& event);
  // seen: the wait is documented, so the results of copies become visible.
  void SynchronizeDevice(int device, bool seen = true);
  // Whether the host has waited for the event, or for later work.
  bool IsOver(const Event& event) const { return event.at_us <= host_us_; }
  // The first kAsks queries for the same work answer "not ready"; the next one advances the modelled clock to its end.
  // So polling loops end, while a few queries used instead of a wait get the same answer as on a GPU.
  static constexpr int kAsks = 16;
  bool AskWhetherOver(Stream& stream) { return AskWhetherOver(stream.asked, Ready(stream)); }
  bool AskWhetherOver(Event& event) { return AskWhetherOver(event.asked, event.at_us); }
  StreamClocks& clocks() { return clocks_; }
  // Begins an operation of the stream.
  StreamPoint Begin(const Stream& stream);
  // Removes all streams and events from this capture.
  void LeaveCapture(const Capture* capture);
  void ForgetNode(const Node* node);
  // Forgets the device's streams and events.
  void Reset(int device);
  // Forgets those of a context that ends.
  void End(const void* context);

 private:
  // When all work that this stream must wait for is done.
  double Ready(const Stream& stream) const;
  bool AskWhetherOver(Questions& asked, double end_us);

  Stream& DefaultOf(int device);
  Stream& OfThisThread(int device);
  bool IsDefault(const Stream& stream) const;

  std::map<int, Stream> defaults_;  // by device
  std::map<cudaStream_t, std::unique_ptr<Stream>> streams_;
  std::map<std::pair<int, std::thread::id>, cudaStream_t> of_threads_;  // by device; in `streams_`
  std::map<cudaEvent_t, std::unique_ptr<Event>> events_;
  unsigned long long next_id_ = 1;
  unsigned long long created_ = 0;
  double host_us_ = 0;
  const bool keeps_ = std::getenv("LOCKSTEP_TIMELINE_FILE") != nullptr || std::getenv("LOCKSTEP_PAGE_FILE") != nullptr;
  std::vector<Operation> operations_;
  StreamClocks clocks_;
};

}  // namespace lockstep::vgpu::cudart
