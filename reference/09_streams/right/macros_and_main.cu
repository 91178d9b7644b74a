// points: 100
// C with a macro for every call, a main that it was tried out with, and streams in arrays of fixed length.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "streams.h"

#define CHECK(call)                                                              \
  do {                                                                           \
    cudaError_t e_ = (call);                                                     \
    if (e_ != cudaSuccess) {                                                     \
      fprintf(stderr, "%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorString(e_)); \
      exit(1);                                                                   \
    }                                                                            \
  } while (0)

#define MAX_STREAMS 8
#define PARTS 24
#define TPB 128

static float *up, *down, *dev_in, *dev_out;
static cudaStream_t lanes[MAX_STREAMS];

static void setup(const float *h_in, size_t n, int count) {
  int i;
  CHECK(cudaMallocHost((void **)&up, n * sizeof *up));
  CHECK(cudaMallocHost((void **)&down, n * sizeof *down));
  CHECK(cudaMalloc((void **)&dev_in, n * sizeof *up));
  CHECK(cudaMalloc((void **)&dev_out, n * sizeof *up));
  for (i = 0; i < count; i++) CHECK(cudaStreamCreate(&lanes[i]));
  memcpy(up, h_in, n * sizeof *up);
}

static void finish(float *h_out, size_t n, int count) {
  int i;
  CHECK(cudaDeviceSynchronize());
  memcpy(h_out, down, n * sizeof *down);
  for (i = 0; i < count; i++) CHECK(cudaStreamDestroy(lanes[i]));
  CHECK(cudaFree(dev_out));
  CHECK(cudaFree(dev_in));
  CHECK(cudaFreeHost(down));
  CHECK(cudaFreeHost(up));
}

/* the part's first element, and how many it has */
static size_t cut(size_t n, int part, size_t *from) {
  size_t each = n / PARTS, more = n % PARTS;
  *from = part * each + (part < (int)more ? part : more);
  return each + (part < (int)more);
}

static void there(int part, size_t n, cudaStream_t s) {
  size_t from, len = cut(n, part, &from);
  if (len) CHECK(cudaMemcpyAsync(dev_in + from, up + from, len * sizeof *up, cudaMemcpyHostToDevice, s));
}

static void run(int part, size_t n, cudaStream_t s) {
  size_t from, len = cut(n, part, &from);
  if (!len) return;
  simulate_kernel<<<(unsigned)(1 + (len - 1) / TPB), TPB, 0, s>>>(dev_in + from, dev_out + from, (unsigned)len);
  CHECK(cudaGetLastError());
}

static void back(int part, size_t n, cudaStream_t s) {
  size_t from, len = cut(n, part, &from);
  if (len) CHECK(cudaMemcpyAsync(down + from, dev_out + from, len * sizeof *down, cudaMemcpyDeviceToHost, s));
}

void streams1_pinned(const float *h_in, float *h_out, size_t n) {
  if (!n) return;
  setup(h_in, n, 0);
  CHECK(cudaMemcpy(dev_in, up, n * sizeof *up, cudaMemcpyHostToDevice));
  simulate_kernel<<<(unsigned)(1 + (n - 1) / TPB), TPB>>>(dev_in, dev_out, (unsigned)n);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(down, dev_out, n * sizeof *down, cudaMemcpyDeviceToHost));
  finish(h_out, n, 0);
}

void streams2_chunks(const float *h_in, float *h_out, size_t n, int streams) {
  int p;
  if (!n) return;
  setup(h_in, n, streams);
  for (p = 0; p < PARTS; p++) {
    there(p, n, lanes[p % streams]);
    run(p, n, lanes[p % streams]);
    back(p, n, lanes[p % streams]);
  }
  finish(h_out, n, streams);
}

/* a copy back goes after the next copies there: software pipelining, two parts deep */
void streams3_one_engine(const float *h_in, float *h_out, size_t n) {
  int p;
  if (!n) return;
  setup(h_in, n, MAX_STREAMS);
  for (p = 0; p < PARTS + 2; p++) {
    if (p < PARTS) {
      there(p, n, lanes[p % MAX_STREAMS]);
      run(p, n, lanes[p % MAX_STREAMS]);
    }
    if (p >= 2) back(p - 2, n, lanes[(p - 2) % MAX_STREAMS]);
  }
  finish(h_out, n, MAX_STREAMS);
}

void streams4_events(const float *h_in, float *h_out, size_t n) {
  size_t pieces = (n + kPiece - 1) / kPiece, p;
  float *carry;
  cudaEvent_t ended[MAX_STREAMS];
  if (!n) return;
  setup(h_in, n, MAX_STREAMS);
  CHECK(cudaMalloc((void **)&carry, (pieces + 1) * sizeof *carry));
  CHECK(cudaMemset(carry, 0, (pieces + 1) * sizeof *carry));
  for (p = 0; p < MAX_STREAMS; p++) CHECK(cudaEventCreate(&ended[p]));
  for (p = 0; p < pieces; p++) {
    size_t from = p * kPiece, len = n - from < kPiece ? n - from : kPiece;
    cudaStream_t s = lanes[p % MAX_STREAMS];
    CHECK(cudaMemcpyAsync(dev_in + from, up + from, len * sizeof *up, cudaMemcpyHostToDevice, s));
    if (p) CHECK(cudaStreamWaitEvent(s, ended[(p - 1) % MAX_STREAMS], 0));
    chain_kernel<<<(unsigned)(1 + (len - 1) / TPB), TPB, 0, s>>>(dev_in + from, dev_out + from, (unsigned)len,
                                                                 carry + p, carry + p + 1);
    CHECK(cudaGetLastError());
    CHECK(cudaEventRecord(ended[p % MAX_STREAMS], s));
    CHECK(cudaMemcpyAsync(down + from, dev_out + from, len * sizeof *down, cudaMemcpyDeviceToHost, s));
  }
  finish(h_out, n, MAX_STREAMS);
  for (p = 0; p < MAX_STREAMS; p++) CHECK(cudaEventDestroy(ended[p]));
  CHECK(cudaFree(carry));
}

int main(void) {
  enum { N = 100000 };
  static float in[N], out[N];
  int i;
  for (i = 0; i < N; i++) in[i] = (i + 1) / (float)(N + 2);
  streams2_chunks(in, out, N, 4);
  printf("%f %f\n", out[0], out[N - 1]);
  return 0;
}
