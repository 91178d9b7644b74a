// points: 100 + 10
// Uses cudaMallocPitch, cudaMemcpy3D, a peer copy from the device to itself, and a wait for an event.
#include <algorithm>
#include <functional>
#include <initializer_list>

#include "copy.h"

namespace {

using Step = std::function<cudaError_t()>;

cudaError_t all_of(std::initializer_list<Step> steps) {
  for (const Step& step : steps) {
    if (const cudaError_t error = step(); error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

struct Rows {
  void* d_data = nullptr;
  size_t pitch = 0;
  ~Rows() { cudaFree(d_data); }
  Step make(size_t bytes) {
    return [this, bytes] { return cudaMallocPitch(&d_data, &pitch, bytes, 1); };
  }
};

cudaError_t copy_3d(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t bytes, cudaMemcpyKind kind) {
  cudaMemcpy3DParms parms = {};
  parms.srcPtr = make_cudaPitchedPtr(const_cast<void*>(from), from_pitch, bytes, 1);
  parms.dstPtr = make_cudaPitchedPtr(to, to_pitch, bytes, 1);
  parms.extent = make_cudaExtent(bytes, 1, 1);
  parms.kind = kind;
  return cudaMemcpy3D(&parms);
}

struct Event {
  cudaEvent_t event = nullptr;
  ~Event() {
    if (event != nullptr) cudaEventDestroy(event);
  }
};

cudaError_t by_way_of_two(const int* from, int* to, size_t n) {
  const size_t bytes = n * sizeof(int);
  if (n == 0) return cudaSuccess;
  Rows a, b;
  Event done;
  int device = 0;
  return all_of({
      [&] { return cudaGetDevice(&device); },
      a.make(bytes),
      b.make(bytes),
      [&] { return cudaEventCreateWithFlags(&done.event, cudaEventDisableTiming); },
      [&] { return copy_3d(a.d_data, a.pitch, from, bytes, bytes, cudaMemcpyHostToDevice); },
      [&] { return cudaMemcpyPeerAsync(b.d_data, device, a.d_data, device, bytes, nullptr); },
      [&] { return cudaEventRecord(done.event); },
      [&] { return cudaEventSynchronize(done.event); },
      [&] { return copy_3d(to, bytes, b.d_data, b.pitch, bytes, cudaMemcpyDeviceToHost); },
  });
}

}  // namespace

cudaError_t copy1_round_trip(const int* h_in, int* h_out, size_t n) {
  const size_t bytes = n * sizeof(int);
  Rows a;
  if (n == 0) return cudaSuccess;
  return all_of({a.make(bytes),
                 [&] { return cudaMemcpy2D(a.d_data, a.pitch, h_in, bytes, bytes, 1, cudaMemcpyHostToDevice); },
                 [&] { return cudaMemcpy2D(h_out, bytes, a.d_data, a.pitch, bytes, 1, cudaMemcpyDeviceToHost); }});
}

cudaError_t copy2_two_buffers(const int* h_in, int* h_out, size_t n) { return by_way_of_two(h_in, h_out, n); }
cudaError_t copy3_checked(const int* h_in, int* h_out, size_t n) { return by_way_of_two(h_in, h_out, n); }

cudaError_t copy4_pinned(const int* h_in, int* h_out, size_t n) {
  if (n == 0) return cudaSuccess;
  struct Locked {
    int* h = nullptr;
    ~Locked() {
      if (h != nullptr) cudaFreeHost(h);
    }
  } in, out;
  return all_of({[&] { return cudaHostAlloc(&in.h, n * sizeof(int), cudaHostAllocWriteCombined); },
                 [&] { return cudaHostAlloc(&out.h, n * sizeof(int), cudaHostAllocDefault); },
                 [&] {
                   std::copy_n(h_in, n, in.h);
                   return by_way_of_two(in.h, out.h, n);
                 },
                 [&] {
                   std::copy_n(out.h, n, h_out);
                   return cudaSuccess;
                 }});
}
