// What cuFFT computes: all types, ranks 1 to 3, any length, batches and layouts, in place and out of place, against the
// transform's definition in long double. Prints lines such as "C2C batch 3, within 5e-07: 2 3 5", where 2, 3 and 5 are
// the lengths with this result, and the same on a GPU; with an argument the errors too, on standard error.
#include <algorithm>
#include <utility>

#include "fft_transform.h"

static bool is_talkative = false;

static std::string text(const std::vector<int>& n) {
  std::string sizes;
  for (const int length : n) sizes += (sizes.empty() ? "" : "x") + std::to_string(length);
  return sizes;
}

// Results in the order in which they first occur, and the lengths that have each.
static std::vector<std::pair<std::string, std::string>> lines;

static void add(const std::string& what, const std::string& length) {
  auto line = std::find_if(lines.begin(), lines.end(), [&](const auto& one) { return one.first == what; });
  if (line == lines.end()) line = lines.insert(line, {what, ""});
  line->second += " " + length;
}

template <typename R>
static constexpr double kAllowed = sizeof(R) == 8 ? 1e-15 : 5e-7;

template <typename R>
void tell(const Transform& t, const char* note = "", cufftHandle plan = CUFFT_PLAN_NULL) {
  const double allowed = kAllowed<R>;
  const Outcome outcome = run<R>(t, plan);
  std::string what = Numbers<R>::name(t.kind);
  if (t.batch != 1) what += " batch " + std::to_string(t.batch);
  what += std::string(t.in_place ? " in place" : "") + note + ", ";
  char result[40];
  if (outcome.status != 0) {
    std::snprintf(result, sizeof result, "status %d", outcome.status);
  } else {
    const bool is_within = outcome.off <= allowed;
    std::snprintf(result, sizeof result, is_within ? "within %g" : "off by %.2g", is_within ? allowed : outcome.off);
  }
  what += result;
  if (outcome.status == 0 && outcome.gaps_written) what += ", gaps written";
  if (outcome.status == 0 && outcome.input_overwritten) what += ", input overwritten";
  add(what, text(t.n));
  if (is_talkative) std::fprintf(stderr, "%s %s %.3g\n", Numbers<R>::name(t.kind), text(t.n).c_str(), outcome.off);
}

static constexpr Kind kKinds[] = {Kind::kForward, Kind::kInverse, Kind::kRealToComplex, Kind::kComplexToReal};

template <typename R>
void lengths() {
  for (const int n : {1,  2,  3,  4,  5,  6,   7,   8,   9,   10,  11,  12,  13,  16,   17,   20,   25,   31,
                      32, 49, 60, 64, 97, 121, 127, 128, 131, 243, 257, 262, 500, 1000, 1009, 1024, 1331, 2048}) {
    for (const Kind kind : kKinds) tell<R>({kind, {n}, n < 100 ? 3 : 1, n % 3 == 1});
  }
  for (const Kind kind : kKinds) {
    for (const bool in_place : {false, true}) {
      for (const int n : {8, 9, 21, 64}) tell<R>({kind, {n}, 4, in_place});
    }
  }
  tell<R>({Kind::kForward, {4096}});
  tell<R>({Kind::kRealToComplex, {4099}});
}

// Compares only some of the results, as the definition's time grows with the square of the length.
template <typename R>
void long_lengths() {
  using C = typename Numbers<R>::C;
  for (const int n : {32768, 65536, 65537, 100000}) {
    std::vector<C> x(n), y(n);
    for (C& value : x) value = {static_cast<R>(random_number()), static_cast<R>(random_number())};
    C* data;
    cudaMalloc(&data, n * sizeof(C));
    cudaMemcpy(data, x.data(), n * sizeof(C), cudaMemcpyHostToDevice);
    cufftHandle plan;
    int status = cufftPlan1d(&plan, n, Numbers<R>::type(Kind::kForward), 1);
    if (status == 0) status = cufftXtExec(plan, data, data, CUFFT_FORWARD);
    cudaMemcpy(y.data(), data, n * sizeof(C), cudaMemcpyDeviceToHost);
    cufftDestroy(plan);
    cudaFree(data);
    std::vector<std::complex<long double>> root(n);
    for (int k = 0; k < n; ++k) {
      const long double angle = -2 * 3.14159265358979323846264338327950288L * k / n;
      root[k] = {cosl(angle), sinl(angle)};
    }
    double difference = 0, norm = 0;
    for (long long k = 1; k < n; k += n / 30) {
      long double re = 0, im = 0;
      for (int j = 0; j < n; ++j) {
        const std::complex<long double> turned = root[j * k % n];
        re += x[j].x * turned.real() - x[j].y * turned.imag();
        im += x[j].x * turned.imag() + x[j].y * turned.real();
      }
      const Z expected(static_cast<double>(re), static_cast<double>(im));
      difference += std::norm(Z(y[k].x, y[k].y) - expected);
      norm += std::norm(expected);
    }
    const double off = std::sqrt(difference / norm);
    std::printf("%s %d: status %d, ", Numbers<R>::name(Kind::kForward), n, status);
    if (off <= kAllowed<R>) {
      std::printf("within %g\n", kAllowed<R>);
    } else {
      std::printf("off by %.2g\n", off);
    }
    if (is_talkative) std::fprintf(stderr, "%s %d %.3g\n", Numbers<R>::name(Kind::kForward), n, off);
  }
}

