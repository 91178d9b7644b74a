// Compares one transform of cuFFT with its definition, in any layout, for fft_values.cu.
#pragma once

#include <cufftXt.h>

#include <cmath>
#include <complex>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

using Z = std::complex<double>;

enum class Kind { kForward, kInverse, kRealToComplex, kComplexToReal };
enum class Maker { kSimple, kMany, kMakeMany, kMakeMany64, kXt };

// As cufftPlanMany has it; no embed: cuFFT's basic layout.
struct Layout {
  std::vector<int> embed = {};
  int stride = 1, distance = 0;
};

struct Transform {
  Kind kind;
  std::vector<int> n;
  int batch = 1;
  bool in_place = false;
  Maker maker = Maker::kSimple;
  Layout in = {}, out = {};
};

// The same numbers on every machine.
inline double random_number() {
  static unsigned long long state = 88172645463325252ull;
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return static_cast<double>(state >> 11) / 9007199254740992.0 * 2 - 1;
}

inline size_t product(const std::vector<int>& n) {
  size_t all = 1;
  for (const int length : n) all *= length;
  return all;
}
inline std::vector<int> half(std::vector<int> n) {
  n.back() = n.back() / 2 + 1;
  return n;
}

// By the definition, along one dimension after the other.
inline std::vector<Z> dft(std::vector<Z> x, const std::vector<int>& n, int sign) {
  using L = std::complex<long double>;
  size_t inner = 1;
  for (size_t d = n.size(); d-- > 0; inner *= n[d]) {
    const size_t length = n[d];
    std::vector<L> root(length), line(length);
    for (size_t k = 0; k < length; ++k) {
      const long double angle = sign * 2 * 3.14159265358979323846264338327950288L * k / length;
      root[k] = {cosl(angle), sinl(angle)};
    }
    for (size_t start = 0; start < x.size(); ++start) {
      if (start / inner % length != 0) continue;
      for (size_t k = 0; k < length; ++k) line[k] = L(x[start + k * inner].real(), x[start + k * inner].imag());
      for (size_t k = 0; k < length; ++k) {
        long double re = 0, im = 0;
        size_t turn = 0;
        for (size_t j = 0; j < length; ++j) {
          re += line[j].real() * root[turn].real() - line[j].imag() * root[turn].imag();
          im += line[j].real() * root[turn].imag() + line[j].imag() * root[turn].real();
          turn += k;
          if (turn >= length) turn -= length;
        }
        x[start + k * inner] = {static_cast<double>(re), static_cast<double>(im)};
      }
    }
  }
  return x;
}

// Where element i of batch b of an array of these sizes is, in elements.
inline size_t place(size_t i, int b, const std::vector<int>& n, const Layout& layout, size_t basic_last) {
  const bool is_basic = layout.embed.empty();
  size_t at = 0, inner = 1, all = 1;
  for (size_t d = n.size(); d-- > 0;) {
    const size_t held = !is_basic ? layout.embed[d] : d + 1 == n.size() ? basic_last : n[d];
    at += i % n[d] * inner;
    i /= n[d];
    inner *= held;
    all *= held;
  }
  return is_basic ? b * all + at : static_cast<size_t>(b) * layout.distance + at * layout.stride;
}

template <typename R>
struct Numbers {
  static constexpr bool kDouble = sizeof(R) == 8;
  static constexpr R kGap = static_cast<R>(-4321.5);
  using C = typename std::conditional<kDouble, cufftDoubleComplex, cufftComplex>::type;
  static cufftType type(Kind kind) {
    if (kind == Kind::kRealToComplex) return kDouble ? CUFFT_D2Z : CUFFT_R2C;
    if (kind == Kind::kComplexToReal) return kDouble ? CUFFT_Z2D : CUFFT_C2R;
    return kDouble ? CUFFT_Z2Z : CUFFT_C2C;
  }
  static const char* name(Kind kind) {
    if (kind == Kind::kRealToComplex) return kDouble ? "D2Z" : "R2C";
    if (kind == Kind::kComplexToReal) return kDouble ? "Z2D" : "C2R";
    if (kind == Kind::kForward) return kDouble ? "Z2Z" : "C2C";
    return kDouble ? "Z2Z inverse" : "C2C inverse";
  }
};

