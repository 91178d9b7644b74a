// The ChaCha block function (D. J. Bernstein, 2008; RFC 8439), for scalar and vector code on the host and for the
// judge's kernels: its word type only needs sums, exclusive ors and shifts of 32-bit words.
#pragma once

#include <cstdint>

namespace lockstep::judge {

// nvcc also compiles functions with this mark for the device.
#ifdef __CUDACC__
#define LOCKSTEP_ON_BOTH __host__ __device__
#else
#define LOCKSTEP_ON_BOTH
#endif

// Words 0 to 3 of every state: "expand 32-byte k".
template <class Word>
LOCKSTEP_ON_BOTH inline void SetChaChaConstants(Word (&state)[16]) {
  state[0] = Word{} + 0x61707865u;
  state[1] = Word{} + 0x3320646eu;
  state[2] = Word{} + 0x79622d32u;
  state[3] = Word{} + 0x6b206574u;
}

template <class Word>
LOCKSTEP_ON_BOTH inline void ChaChaQuarterRound(Word& a, Word& b, Word& c, Word& d) {
  a = a + b, d = d ^ a, d = d << 16 | d >> 16;
  c = c + d, b = b ^ c, b = b << 12 | b >> 20;
  a = a + b, d = d ^ a, d = d << 8 | d >> 24;
  c = c + d, b = b ^ c, b = b << 7 | b >> 25;
}

// Turns a state (constants, 8 words of key, 4 words of counter and nonce) into its block, in place.
template <int kRounds, class Word>
LOCKSTEP_ON_BOTH inline void ChaChaBlock(Word (&words)[16]) {
  static_assert(kRounds > 0 && kRounds % 2 == 0);
  Word x[16];
  for (int i = 0; i < 16; ++i) x[i] = words[i];
#ifdef __CUDACC__
#pragma unroll 1  // otherwise a kernel has the code of many blocks
#endif
  for (int round = 0; round < kRounds; round += 2) {
    ChaChaQuarterRound(x[0], x[4], x[8], x[12]);
    ChaChaQuarterRound(x[1], x[5], x[9], x[13]);
    ChaChaQuarterRound(x[2], x[6], x[10], x[14]);
    ChaChaQuarterRound(x[3], x[7], x[11], x[15]);
    ChaChaQuarterRound(x[0], x[5], x[10], x[15]);
    ChaChaQuarterRound(x[1], x[6], x[11], x[12]);
    ChaChaQuarterRound(x[2], x[7], x[8], x[13]);
    ChaChaQuarterRound(x[3], x[4], x[9], x[14]);
  }
  for (int i = 0; i < 16; ++i) words[i] = words[i] + x[i];
}

}  // namespace lockstep::judge