template <typename R>
void dimensions() {
  for (const bool in_place : {false, true}) {
    for (const Kind kind : kKinds) {
      for (const std::vector<int>& n : std::vector<std::vector<int>>{{4, 6},
                                                                     {5, 7},
                                                                     {16, 12},
                                                                     {1, 9},
                                                                     {9, 1},
                                                                     {33, 32},
                                                                     {64, 64},
                                                                     {131, 6},
                                                                     {3, 4, 5},
                                                                     {4, 5, 6},
                                                                     {8, 8, 8},
                                                                     {2, 37, 4},
                                                                     {1, 1, 8},
                                                                     {8, 1, 1}}) {
        tell<R>({kind, n, 1, in_place});
      }
    }
  }
}

template <typename R>
void layouts() {
  const Maker makers[] = {Maker::kMany, Maker::kMakeMany, Maker::kMakeMany64, Maker::kXt};
  const char* const names[] = {" many", " make many", " many64", " xt"};
  for (int m = 0; m < 4; ++m) {
    for (const Kind kind : kKinds) {
      const bool real_in = kind == Kind::kRealToComplex, real_out = kind == Kind::kComplexToReal;
      int count = 0;
      const auto told = [&](std::vector<int> n, int batch, bool in_place, const Layout& in, const Layout& out,
                            const char* what) {
        // All functions make the same plans, so a fourth of the cases is enough for the others.
        if (m > 0 && count++ % 4 != m) return;
        tell<R>({kind, n, batch, in_place, makers[m], in, out}, (names[m] + std::string(what)).c_str());
      };
      told({12}, 3, false, {}, {}, " basic");
      told({12}, 3, true, {}, {}, " basic");
      told({6, 10}, 3, false, {}, {}, " basic");
      told({6, 10}, 3, true, {}, {}, " basic");
      told({3, 4, 9}, 2, false, {}, {}, " basic");
      told({3, 4, 9}, 2, true, {}, {}, " basic");
      // The batches are columns of a matrix: an element's neighbours in memory are of other batches.
      told({12}, 5, false, {{12}, 5, 1}, {{12}, 5, 1}, " columns");
      told({17}, 4, false, {{17}, 4, 1}, {{17}, 4, 1}, " columns");
      told({16}, 6, false, {{16}, 6, 1}, {{16}, 1, 16}, " columns to rows");
      told({10}, 3, false, {{10}, 2, 23}, {{10}, 3, 31}, " gaps");
      told({16}, 3, false, {{16}, 1, 19}, {{16}, 1, 21}, " distance");
      told({131}, 2, false, {{131}, 2, 270}, {{131}, 1, 140}, " gaps");
      told({6, 10}, 2, false, {{7, 13}, 2, 190}, {{9, 11}, 1, 101}, " embedded");
      told({8, 8}, 1, false, {{8, 12}, 1, 96}, {{8, 10}, 1, 80}, " pitched");
      told({3, 4, 6}, 2, false, {{4, 5, 8}, 1, 161}, {{3, 6, 7}, 2, 260}, " embedded");
      told({4, 4, 4}, 3, false, {{4, 4, 4}, 3, 1}, {{4, 4, 4}, 3, 1}, " interleaved");
      if (!real_in && !real_out) {
        told({12}, 5, true, {{12}, 5, 1}, {{12}, 5, 1}, " columns");
        told({6, 10}, 2, true, {{7, 13}, 2, 190}, {{7, 13}, 2, 190}, " embedded");
      } else {
        // A row of reals takes twice as many places as one of complex numbers.
        const Layout reals = {{6, 14}, 1, 90}, complex = {{6, 7}, 1, 45};
        told({6, 10}, 2, true, real_in ? reals : complex, real_in ? complex : reals, " embedded");
      }
    }
  }
}

