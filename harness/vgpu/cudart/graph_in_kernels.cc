// Graphs that kernels launch. A kernel's call only asks for the launch. A graph that runs beside its launcher starts
// when the kernel has ended, which is as good as any time; one for the tail when the launching graph has ended.
#include <mutex>

#include "vgpu/cudart/graph.h"

namespace lockstep::vgpu::cudart {

namespace {

struct Request {
  uint64_t graph = 0, from = 0;
  bool is_tail = false;
};
struct Startable {
  bool uploaded = false, running = false, asked = false;
};
// Executable graphs for device launch, by their handles.
struct DeviceGraphs {
  std::mutex mutex;  // not the runtime's, which threads that run kernels can't take
  std::map<uint64_t, Startable> all;
  std::vector<Request> requests;
};
DeviceGraphs& Offered() {
  static DeviceGraphs* const graphs = new DeviceGraphs;
  return *graphs;
}

uint64_t NameOf(const ExecutableGraph* executable) { return reinterpret_cast<uint64_t>(executable); }

// The next graph that a graph's kernels asked for.
ExecutableGraph* Take(const ExecutableGraph* from, bool is_tail) {
  const std::lock_guard lock(Offered().mutex);
  const auto found = std::ranges::find_if(Offered().requests, [&](const Request& request) {
    return request.from == NameOf(from) && request.is_tail == is_tail;
  });
  if (found == Offered().requests.end()) return nullptr;
  const uint64_t graph = found->graph;
  Offered().requests.erase(found);
  Offered().all.at(graph).asked = false;
  return &ExecutableOf(reinterpret_cast<cudaGraphExec_t>(graph));
}

void SetRunning(const ExecutableGraph& executable, bool runs) {
  const std::lock_guard lock(Offered().mutex);
  const auto found = Offered().all.find(NameOf(&executable));
  if (found != Offered().all.end()) found->second.uploaded = true, found->second.running = runs;
}

void LaunchOne(Runtime& r, ExecutableGraph& executable, Stream& stream) {
  BeforeLaunch(r, executable);
  executable.done.Settle();
  WaitInOrder(r, executable.done, stream);
  StartConditions(r, executable, stream);
  {
    const InLane in_graph(stream, stream.slot, stream.in_graph, &executable);
    PerformNodes(r, executable, stream);
  }
  RecordInOrder(r, executable.done, stream);
}

}  // namespace

void LaunchGraph(Runtime& r, ExecutableGraph& executable, Stream& stream) {
  std::vector<ExecutableGraph*> next = {&executable};
  while (!next.empty()) {
    ExecutableGraph& one = *next.back();
    next.pop_back();
    SetRunning(one, true);
    try {
      LaunchOne(r, one, stream);
    } catch (...) {
      SetRunning(one, false);
      throw;
    }
    SetRunning(one, false);
    std::vector<ExecutableGraph*> tails;
    while (ExecutableGraph* const tail = Take(&one, true)) tails.push_back(tail);
    next.insert(next.end(), tails.rbegin(), tails.rend());
  }
}

void OfferToKernels(const ExecutableGraph& executable) {
  const std::lock_guard lock(Offered().mutex);
  Offered().all[NameOf(&executable)].uploaded = (executable.flags & cudaGraphInstantiateFlagUpload) != 0;
}

void WithdrawFromKernels(const ExecutableGraph& executable) {
  const std::lock_guard lock(Offered().mutex);
  Offered().all.erase(NameOf(&executable));
  std::erase_if(Offered().requests, [&](const Request& one) { return one.graph == NameOf(&executable); });
}

void NoteUpload(const ExecutableGraph& executable) {
  const std::lock_guard lock(Offered().mutex);
  if (const auto found = Offered().all.find(NameOf(&executable)); found != Offered().all.end()) {
    found->second.uploaded = true;
  }
}

std::optional<uint32_t> AskForGraph(uint64_t graph, uint64_t stream, uint64_t from) {
  // cudaStreamGraphTailLaunch and the two streams of graphs that run beside their launcher.
  constexpr uint64_t kTail = uint64_t{1} << 56, kBeside = uint64_t{2} << 56, kSibling = uint64_t{3} << 56;
  const bool is_tail = stream == kTail;
  const std::lock_guard lock(Offered().mutex);
  const auto found = Offered().all.find(graph);
  if (graph != 0 && found == Offered().all.end()) return std::nullopt;
  const bool knows_stream = is_tail || stream == kBeside || stream == kSibling;
  if (graph == 0 || !knows_stream || !found->second.uploaded) return cudaErrorInvalidValue;
  // A graph can't run twice at a time. It may follow itself.
  const bool is_free = !found->second.running || (is_tail && graph == from);
  if (found->second.asked || !is_free) return cudaErrorInvalidValue;
  found->second.asked = true;
  Offered().requests.push_back({graph, from, is_tail});
  return cudaSuccess;
}

void StartAsked(Runtime& r, Stream& stream) {
  {
    const std::lock_guard lock(Offered().mutex);
    if (stream.graph == nullptr || Offered().all.empty()) return;
  }
  r.beside().WaitFor(r, r.beside().Before(r, stream));
  while (ExecutableGraph* const next = Take(stream.graph, false)) LaunchGraph(r, *next, stream);
}

}  // namespace lockstep::vgpu::cudart