template <typename R>
int execute(cufftHandle plan, const Transform& t, void* in, void* out) {
  const int direction = t.kind == Kind::kForward || t.kind == Kind::kRealToComplex ? CUFFT_FORWARD : CUFFT_INVERSE;
  if (t.maker == Maker::kXt) return cufftXtExec(plan, in, out, direction);
  const auto c = [](void* data) { return static_cast<cufftComplex*>(data); };
  const auto z = [](void* data) { return static_cast<cufftDoubleComplex*>(data); };
  switch (Numbers<R>::type(t.kind)) {
    case CUFFT_C2C:
      return cufftExecC2C(plan, c(in), c(out), direction);
    case CUFFT_R2C:
      return cufftExecR2C(plan, static_cast<float*>(in), c(out));
    case CUFFT_C2R:
      return cufftExecC2R(plan, c(in), static_cast<float*>(out));
    case CUFFT_Z2Z:
      return cufftExecZ2Z(plan, z(in), z(out), direction);
    case CUFFT_D2Z:
      return cufftExecD2Z(plan, static_cast<double*>(in), z(out));
    default:
      return cufftExecZ2D(plan, z(in), static_cast<double*>(out));
  }
}

template <typename R>
int make(cufftHandle* plan, const Transform& t) {
  const cufftType type = Numbers<R>::type(t.kind);
  std::vector<int> n = t.n, in = t.in.embed, out = t.out.embed;
  int* const in_embed = in.empty() ? nullptr : in.data();
  int* const out_embed = out.empty() ? nullptr : out.data();
  const int rank = static_cast<int>(n.size());
  if (t.maker == Maker::kSimple) {
    if (rank == 1) return cufftPlan1d(plan, n[0], type, t.batch);
    return rank == 2 ? cufftPlan2d(plan, n[0], n[1], type) : cufftPlan3d(plan, n[0], n[1], n[2], type);
  }
  if (t.maker == Maker::kMany) {
    return cufftPlanMany(plan, rank, n.data(), in_embed, t.in.stride, t.in.distance, out_embed, t.out.stride,
                         t.out.distance, type, t.batch);
  }
  const int created = cufftCreate(plan);
  if (created != CUFFT_SUCCESS) return created;
  size_t work = 0;
  if (t.maker == Maker::kMakeMany) {
    return cufftMakePlanMany(*plan, rank, n.data(), in_embed, t.in.stride, t.in.distance, out_embed, t.out.stride,
                             t.out.distance, type, t.batch, &work);
  }
  std::vector<long long> n64(n.begin(), n.end()), in64(in.begin(), in.end()), out64(out.begin(), out.end());
  long long* const in_embed64 = in64.empty() ? nullptr : in64.data();
  long long* const out_embed64 = out64.empty() ? nullptr : out64.data();
  if (t.maker == Maker::kMakeMany64) {
    return cufftMakePlanMany64(*plan, rank, n64.data(), in_embed64, t.in.stride, t.in.distance, out_embed64,
                               t.out.stride, t.out.distance, type, t.batch, &work);
  }
  const cudaDataType real = Numbers<R>::kDouble ? CUDA_R_64F : CUDA_R_32F;
  const cudaDataType complex = Numbers<R>::kDouble ? CUDA_C_64F : CUDA_C_32F;
  return cufftXtMakePlanMany(*plan, rank, n64.data(), in_embed64, t.in.stride, t.in.distance,
                             t.kind == Kind::kRealToComplex ? real : complex, out_embed64, t.out.stride, t.out.distance,
                             t.kind == Kind::kComplexToReal ? real : complex, t.batch, &work, complex);
}

struct Outcome {
  int status = 0;
  double off = 0;  // the L2 norm of the difference over that of the result
  bool gaps_written = false, input_overwritten = false;
};

