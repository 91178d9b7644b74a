#include "vgpu/cudart/timeline.h"

#include <algorithm>

#include "vgpu/cudart/runtime.h"

namespace lockstep::vgpu::cudart {

Timeline::Timeline() { default_.id = next_id_++; }

cudaStream_t Timeline::CreateStream(unsigned flags, int priority) {
  auto stream = std::make_unique<Stream>(Stream{flags, priority, next_id_++, host_us_});
  const auto handle = reinterpret_cast<cudaStream_t>(stream.get());
  streams_[handle] = std::move(stream);
  return handle;
}

void Timeline::DestroyStream(cudaStream_t stream) {
  Require(streams_.erase(stream) != 0, cudaErrorInvalidResourceHandle);
}

Stream& Timeline::StreamOf(cudaStream_t stream) {
  if (stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread) return default_;
  const auto found = streams_.find(stream);
  Require(found != streams_.end(), cudaErrorInvalidResourceHandle);
  return *found->second;
}

cudaEvent_t Timeline::CreateEvent(unsigned flags) {
  auto event = std::make_unique<Event>();
  event->flags = flags;
  const auto handle = reinterpret_cast<cudaEvent_t>(event.get());
  events_[handle] = std::move(event);
  return handle;
}

void Timeline::DestroyEvent(cudaEvent_t event) { Require(events_.erase(event) != 0, cudaErrorInvalidResourceHandle); }

Event& Timeline::EventOf(cudaEvent_t event) {
  const auto found = events_.find(event);
  Require(found != events_.end(), cudaErrorInvalidResourceHandle);
  return *found->second;
}

double Timeline::Ready(const Stream& stream) const {
  double ready = std::max(stream.ready_us, host_us_);
  if (&stream == &default_) {
    for (const auto& [handle, other] : streams_) {
      if ((other->flags & cudaStreamNonBlocking) == 0) ready = std::max(ready, other->ready_us);
    }
  } else if ((stream.flags & cudaStreamNonBlocking) == 0) {
    ready = std::max(ready, default_.ready_us);
  }
  return ready;
}

void Timeline::Enqueue(cudaStream_t handle, double microseconds) {
  Stream& stream = StreamOf(handle);
  stream.ready_us = Ready(stream) + microseconds;
}

void Timeline::Record(cudaEvent_t event, cudaStream_t stream) {
  Event& recorded = EventOf(event);
  recorded.at_us = Ready(StreamOf(stream));
  recorded.recorded = true;
}

void Timeline::Wait(cudaStream_t handle, cudaEvent_t event) {
  Stream& stream = StreamOf(handle);
  if (const Event& awaited = EventOf(event); awaited.recorded) {
    stream.ready_us = std::max(stream.ready_us, awaited.at_us);
  }
}

void Timeline::Synchronize(cudaStream_t stream) { host_us_ = Ready(StreamOf(stream)); }

void Timeline::Synchronize(cudaEvent_t event) {
  if (const Event& awaited = EventOf(event); awaited.recorded) host_us_ = std::max(host_us_, awaited.at_us);
}

void Timeline::SynchronizeDevice() {
  host_us_ = std::max(host_us_, default_.ready_us);
  for (const auto& [handle, stream] : streams_) host_us_ = std::max(host_us_, stream->ready_us);
}

void Timeline::Reset() {
  streams_.clear();
  events_.clear();
  default_.ready_us = host_us_ = 0;
}

}  // namespace lockstep::vgpu::cudart
