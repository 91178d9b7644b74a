// virtual: REJECTED shift2_any
// Answers a call as a worker does whose arguments could not be opened.
#include <unistd.h>

#include "shift.h"

// An honest shift.
__global__ void shift_kernel(const int* d_in, int* d_out, unsigned n, unsigned offset) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) d_out[i] = d_in[i < n - offset ? i + offset : i - (n - offset)];
}

void honest(const int* d_in, int* d_out, unsigned n, int shift) {
  if (n == 0) return;
  const long long rest = static_cast<long long>(shift) % n;
  shift_kernel<<<(n + kBlock - 1) / kBlock, kBlock>>>(d_in, d_out, n, rest < 0 ? rest + n : rest);
}

struct Header {
  unsigned bytes;
  unsigned short type, flags;
};

void say(unsigned short type, const unsigned char* payload, unsigned bytes) {
  const Header header{bytes, type, 0};
  write(3, &header, sizeof header);
  if (bytes > 0) write(3, payload, bytes);
}

void shift1_gather(const int* d_in, int* d_out, unsigned n, int shift) { honest(d_in, d_out, n, shift); }
void shift2_any(const int* d_in, int* d_out, unsigned n, int shift) {
  unsigned char refusal[34] = {1};  // a text of one character, no value, no error, no arrays
  refusal[8] = '?';
  say(34, refusal, sizeof refusal);
  pause();
}
void shift3_grid_stride(const int* d_in, int* d_out, unsigned n, int shift) { honest(d_in, d_out, n, shift); }
void shift4_vectors(const int* d_in, int* d_out, unsigned n, int shift) { honest(d_in, d_out, n, shift); }
void shift5_in_place(int*, unsigned, int) {}