// With a plan of its own, or with the plan given.
template <typename R>
Outcome run(const Transform& t, cufftHandle given = CUFFT_PLAN_NULL) {
  const bool real_in = t.kind == Kind::kRealToComplex, real_out = t.kind == Kind::kComplexToReal;
  const size_t all = product(t.n);
  const std::vector<int> in_sizes = real_out ? half(t.n) : t.n, out_sizes = real_in ? half(t.n) : t.n;
  const size_t padded = t.in_place ? 2 * (t.n.back() / 2 + 1) : t.n.back();
  const size_t in_last = real_in ? padded : in_sizes.back(), out_last = real_out ? padded : out_sizes.back();
  const size_t in_parts = real_in ? 1 : 2, out_parts = real_out ? 1 : 2;
  const size_t in_all = product(in_sizes), out_all = product(out_sizes);
  // Where each number begins, in units of R; a complex one has its imaginary part right after it.
  std::vector<size_t> in_places, out_places;
  size_t end = 0;
  for (int b = 0; b < t.batch; ++b) {
    for (size_t i = 0; i < in_all; ++i) in_places.push_back(place(i, b, in_sizes, t.in, in_last) * in_parts);
    for (size_t i = 0; i < out_all; ++i) out_places.push_back(place(i, b, out_sizes, t.out, out_last) * out_parts);
  }
  for (const size_t at : in_places) end = std::max(end, at + in_parts);
  for (const size_t at : out_places) end = std::max(end, at + out_parts);
  const size_t held = end + 64;

  std::vector<R> input(held, Numbers<R>::kGap);
  std::vector<Z> expected;
  for (int b = 0; b < t.batch; ++b) {
    std::vector<Z> x(all);
    for (Z& value : x) {
      value = static_cast<R>(random_number());
      if (!real_in && !real_out) value.imag(static_cast<R>(random_number()));
    }
    std::vector<Z> y = dft(x, t.n, t.kind == Kind::kInverse ? 1 : -1);
    if (real_in || real_out) {
      std::vector<Z> kept;
      const size_t last = t.n.back();
      for (size_t i = 0; i < all; ++i) {
        if (i % last <= last / 2) kept.push_back(y[i]);
      }
      y = kept;
    }
    if (real_out) {
      std::swap(x, y);
      for (Z& value : y) value *= static_cast<double>(all);
    }
    for (size_t i = 0; i < in_all; ++i) {
      const size_t at = in_places[b * in_all + i];
      input[at] = static_cast<R>(x[i].real());
      if (!real_in) input[at + 1] = static_cast<R>(x[i].imag());
    }
    expected.insert(expected.end(), y.begin(), y.end());
  }

  Outcome outcome;
  R *in = nullptr, *out = nullptr;
  const size_t bytes = held * sizeof(R);
  std::vector<R> before(held, Numbers<R>::kGap), result(held), input_after(held);
  cudaMalloc(&in, bytes);
  cudaMemcpy(in, input.data(), bytes, cudaMemcpyHostToDevice);
  if (t.in_place) {
    out = in;
    before = input;
  } else {
    cudaMalloc(&out, bytes);
    cudaMemcpy(out, before.data(), bytes, cudaMemcpyHostToDevice);
  }
  cufftHandle plan = given;
  if (given == CUFFT_PLAN_NULL) outcome.status = make<R>(&plan, t);
  if (outcome.status == 0) outcome.status = execute<R>(plan, t, in, out);
  if (outcome.status == 0) outcome.status = 1000 * cudaDeviceSynchronize();
  if (given == CUFFT_PLAN_NULL) cufftDestroy(plan);
  cudaMemcpy(result.data(), out, bytes, cudaMemcpyDeviceToHost);
  cudaMemcpy(input_after.data(), in, bytes, cudaMemcpyDeviceToHost);
  cudaFree(in);
  if (!t.in_place) cudaFree(out);

  double difference = 0, norm = 0;
  std::vector<bool> used(held);
  for (size_t i = 0; i < out_places.size(); ++i) {
    const size_t at = out_places[i];
    difference += std::norm(Z(result[at], real_out ? 0 : result[at + 1]) - expected[i]);
    norm += std::norm(expected[i]);
    for (size_t part = 0; part < out_parts; ++part) used[at + part] = true;
  }
  if (t.in_place) {
    for (const size_t at : in_places) {
      for (size_t part = 0; part < in_parts; ++part) used[at + part] = true;
    }
  }
  outcome.off = std::sqrt(difference / norm);
  for (size_t i = 0; i < held; ++i) outcome.gaps_written |= !used[i] && result[i] != before[i];
  outcome.input_overwritten = !t.in_place && std::memcmp(input_after.data(), input.data(), bytes) != 0;
  return outcome;
}
