// points: 100
// Passes are unrolled by templates that call themselves, and a block's threads are a group. The search is a list of
// stages, each of which says what it wants to know next.
#include <cooperative_groups.h>

#include <climits>
#include <functional>
#include <optional>
#include <vector>

#include "tuning.h"

namespace cg = cooperative_groups;

namespace {

template <int kLeft, int kEach>
struct Pass {
  __device__ static void Compare(const int* marks, const int (&values)[kEach], int (&counts)[kEach]) {
    const int mark = *marks;
#pragma unroll
    for (int e = 0; e < kEach; ++e) counts[e] = mark < values[e] ? counts[e] + 1 : counts[e];
    Pass<kLeft - 1, kEach>::Compare(marks + 1, values, counts);
  }
};
template <int kEach>
struct Pass<0, kEach> {
  __device__ static void Compare(const int*, const int (&)[kEach], int (&)[kEach]) {}
};

struct Job {
  const int* in;
  int* out;
  unsigned n;
  const int* marks;
  unsigned m;
};

template <int kLength, int kEach>
__global__ void Recursive(Job job, int tile) {
  extern __shared__ int shared[];
  const cg::thread_block block = cg::this_thread_block();
  const unsigned rank = block.thread_rank(), size = block.size();
  const unsigned base = block.group_index().x * size * kEach;
  int values[kEach], counts[kEach];
#pragma unroll
  for (int e = 0; e < kEach; ++e) {
    const unsigned i = base + rank + e * size;
    values[e] = i < job.n ? job.in[i] : INT_MIN;
    counts[e] = 0;
  }
  for (unsigned at = 0; at < job.m; at += tile) {
    for (int t = static_cast<int>(rank); t < tile; t += static_cast<int>(size)) {
      shared[t] = at + t < job.m ? job.marks[at + t] : INT_MAX;
    }
    block.sync();
#pragma unroll 1
    for (const int* mark = shared; mark != shared + tile; mark += kLength)
      Pass<kLength, kEach>::Compare(mark, values, counts);
    block.sync();
  }
#pragma unroll
  for (int e = 0; e < kEach; ++e) {
    const unsigned i = base + rank + e * size;
    if (i < job.n) job.out[i] = counts[e];
  }
}

using Instance = void (*)(Job, int);

std::optional<Instance> InstanceFor(const Config& c) {
  const std::tuple<int, int, Instance> all[] = {
      {1, 1, Recursive<1, 1>}, {1, 2, Recursive<1, 2>}, {1, 4, Recursive<1, 4>}, {4, 1, Recursive<4, 1>},
      {4, 2, Recursive<4, 2>}, {4, 4, Recursive<4, 4>}, {8, 1, Recursive<8, 1>}, {8, 2, Recursive<8, 2>}};
  const int blocks[] = {64, 128, 256, 512};
  bool is_block = false;
  for (const int block : blocks) is_block = is_block || block == c.block;
  const bool is_tile = c.tile == 32 || c.tile == 128 || c.tile == 512;
  if (!is_block || !is_tile || c.tile > 4 * c.block || static_cast<long>(c.block) * c.items > 1024) return std::nullopt;
  for (const auto& [unroll, items, instance] : all) {
    if (unroll == c.unroll && items == c.items) return instance;
  }
  return std::nullopt;
}

int Perform(const Job& job, const Config& c) {
  const std::optional<Instance> instance = InstanceFor(c);
  if (!instance) return kRefused;
  const unsigned each = c.block * c.items, blocks = job.n / each + (job.n % each != 0);
  if (blocks == 0) return kDone;
  (*instance)<<<blocks, c.block, c.tile * sizeof(int)>>>(job, c.tile);
  return cudaGetLastError() == cudaSuccess ? kDone : kDoesNotFit;
}

class Event {
 public:
  Event() { cudaEventCreate(&event_); }
  ~Event() { cudaEventDestroy(event_); }
  Event(const Event&) = delete;
  void Record() { cudaEventRecord(event_); }
  float Since(const Event& other) {
    float milliseconds = 0;
    cudaEventSynchronize(event_);
    cudaEventElapsedTime(&milliseconds, other.event_, event_);
    return milliseconds;
  }

 private:
  cudaEvent_t event_;
};

int TimeOf(const Job& job, const Config& c, float* milliseconds) {
  Event begin, end;
  begin.Record();
  const int code = Perform(job, c);
  end.Record();
  const float time = end.Since(begin);
  if (code == kDone) *milliseconds = time;
  return code;
}

struct Result {
  Config config;
  float time;
};

// Asks a stage for the next configuration until it has none, and tells it of each result.
class Search {
 public:
  explicit Search(const Job& job) : job_(job) {}
  void Try(const Config& c) {
    Result result{c, 0};
    if (TimeOf(job_, c, &result.time) != kDone) return;
    size_t place = results.size();
    results.push_back(result);
    for (; place > 0 && results[place - 1].time > results[place].time; --place)
      std::swap(results[place - 1], results[place]);
  }
  std::vector<Result> results;  // the fastest first

 private:
  Job job_;
};

}  // namespace

int tuning1_family(const int* d_in, int* d_out, unsigned n, const int* d_marks, unsigned m, int block, int tile,
                   int unroll, int items) {
  return Perform({d_in, d_out, n, d_marks, m}, {block, tile, unroll, items});
}

int tuning2_clock(const int* d_in, int* d_out, unsigned n, const int* d_marks, unsigned m, int block, int tile,
                  int unroll, int items, float* milliseconds) {
  return TimeOf({d_in, d_out, n, d_marks, m}, {block, tile, unroll, items}, milliseconds);
}

int tuning3_exhaustive(const int* d_in, int* d_out, unsigned n, const int* d_marks, unsigned m, Config* best) {
  Search search({d_in, d_out, n, d_marks, m});
  for (const int tile : kTiles)
    for (const int block : kBlocks)
      for (const int items : kItems)
        for (const int unroll : kUnrolls) search.Try({block, tile, unroll, items});
  *best = search.results.at(0).config;
  return kDone;
}

int tuning4_frugal(const int* d_in, int* d_out, unsigned n, const int* d_marks, unsigned m, Config* best) {
  Search search({d_in, d_out, n, d_marks, m});
  const std::function<void()> stages[] = {
      [&] {
        for (const int block : {64, 128, 256, 512}) search.Try({block, 128, 8, 1});
      },
      [&] {
        for (const int block : {64, 128, 256, 512}) search.Try({block, 128, 8, 2});
      },
      [&] {
        for (const int block : {64, 128, 256}) search.Try({block, 128, 4, 4});
      },
      [&] {
        const std::vector<Result> leaders(search.results.begin(), search.results.begin() + 4);
        for (const Result& leader : leaders)
          search.Try({leader.config.block, 32, leader.config.unroll, leader.config.items});
      },
      [&] {
        const Config c = search.results[0].config;
        if (c.block >= 128) search.Try({c.block, 512, c.unroll, c.items});
        if (c.items < 4) search.Try({c.block, c.tile, 4, c.items});
      }};
  for (const auto& stage : stages) stage();
  *best = search.results[0].config;
  return kDone;
}
