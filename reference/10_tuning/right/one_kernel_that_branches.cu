// points: 100
// One kernel for all: it gets unroll and items as arguments, and branches to the code for them. So it has the registers
// of the largest.
#include <climits>

#include "tuning.h"

template <int unroll, int items>
__device__ __forceinline__ void count_below(const int* d_in, int* d_out, unsigned n, const int* d_marks, unsigned m,
                                            unsigned tile, int* buffer) {
  const unsigned start = blockIdx.x * blockDim.x * items + threadIdx.x;
  const unsigned stop = min(n, (blockIdx.x + 1) * blockDim.x * items);
  int element[items] = {}, result[items] = {};
#pragma unroll
  for (int k = 0; k < items; k++) {
    if (start + k * blockDim.x < stop) element[k] = d_in[start + k * blockDim.x];
  }
  for (unsigned offset = 0; offset < m; offset += tile) {
    __syncthreads();
    for (unsigned k = threadIdx.x; k < tile; k += blockDim.x) {
      buffer[k] = (offset + k < m) ? d_marks[offset + k] : INT_MAX;
    }
    __syncthreads();
#pragma unroll unroll
    for (unsigned k = 0; k < tile; k++) {
      int mark = buffer[k];
#pragma unroll
      for (int i = 0; i < items; i++) result[i] += (element[i] > mark);
    }
  }
#pragma unroll
  for (int k = 0; k < items; k++) {
    if (start + k * blockDim.x < stop) d_out[start + k * blockDim.x] = result[k];
  }
}

__global__ void any_of_them(const int* d_in, int* d_out, unsigned n, const int* d_marks, unsigned m, unsigned tile,
                            int unroll, int items) {
  extern __shared__ int buffer[];
#define GO(u, i) \
  if (unroll == u && items == i) return count_below<u, i>(d_in, d_out, n, d_marks, m, tile, buffer);
  GO(1, 1)
  GO(1, 2)
  GO(1, 4)
  GO(4, 1)
  GO(4, 2)
  GO(4, 4)
  GO(8, 1)
  GO(8, 2)
#undef GO
}

static int is_valid(int block, int tile, int unroll, int items) {
  switch (block) {
    case 64:
    case 128:
    case 256:
    case 512:
      break;
    default:
      return 0;
  }
  switch (tile) {
    case 32:
    case 128:
      break;
    case 512:
      if (block == 64) return 0;
      break;
    default:
      return 0;
  }
  switch (items) {
    case 1:
    case 2:
      return unroll == 1 || unroll == 4 || unroll == 8;
    case 4:
      return block != 512 && (unroll == 1 || unroll == 4);
    default:
      return 0;
  }
}

int tuning1_family(const int* d_in, int* d_out, unsigned n, const int* d_marks, unsigned m, int block, int tile,
                   int unroll, int items) {
  if (!is_valid(block, tile, unroll, items)) return kRefused;
  if (n > 0) {
    unsigned blocks = (n + block * items - 1) / (block * items);
    any_of_them<<<blocks, block, tile * sizeof(int)>>>(d_in, d_out, n, d_marks, m, tile, unroll, items);
    if (cudaGetLastError() != cudaSuccess) return kDoesNotFit;
  }
  return kDone;
}

int tuning2_clock(const int* d_in, int* d_out, unsigned n, const int* d_marks, unsigned m, int block, int tile,
                  int unroll, int items, float* milliseconds) {
  cudaEvent_t events[2];
  cudaEventCreate(&events[0]);
  cudaEventCreate(&events[1]);
  cudaEventRecord(events[0], cudaStreamPerThread);
  cudaEventRecord(events[0]);
  int code = tuning1_family(d_in, d_out, n, d_marks, m, block, tile, unroll, items);
  if (code != kDone) goto end;
  cudaEventRecord(events[1]);
  cudaEventSynchronize(events[1]);
  cudaEventElapsedTime(milliseconds, events[0], events[1]);
end:
  cudaEventDestroy(events[0]);
  cudaEventDestroy(events[1]);
  return code;
}

struct list {
  Config config[128];
  float time[128];
  int length;
};

static void add(struct list* list, const int* d_in, int* d_out, unsigned n, const int* d_marks, unsigned m, int block,
                int tile, int unroll, int items) {
  float time;
  for (int k = 0; k < list->length; k++) {
    const Config* c = &list->config[k];
    if (c->block == block && c->tile == tile && c->unroll == unroll && c->items == items) return;
  }
  if (tuning2_clock(d_in, d_out, n, d_marks, m, block, tile, unroll, items, &time) != kDone) return;
  list->config[list->length].block = block;
  list->config[list->length].tile = tile;
  list->config[list->length].unroll = unroll;
  list->config[list->length].items = items;
  list->time[list->length++] = time;
}

// The place of the fastest that is slower than `above`.
static int next_above(const struct list* list, float above) {
  int place = -1;
  for (int k = 0; k < list->length; k++) {
    if (list->time[k] > above && (place < 0 || list->time[k] < list->time[place])) place = k;
  }
  return place;
}

int tuning3_exhaustive(const int* d_in, int* d_out, unsigned n, const int* d_marks, unsigned m, Config* best) {
  struct list list;
  list.length = 0;
  for (int b = 0; b < 4; b++)
    for (int t = 0; t < 3; t++)
      for (int u = 0; u < 3; u++)
        for (int i = 0; i < 3; i++)
          add(&list, d_in, d_out, n, d_marks, m, kBlocks[b], kTiles[t], kUnrolls[u], kItems[i]);
  *best = list.config[next_above(&list, -1)];
  return kDone;
}

int tuning4_frugal(const int* d_in, int* d_out, unsigned n, const int* d_marks, unsigned m, Config* best) {
  struct list list;
  list.length = 0;
  for (int block = 64; block <= 512; block *= 2) {
    add(&list, d_in, d_out, n, d_marks, m, block, 128, 8, 1);
    add(&list, d_in, d_out, n, d_marks, m, block, 128, 8, 2);
    add(&list, d_in, d_out, n, d_marks, m, block, 128, 4, 4);
  }
  float time = -1;
  Config leader[4];
  for (int k = 0; k < 4; k++) {
    int place = next_above(&list, time);
    leader[k] = list.config[place];
    time = list.time[place];
  }
  for (int k = 0; k < 4; k++)
    add(&list, d_in, d_out, n, d_marks, m, leader[k].block, 32, leader[k].unroll, leader[k].items);
  for (int k = 0; k < 2; k++)
    add(&list, d_in, d_out, n, d_marks, m, leader[k].block, 512, leader[k].unroll, leader[k].items);
  Config c = list.config[next_above(&list, -1)];
  for (int u = 0; u < 2 && list.length < kFewLaunches; u++)
    add(&list, d_in, d_out, n, d_marks, m, c.block, c.tile, kUnrolls[u], c.items);
  *best = list.config[next_above(&list, -1)];
  return kDone;
}
