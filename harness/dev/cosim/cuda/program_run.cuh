// The main program of random CUDA C++ programs: runs each on the host and, compiled by nvcc, on the device, and shows
// differences. --host: on the host alone; --spoil: changes the device's input, which must make a difference.
#pragma once

#include <cstddef>
#include <cstdio>
#include <cstdlib>

#include "program_threads.cuh"

#ifdef __CUDACC__
#define COSIM_DEVICE(function) function
#else
#define COSIM_DEVICE(function) nullptr
#endif

namespace cosim {

struct Program {
  const char* name;
  int threads, blocks, words;  // words: results of a thread
  const char* const* labels;   // what each word holds
  void (*host)(const Input*, Own*, Totals*, u64*);
  void (*device)(const Input*, Own*, Totals*, u64*);
};

inline u64 Mixed(u64 value) {
  value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
  value = (value ^ value >> 27) * 0x94d049bb133111eb;
  return value ^ value >> 31;
}

// Random values; some are at the edges of their types, and some are small.
class InputMaker {
 public:
  template <typename T, int n>
  void Fill(T (&values)[n]) {
    for (T& value : values) value = Make(T());
  }

 private:
  u64 Next() { return Mixed(state_ += 0x9e3779b97f4a7c15); }
  template <typename T>
  T Make(T) {
    const u64 bits = Next(), small = Next() % 16;
    switch (bits >> 60) {
      case 0:
        return kLeast<T>;
      case 1:
        return kGreatest<T>;
      case 2:
        return T(small);
      case 3:
        return Neg(T(small));
      default:
        return T(bits >> bits % (kBits<T> < 64 ? kBits<T> : 64));
    }
  }
  f32 Make(f32) {
    static const u32 edges[] = {0,          0x80000000, 1,          0x007fffff, 0x00800000,
                                0x7f7fffff, 0x7f800000, 0xff800000, 0x7fc00000};
    const u64 bits = Next();
    if (bits >> 60 == 0) return F32(edges[bits % 9]);
    return bits >> 60 < 5 ? f32(i64(bits % 2001) - 1000) : F32(u32((bits & 0x87ffffff) + (u64(0x3c) << 24)));
  }
  f64 Make(f64) {
    static const u64 edges[] = {
        0, u64(1) << 63, 1, 0xfffffffffffff, 0x7fefffffffffffff, 0x7ff0000000000000, 0x7ff8000000000000};
    const u64 bits = Next();
    if (bits >> 60 == 0) return F64(edges[bits % 7]);
    return bits >> 60 < 5 ? f64(i64(bits % 2000001) - 1000000) / 16
                          : F64((bits & 0x80ffffffffffffff) + (u64(0x3f8) << 52));
  }
  uint4 Make(uint4) { return {Make(u32()), Make(u32()), Make(u32()), Make(u32())}; }
  int2 Make(int2) { return {Make(i32()), Make(i32())}; }
  float4 Make(float4) { return {Make(f32()), Make(f32()), Make(f32()), Make(f32())}; }
  uchar4 Make(uchar4) { return {Make(u8()), Make(u8()), Make(u8()), Make(u8())}; }
  short2 Make(short2) { return {Make(i16()), Make(i16())}; }

  u64 state_ = 2026;
};

inline Input MakeInput() {
  Input input;
  InputMaker maker;
  maker.Fill(input.words), maker.Fill(input.longs), maker.Fill(input.ints), maker.Fill(input.signeds);
  maker.Fill(input.shorts), maker.Fill(input.bytes), maker.Fill(input.floats), maker.Fill(input.doubles);
  maker.Fill(input.quads), maker.Fill(input.pairs), maker.Fill(input.vectors), maker.Fill(input.colours);
  maker.Fill(input.halves);
  return input;
}

constexpr int kTotalWords = 7 * kAccumulators;

struct Results {
  std::vector<Own> own;
  std::vector<u64> words;  // of every thread, then the totals
  Totals totals;

