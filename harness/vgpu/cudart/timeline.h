// The modelled clock: when the operations in streams begin and end, in microseconds since the first.
//
// The host's own time is not modelled: it enqueues work at once, and a call that waits for the device moves it
// to where the device is. Work in the legacy default stream waits for that in all blocking streams, and theirs
// for it, as documented.
#pragma once

#include <cuda_runtime_api.h>

#include <map>
#include <memory>
#include <set>

namespace lockstep::vgpu::cudart {

struct Stream {
  unsigned flags = cudaStreamDefault;
  int priority = 0;
  unsigned long long id = 0;
  double ready_us = 0;  // when all that was enqueued is done
};

struct Event {
  unsigned flags = cudaEventDefault;
  bool recorded = false;
  double at_us = 0;
};

class Timeline {
 public:
  Timeline();
  // Handles; throw ApiError for one that does not exist.
  cudaStream_t CreateStream(unsigned flags, int priority);
  void DestroyStream(cudaStream_t stream);
  Stream& StreamOf(cudaStream_t stream);
  cudaEvent_t CreateEvent(unsigned flags);
  void DestroyEvent(cudaEvent_t event);
  Event& EventOf(cudaEvent_t event);

  // Work of this length is put in the stream.
  void Enqueue(cudaStream_t stream, double microseconds);
  void Record(cudaEvent_t event, cudaStream_t stream);
  void Wait(cudaStream_t stream, cudaEvent_t event);
  // The host waits.
  void Synchronize(cudaStream_t stream);
  void Synchronize(cudaEvent_t event);
  void SynchronizeDevice();
  void Reset();

 private:
  // When all that this stream must wait for is done.
  double Ready(const Stream& stream) const;

  Stream default_;
  std::map<cudaStream_t, std::unique_ptr<Stream>> streams_;
  std::map<cudaEvent_t, std::unique_ptr<Event>> events_;
  unsigned long long next_id_ = 1;
  double host_us_ = 0;
};

}  // namespace lockstep::vgpu::cudart
