#include "vgpu/cudart/timeline.h"

#include <algorithm>
#include <utility>

#include "vgpu/cudart/runtime.h"

namespace lockstep::vgpu::cudart {

std::set<const void*>& LostHandles() {
  static auto* const handles = new std::set<const void*>;
  return *handles;
}

Stream& Timeline::DefaultOf(int device) {
  const auto [stream, is_new] = defaults_.try_emplace(device);
  if (is_new) {
    stream->second.device = device;
    stream->second.id = next_id_++;
    stream->second.slot = clocks_.Add(device, StreamKind::kDefault);
  }
  return stream->second;
}

bool Timeline::IsDefault(const Stream& stream) const {
  const auto found = defaults_.find(stream.device);
  return found != defaults_.end() && &found->second == &stream;
}

cudaStream_t Timeline::CreateStream(int device, unsigned flags, int priority) {
  DefaultOf(device);  // created before, so that it has the first id
  auto stream = std::make_unique<Stream>(Stream{device, flags, priority, next_id_++, host_us_, {}, {}});
  stream->slot =
      clocks_.Add(device, (flags & cudaStreamNonBlocking) != 0 ? StreamKind::kNonBlocking : StreamKind::kBlocking);
  stream->number = ++created_;
  stream->context = OwnContext();
  const auto handle = reinterpret_cast<cudaStream_t>(stream.get());
  streams_[handle] = std::move(stream);
  return handle;
}

// This thread's cudaStreamPerThread on the device, created on first use. It synchronises with the legacy stream.
Stream& Timeline::OfThisThread(int device) {
  cudaStream_t& handle = of_threads_[{device, std::this_thread::get_id()}];
  if (handle == nullptr) handle = CreateStream(device, cudaStreamDefault, 0);
  Stream& stream = *streams_.at(handle);
  stream.context.reset();
  return stream;
}

bool& NullIsOfThread() {
  static thread_local bool is = false;
  return is;
}

void Timeline::DestroyStream(cudaStream_t stream) {
  const auto found = streams_.find(stream);
  Require(found != streams_.end() || CalledAs() == nullptr || !LostHandles().contains(stream),
          cudaErrorContextIsDestroyed);
  Require(found != streams_.end(), cudaErrorInvalidResourceHandle);
  clocks_.Remove(found->second->slot);
  streams_.erase(found);
}

Stream& Timeline::StreamOf(int device, cudaStream_t stream) {
  if (stream == cudaStreamPerThread || (stream == nullptr && NullIsOfThread())) return OfThisThread(device);
  if (stream == nullptr || stream == cudaStreamLegacy) return DefaultOf(device);
  const auto found = streams_.find(stream);
  Require(found != streams_.end() && !found->second->destroyed, cudaErrorInvalidResourceHandle);
  return *found->second;
}

cudaEvent_t Timeline::CreateEvent(int device, unsigned flags) {
  auto event = std::make_unique<Event>();
  event->device = device;
  event->flags = flags;
  event->context = OwnContext();
  const auto handle = reinterpret_cast<cudaEvent_t>(event.get());
  events_[handle] = std::move(event);
  return handle;
}

void Timeline::DestroyEvent(cudaEvent_t event) {
  EventOf(event);
  events_.erase(event);
}

Event& Timeline::EventOf(cudaEvent_t event) {
  const auto found = events_.find(event);
  Require(found != events_.end() || !LostHandles().contains(event), cudaErrorContextIsDestroyed);
  Require(found != events_.end(), cudaErrorInvalidResourceHandle);
  found->second->Settle();
  return *found->second;
}

void Event::Settle() {
  if (later == nullptr || !later->recorded) return;
  recorded = true;
  stream = later->stream;
  at_us = later->at_us;
  clock = later->clock;
  later.reset();
}

double Timeline::Ready(const Stream& stream) const {
  double ready = std::max(stream.ready_us, host_us_);
  if (IsDefault(stream)) {
    for (const auto& [handle, other] : streams_) {
      if (other->device == stream.device && (other->flags & cudaStreamNonBlocking) == 0) {
        ready = std::max(ready, other->ready_us);
      }
    }
  } else if ((stream.flags & cudaStreamNonBlocking) == 0) {
    if (const auto legacy = defaults_.find(stream.device); legacy != defaults_.end()) {
      ready = std::max(ready, legacy->second.ready_us);
    }
  }
  return ready;
}

void Timeline::Enqueue(Stream& stream, double microseconds, const OperationName& what) {
  const double begins = Ready(stream);
  stream.ready_us = begins + microseconds;
  if (!keeps_) return;
  operations_.push_back({stream.device, stream.number, stream.in_graph, begins, microseconds, what.category,
                         std::string(what.name), what.bytes});
}

void Timeline::Record(Event& event, Stream& stream) {
  event.at_us = Ready(stream);
  if (IsDefault(stream)) stream.ready_us = event.at_us;  // later work of blocking streams waits for the event
  event.clock = clocks_.Record(stream.slot);
  event.recorded = true;
  event.stream = &stream;
}

void Timeline::Wait(Stream& stream, const Event& event) {
  if (!event.recorded) return;
  stream.ready_us = std::max(IsDefault(stream) ? Ready(stream) : stream.ready_us, event.at_us);
  clocks_.Wait(stream.slot, event.clock);
}

StreamPoint Timeline::Begin(const Stream& stream) {
  StreamPoint point;
  clocks_.Begin(stream.slot, point);
  point.stream = stream.number == 0 ? "the default stream" : "stream " + std::to_string(stream.number);
  if (stream.in_graph) point.stream = "a graph in " + point.stream;
  return point;
}

void Timeline::Synchronize(const Stream& stream) {
  MoveHostTo(stream);
  clocks_.HostWaits(stream.slot);
}

void Timeline::MoveHostToEnd() {
  for (const auto& [device, stream] : defaults_) host_us_ = std::max(host_us_, stream.ready_us);
  for (const auto& [handle, stream] : streams_) host_us_ = std::max(host_us_, stream->ready_us);
}

void Timeline::Synchronize(const Event& event) {
  if (!event.recorded) return;
  host_us_ = std::max(host_us_, event.at_us);
  clocks_.HostWaits(event.clock);
}

bool Timeline::AskWhetherOver(Questions& asked, double end_us) {
  if (end_us <= host_us_) return true;
  if (std::exchange(asked.end_us, end_us) != end_us) asked.times = 0;
  if (++asked.times <= kAsks) return false;
  host_us_ = end_us;
  return true;
}

void Timeline::SynchronizeDevice(int device, bool seen) {
  host_us_ = std::max(host_us_, DefaultOf(device).ready_us);
  for (const auto& [handle, stream] : streams_) {
    if (stream->device == device) host_us_ = std::max(host_us_, stream->ready_us);
  }
  seen ? clocks_.HostWaitsForDevice(device) : clocks_.Fence(device);
}

void Timeline::LeaveCapture(const Capture* capture) {
  const auto leave = [capture](auto& thing) {
    if (thing.point.capture.get() == capture) thing.point = {};
  };
  for (auto& [handle, stream] : streams_) leave(*stream);
  for (auto& [handle, event] : events_) {
    event->of_ended_capture |= event->point.capture.get() == capture;
    leave(*event);
  }
}

void Timeline::ForgetNode(const Node* node) {
  for (auto& [handle, stream] : streams_) std::erase(stream->point.after, node);
  for (auto& [handle, event] : events_) std::erase(event->point.after, node);
}

void Timeline::End(const void* context) {
  std::erase_if(streams_, [&](const auto& entry) {
    if (entry.second->context != context) return false;
    clocks_.Remove(entry.second->slot);
    return LostHandles().insert(entry.first).second;
  });
  std::erase_if(events_, [&](const auto& entry) {
    return entry.second->context == context && LostHandles().insert(entry.first).second;
  });
}

void Timeline::Reset(int device) {
  clocks_.HostWaitsForDevice(device);
  std::erase_if(of_threads_, [device](const auto& entry) { return entry.first.first == device; });
  std::erase_if(streams_, [this, device](const auto& entry) {
    if (entry.second->device != device) return false;
    clocks_.Remove(entry.second->slot);
    LostHandles().insert(entry.first);
    return true;
  });
  std::erase_if(events_, [device](const auto& entry) { return entry.second->device == device; });
  DefaultOf(device).ready_us = 0;
  if (streams_.empty() && events_.empty()) host_us_ = 0;
}

}  // namespace lockstep::vgpu::cudart