// One plan of a real transform, used in place and out of place: the call determines the padding.
template <typename R>
void reuse() {
  for (const Kind kind : {Kind::kRealToComplex, Kind::kComplexToReal}) {
    Transform t = {kind, {10}, 3};
    cufftHandle plan;
    make<R>(&plan, t);
    for (const bool in_place : {false, true, false}) {
      t.in_place = in_place;
      tell<R>(t, " reused", plan);
    }
    cufftDestroy(plan);
  }
}

// Imaginary parts of the first and the middle number, which are 0 if the result is real.
static void unused_parts() {
  for (const int n : {8, 9, 131}) {
    std::vector<float2> x(n / 2 + 1);
    for (float2& value : x) value = {static_cast<float>(random_number()), static_cast<float>(random_number())};
    std::vector<float> results[2];
    for (std::vector<float>& result : results) {
      float2* in;
      float* out;
      cudaMalloc(&in, x.size() * sizeof(float2));
      cudaMalloc(&out, n * sizeof(float));
      cudaMemcpy(in, x.data(), x.size() * sizeof(float2), cudaMemcpyHostToDevice);
      cufftHandle plan;
      cufftPlan1d(&plan, n, CUFFT_C2R, 1);
      cufftExecC2R(plan, in, out);
      result.resize(n);
      cudaMemcpy(result.data(), out, n * sizeof(float), cudaMemcpyDeviceToHost);
      cufftDestroy(plan);
      cudaFree(in);
      cudaFree(out);
      x[0].y += 100;
      if (n % 2 == 0) x[n / 2].y -= 100;
    }
    double most = 0;
    for (int i = 0; i < n; ++i) most = std::max<double>(most, std::abs(results[0][i] - results[1][i]));
    std::printf("C2R %d unused parts %s\n", n, most < 1e-4 ? "are ignored" : "count");
  }
}

// An execution function for other types than the plan's: the plan's type and the function's direction count.
static void other_functions() {
  constexpr int kLength = 8;
  std::vector<float2> x(2 * kLength);
  for (float2& value : x) value = {static_cast<float>(random_number()), static_cast<float>(random_number())};
  float2 *in, *out;
  cudaMalloc(&in, x.size() * sizeof(float2));
  cudaMalloc(&out, x.size() * sizeof(float2));
  cudaMemcpy(in, x.data(), x.size() * sizeof(float2), cudaMemcpyHostToDevice);
  cufftHandle plan;
  cufftPlan1d(&plan, kLength, CUFFT_C2C, 1);
  auto* const real_in = reinterpret_cast<float*>(in);
  auto* const real_out = reinterpret_cast<float*>(out);
  const auto z = [](float2* data) { return reinterpret_cast<double2*>(data); };
  const auto d = [](float2* data) { return reinterpret_cast<double*>(data); };
  const auto result = [&](int status) {
    std::vector<float2> y(kLength);
    if (status == 0) cudaMemcpy(y.data(), out, kLength * sizeof(float2), cudaMemcpyDeviceToHost);
    cudaMemset(out, 0, x.size() * sizeof(float2));
    return y;
  };
  const auto same = [](const std::vector<float2>& a, const std::vector<float2>& b) {
    return std::memcmp(a.data(), b.data(), kLength * sizeof(float2)) == 0;
  };
  const auto forward = result(cufftExecC2C(plan, in, out, CUFFT_FORWARD));
  const auto inverse = result(cufftExecC2C(plan, in, out, CUFFT_INVERSE));
  std::printf("forward by R2C %d, D2Z %d, Z2Z %d\n", same(forward, result(cufftExecR2C(plan, real_in, out))),
              same(forward, result(cufftExecD2Z(plan, d(in), z(out)))),
              same(forward, result(cufftExecZ2Z(plan, z(in), z(out), CUFFT_FORWARD))));
  std::printf("inverse by C2R %d, Z2D %d, Z2Z %d\n", same(inverse, result(cufftExecC2R(plan, in, real_out))),
              same(inverse, result(cufftExecZ2D(plan, z(in), d(out)))),
              same(inverse, result(cufftExecZ2Z(plan, z(in), z(out), CUFFT_INVERSE))));
  cufftDestroy(plan);
  cudaFree(in);
  cudaFree(out);
}

int main(int argc, char**) {
  is_talkative = argc > 1;
  lengths<float>();
  lengths<double>();
  long_lengths<float>();
  long_lengths<double>();
  dimensions<float>();
  dimensions<double>();
  layouts<float>();
  layouts<double>();
  reuse<float>();
  reuse<double>();
  unused_parts();
  other_functions();
  std::printf("left %d\n", cudaDeviceSynchronize());
  for (const auto& [what, lengths] : lines) std::printf("%s:%s\n", what.c_str(), lengths.c_str());
}