  explicit Results(const Program& program)
      : own(program.threads * program.blocks), words(own.size() * program.words, 0) {
    memset(own.data(), 0, own.size() * sizeof(Own));
    Clear(&totals);
    memset(totals.least, 0xff, sizeof totals.least);
  }
  void Finish() {
    words.resize(words.size() + kTotalWords);
    Writer writer{words.data() + words.size() - kTotalWords};
    writer.PutAll(totals.added), writer.PutAll(totals.most), writer.PutAll(totals.least), writer.PutAll(totals.flipped);
    writer.PutAll(totals.sums), writer.PutAll(totals.highest), writer.PutAll(totals.lowest);
  }
};

#ifdef __CUDACC__
inline void Must(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::printf("FAILED %s: %s\n", what, cudaGetErrorName(error));
  std::exit(3);
}
template <typename T>
T* Copied(const T* values, size_t count) {
  T* copy = nullptr;
  Must(cudaMalloc(&copy, count * sizeof(T)), "cudaMalloc");
  Must(cudaMemcpy(copy, values, count * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy");
  return copy;
}
inline void RunOnDevice(const Program& program, const Input& input, Results* results) {
  Input* const in = Copied(&input, 1);
  Own* const own = Copied(results->own.data(), results->own.size());
  Totals* const totals = Copied(&results->totals, 1);
  u64* const words = Copied(results->words.data(), results->words.size());
  program.device(in, own, totals, words);
  Must(cudaGetLastError(), program.name);
  Must(cudaDeviceSynchronize(), program.name);
  Must(cudaMemcpy(results->words.data(), words, results->words.size() * sizeof(u64), cudaMemcpyDeviceToHost), "copy");
  Must(cudaMemcpy(&results->totals, totals, sizeof(Totals), cudaMemcpyDeviceToHost), "copy");
  cudaFree(in), cudaFree(own), cudaFree(totals), cudaFree(words);
}
#endif

inline int Differences(const Program& program, const Results& host, const Results& device) {
  int differences = 0;
  const size_t of_threads = host.own.size() * program.words;
  for (size_t k = 0; k < host.words.size(); ++k) {
    if (host.words[k] == device.words[k] || ++differences > 8) continue;
    if (k < of_threads) {
      std::printf("  %s thread %zu %s: host %016llx device %016llx\n", program.name, k / program.words,
                  program.labels[k % program.words], host.words[k], device.words[k]);
    } else {
      std::printf("  %s total %zu: host %016llx device %016llx\n", program.name, k - of_threads, host.words[k],
                  device.words[k]);
    }
  }
  return differences;
}

template <int count>
int Main(const Program (&programs)[count], int argc, char** argv) {
  bool host_only = false, spoil = false;
  for (int k = 1; k < argc; ++k) {
    host_only |= strcmp(argv[k], "--host") == 0;
    spoil |= strcmp(argv[k], "--spoil") == 0;
  }
  const Input input = MakeInput();
  Input other = input;
  if (spoil)  // the lowest bit of every byte of the integers
    for (size_t k = 0; k < offsetof(Input, floats); ++k) reinterpret_cast<u8*>(&other)[k] ^= 1;
  int differing = 0;
  for (const Program& program : programs) {
    Results host(program);
    program.host(&input, host.own.data(), &host.totals, host.words.data());
    host.Finish();
    u64 hash = 0;
    for (const u64 word : host.words) hash = Mixed(hash + word + 1);
    const char* verdict = "host";
#ifdef __CUDACC__
    if (!host_only) {
      Results device(program);
      Must(cudaDeviceSetLimit(cudaLimitStackSize, 32768), "cudaDeviceSetLimit");
      RunOnDevice(program, other, &device);
      device.Finish();
      const bool differs = Differences(program, host, device) > 0;
      differing += differs;
      verdict = differs ? "DIFFERS" : "same";
    }
#endif
    std::printf("%s %016llx %s\n", program.name, hash, verdict);
  }
  return differing == 0 ? 0 : 1;
}

}  // namespace cosim
