// Assignment 18: Two GPUs. The solution, in the stub's order.
//
// One thread of the host issues everything. Each device has a stream, which does its kernels and what it sends; events
// order the streams of neighbours. Nothing is waited for until all has been issued.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "gpus.h"

namespace {

constexpr unsigned kThreads = 256;
unsigned BlocksOf(size_t n) { return static_cast<unsigned>((n + kThreads - 1) / kThreads); }
size_t BytesOf(size_t words) { return words * sizeof(unsigned); }

// A device with its streams, events and memory, all given back at the end.
struct Gpu {
  explicit Gpu(int ordinal) : device(ordinal) {
    cudaSetDevice(device);
    for (cudaStream_t* each : {&stream, &inner}) cudaStreamCreate(each);
    for (cudaEvent_t* each : {&sent, &added, &edges_done, &inner_done}) {
      cudaEventCreateWithFlags(each, cudaEventDisableTiming);
    }
  }
  ~Gpu() {
    cudaSetDevice(device);
    for (unsigned* each : memory) cudaFree(each);
    for (cudaStream_t each : {stream, inner}) cudaStreamDestroy(each);
    for (cudaEvent_t each : {sent, added, edges_done, inner_done}) cudaEventDestroy(each);
  }
  unsigned* Take(size_t words) {
    cudaSetDevice(device);
    memory.push_back(nullptr);
    cudaMalloc(&memory.back(), BytesOf(words));
    return memory.back();
  }
  // In the stream, after everything that it depends on.
  void Send(unsigned* to, const Gpu& other, const unsigned* from, size_t words) {
    cudaMemcpyPeerAsync(to, other.device, from, device, BytesOf(words), stream);
  }

  int device;
  cudaStream_t stream, inner;
  cudaEvent_t sent, added, edges_done, inner_done;
  std::vector<unsigned*> memory;
};

using Gpus = std::vector<std::unique_ptr<Gpu>>;

Gpus Take(int devices) {
  Gpus gpus;
  for (int d = 0; d < devices; ++d) gpus.push_back(std::make_unique<Gpu>(d));
  return gpus;
}

void Wait(const Gpus& gpus) {
  for (const auto& gpu : gpus) {
    cudaSetDevice(gpu->device);
    cudaDeviceSynchronize();
  }
}

}  // namespace

void gpus1_stages(const unsigned* h_in, unsigned* h_out, size_t n, int devices) {
  if (n == 0) return;
  const Gpus gpus = Take(devices);
  std::vector<unsigned*> in, out;
  for (const auto& gpu : gpus) {
    in.push_back(gpu->Take(n));
    out.push_back(gpu->Take(n));
  }
  cudaMemcpyAsync(in[0], h_in, BytesOf(n), cudaMemcpyHostToDevice, gpus[0]->stream);
  for (int d = 0; d < devices; ++d) {
    Gpu& gpu = *gpus[d];
    cudaSetDevice(d);
    stage_kernel<<<BlocksOf(n), kThreads, 0, gpu.stream>>>(in[d], out[d], n, d);
    if (d + 1 == devices) break;
    gpu.Send(in[d + 1], *gpus[d + 1], out[d], n);
    cudaEventRecord(gpu.sent, gpu.stream);
    cudaStreamWaitEvent(gpus[d + 1]->stream, gpu.sent, 0);
  }
  cudaMemcpyAsync(h_out, out.back(), BytesOf(n), cudaMemcpyDeviceToHost, gpus.back()->stream);
  Wait(gpus);
}

namespace {

// A device's rows, between a row of the neighbour above and one of the neighbour below, which are zeros at the field's
// ends. There are two: step k reads field k % 2 and writes the other.
struct Part {
  Part(Gpu& gpu, int width, int first, int rows) : gpu(gpu), width(width), first(first), rows(rows) {
    for (int k = 0; k < 2; ++k) {
      field[k] = gpu.Take(size_t(rows + 2) * width);
      for (const int row : {0, rows + 1}) cudaMemsetAsync(Row(k, row), 0, BytesOf(width), gpu.stream);
    }
  }
  unsigned* Row(int k, int row) const { return field[k % 2] + size_t(row) * width; }
  void Step(int k, int from, int to, cudaStream_t stream) const {
    if (from >= to) return;
    cudaSetDevice(gpu.device);
    step_kernel<<<BlocksOf(size_t(to - from) * width), kThreads, 0, stream>>>(Row(k, 0), Row(k + 1, 0), width, from,
                                                                              to);
  }
  // Sends the rows at the ends to the neighbours.
  void Send(const std::vector<Part>& parts, size_t own, int k) const {
    if (own > 0) {
      const Part& above = parts[own - 1];
      gpu.Send(above.Row(k, above.rows + 1), above.gpu, Row(k, 1), width);
    }
    if (own + 1 < parts.size()) {
      const Part& below = parts[own + 1];
      gpu.Send(below.Row(k, 0), below.gpu, Row(k, rows), width);
    }
    cudaEventRecord(gpu.sent, gpu.stream);
  }

