// The arguments of the kernels of checker_pairs*.cu, which checker_pairs_test.cc runs.
//
// The comment above a kernel says what the checkers must find, and how it is launched:
//
//   // expect: race, shared         or: clean. Several kinds: race, shared | uninitialised read, shared
//   // launch: 2 x 64, 256 bytes    blocks x threads (default 1 x 64), dynamic shared memory; or: 2 x 64, cooperative
//   // says: any if                 a part of the message; as many lines as there are parts to look for
//
// In it, the lines that the first finding must name end in a mark: "// here" for a finding of one place, "// first" and
// "// second" for one of two; one line may bear both ("// first, second"). No finding may name another line.
#pragma once

constexpr int kInts = 1024;  // in each buffer

struct Buffers {
  int* in;            // element k is k
  int* out;           // zeros
  int* raw;           // nobody has written them
  int* odd;           // 5 zeros
  int* rows;          // 4 rows of 60, 256 bytes apart, zeros; not a byte more
  int* freed;         // was a buffer
  int* host;          // a host pointer
  int* null;          // a null pointer
  unsigned* tickets;  // zeros
  int n;              // kInts
};