  Gpu& gpu;
  int width, first, rows;
  unsigned* field[2];
};

// The neighbours' rows have arrived, so the neighbours no longer read what this device is about to overwrite.
void WaitForNeighbours(const std::vector<Part>& parts, size_t own) {
  if (own > 0) cudaStreamWaitEvent(parts[own].gpu.stream, parts[own - 1].gpu.sent, 0);
  if (own + 1 < parts.size()) cudaStreamWaitEvent(parts[own].gpu.stream, parts[own + 1].gpu.sent, 0);
}

using Stepper = void (*)(const std::vector<Part>& parts, int k);

void Run(const unsigned* h_in, unsigned* h_out, int width, int height, int steps, int devices, Stepper step) {
  if (width == 0 || height == 0) return;
  const int used = std::min(devices, height);  // a device without rows has no neighbours
  const Gpus gpus = Take(used);
  std::vector<Part> parts;
  for (int d = 0; d < used; ++d) {
    const int first = int(int64_t{height} * d / used), last = int(int64_t{height} * (d + 1) / used);
    const Part& part = parts.emplace_back(*gpus[d], width, first, last - first);
    cudaMemcpyAsync(part.Row(0, 1), h_in + size_t(first) * width, BytesOf(size_t(part.rows) * width),
                    cudaMemcpyHostToDevice, part.gpu.stream);
  }
  Wait(gpus);
  for (size_t d = 0; d < parts.size(); ++d) parts[d].Send(parts, d, 0);
  for (int k = 0; k < steps; ++k) step(parts, k);
  Wait(gpus);
  for (const Part& part : parts) {
    cudaMemcpyAsync(h_out + size_t(part.first) * width, part.Row(steps, 1), BytesOf(size_t(part.rows) * width),
                    cudaMemcpyDeviceToHost, part.gpu.stream);
  }
  Wait(gpus);
}

void StepThenSend(const std::vector<Part>& parts, int k) {
  for (size_t d = 0; d < parts.size(); ++d) WaitForNeighbours(parts, d);
  for (size_t d = 0; d < parts.size(); ++d) {
    parts[d].Step(k, 1, parts[d].rows + 1, parts[d].gpu.stream);
    parts[d].Send(parts, d, k + 1);
  }
}

}  // namespace

void gpus2_halo(const unsigned* h_in, unsigned* h_out, int width, int height, int steps, int devices) {
  Run(h_in, h_out, width, height, steps, devices, StepThenSend);
}

// First each device adds a segment that comes from the one before and passes it on, devices - 1 times; then it has the
// sum of one segment, and passes on sums.
void gpus3_ring(const unsigned* h_in, unsigned* h_out, size_t n, int devices) {
  if (n == 0) return;
  const Gpus gpus = Take(devices);
  const auto begin = [&](int segment) { return n * segment / devices; };
  std::vector<unsigned*> data, incoming;
  for (const auto& gpu : gpus) {
    data.push_back(gpu->Take(n));
    incoming.push_back(gpu->Take(n / devices + 1));
    cudaMemcpyAsync(data.back(), h_in + n * gpu->device, BytesOf(n), cudaMemcpyHostToDevice, gpu->stream);
  }
  Wait(gpus);
  for (int round = 0; round < 2 * (devices - 1); ++round) {
    const bool adds = round < devices - 1;
    const auto segment_of = [&](int d) { return (d - round + 2 * devices) % devices; };
    // The next device has added the segment sent before, and this one has received the one that it sends next.
    for (const auto& gpu : gpus) {
      if (round == 0) break;
      cudaStreamWaitEvent(gpu->stream, gpus[(gpu->device + 1) % devices]->added, 0);
    }
    for (const auto& gpu : gpus) {
      const int segment = segment_of(gpu->device), to = (gpu->device + 1) % devices;
      const size_t first = begin(segment), length = begin(segment + 1) - first;
      cudaSetDevice(gpu->device);
      if (length > 0) gpu->Send(adds ? incoming[to] : data[to] + first, *gpus[to], data[gpu->device] + first, length);
      cudaEventRecord(gpu->sent, gpu->stream);
    }
    for (const auto& gpu : gpus) {
      const int from = (gpu->device + devices - 1) % devices, segment = segment_of(from);
      const size_t first = begin(segment), length = begin(segment + 1) - first;
      cudaSetDevice(gpu->device);
      cudaStreamWaitEvent(gpu->stream, gpus[from]->sent, 0);
      if (adds && length > 0) {
        add_kernel<<<BlocksOf(length), kThreads, 0, gpu->stream>>>(incoming[gpu->device], data[gpu->device] + first,
                                                                   length);
      }
      cudaEventRecord(gpu->added, gpu->stream);
    }
  }
  for (const auto& gpu : gpus) {
    cudaMemcpyAsync(h_out + n * gpu->device, data[gpu->device], BytesOf(n), cudaMemcpyDeviceToHost, gpu->stream);
  }
  Wait(gpus);
}

namespace {

// The rows at the ends in the first stream, which sends them; all others in the second one.
void SendBesideStep(const std::vector<Part>& parts, int k) {
  for (size_t d = 0; d < parts.size(); ++d) {
    const Gpu& gpu = parts[d].gpu;
    WaitForNeighbours(parts, d);
    cudaStreamWaitEvent(gpu.stream, gpu.inner_done, 0);
    cudaStreamWaitEvent(gpu.inner, gpu.edges_done, 0);
  }
  for (size_t d = 0; d < parts.size(); ++d) {
    const Part& part = parts[d];
    part.Step(k, 1, 2, part.gpu.stream);
    part.Step(k, std::max(part.rows, 2), part.rows + 1, part.gpu.stream);
    cudaEventRecord(part.gpu.edges_done, part.gpu.stream);
    part.Step(k, 2, part.rows, part.gpu.inner);
    cudaEventRecord(part.gpu.inner_done, part.gpu.inner);
    part.Send(parts, d, k + 1);
  }
}

}  // namespace

void gpus4_overlap(const unsigned* h_in, unsigned* h_out, int width, int height, int steps, int devices) {
  Run(h_in, h_out, width, height, steps, devices, SendBesideStep);
}
