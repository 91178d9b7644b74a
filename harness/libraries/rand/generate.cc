// The functions that generate results: a device generator does it as one operation of its stream, a host generator
// immediately.
#include <algorithm>
#include <array>
#include <vector>

#include "libraries/rand/distributions.h"
#include "libraries/rand/generator.h"
#include "libraries/rand/kept.h"
#include "libraries/rand/poisson.h"

namespace lockstep::libraries {

namespace {

enum class Shape : uint8_t { kBits, kWideBits, kUniform, kNormal, kPoisson };

struct Distribution {
  Shape shape = Shape::kBits;
  double mean = 0, deviation = 1;
  bool is_log = false;
  bool is_of_host_twister = false;  // NVIDIA's host generator of this type rounds normal doubles to floats
  std::shared_ptr<const Poisson> poisson = nullptr;
};

// The kinds of words that pseudo-random generators give.
enum class Words : uint8_t { kBits, kMrg, kTwister, kMersenne };

Words WordsOf(const curandGenerator_st& generator) {
  if (generator.type == CURAND_RNG_PSEUDO_MRG32K3A) return Words::kMrg;
  if (generator.type == CURAND_RNG_PSEUDO_MT19937) return Words::kMersenne;
  return generator.type == CURAND_RNG_PSEUDO_MTGP32 ? Words::kTwister : Words::kBits;
}

// Whether each result takes one word, whatever the distribution.
bool IsOneWordEach(Words kind) { return kind == Words::kTwister || kind == Words::kMersenne; }

template <typename T>
Draw DrawOf(Words kind, Shape shape) {
  if (IsOneWordEach(kind)) return {};
  const uint32_t words = sizeof(T) == sizeof(double) && kind == Words::kBits ? 2 : 1;
  if (shape == Shape::kNormal) return {2 * words, 2};
  return {words, 1};
}

template <typename T>
T ResultOfWord(const Distribution& distribution, uint32_t word) {
  constexpr bool kIsDouble = sizeof(T) == sizeof(double);
  if (distribution.shape == Shape::kUniform) {
    if constexpr (kIsDouble) return UniformDoubleOfWord(word);
    return static_cast<T>(UniformOf(word));
  }
  T normal;
  if constexpr (kIsDouble) {
    const bool is_float = distribution.is_of_host_twister && !distribution.is_log;
    normal = is_float ? NormalOfWord(word) : NormalDoubleOfWord(word);
  } else {
    normal = NormalOfWord(word);
  }
  return Scaled(normal, static_cast<T>(distribution.mean), static_cast<T>(distribution.deviation), distribution.is_log);
}

// Whether the Poisson numbers of this mean are supported: those that the generator makes from one random word each.
bool HasPoisson(const curandGenerator_st& generator, double mean) {
  if (mean < kFirstInvertedMean) return generator.type != CURAND_RNG_QUASI_SOBOL64;
  const double first = generator.type == CURAND_RNG_PSEUDO_MTGP32 ? 32 : kFirstInvertedMean;
  return (IsQuasi(generator) || generator.type == CURAND_RNG_PSEUDO_MTGP32) && mean >= first &&
         mean < kEndOfInvertedMeans;
}

// The result, or the two results, of a draw's words.
template <typename T>
Pair<T> ResultsOf(Words kind, const Distribution& distribution, const uint32_t* words) {
  constexpr bool kIsDouble = sizeof(T) == sizeof(double);
  const bool is_mrg = kind == Words::kMrg;
  if constexpr (std::is_integral_v<T>) {
    const uint32_t bits = is_mrg ? BitsOfMrg(words[0]) : words[0];
    return {distribution.poisson != nullptr ? distribution.poisson->Of(UniformDoubleOfWord(bits)) : bits, 0};
  } else {
    if (kind == Words::kMersenne && distribution.shape == Shape::kUniform) {
      return {static_cast<T>(UniformDoubleOfMersenne(words[0])), 0};
    }
    if (IsOneWordEach(kind)) return {ResultOfWord<T>(distribution, words[0]), 0};
    if (distribution.shape == Shape::kUniform) {
      if constexpr (kIsDouble) return {is_mrg ? UniformDoubleOfMrg(words[0]) : UniformOf(words[0], words[1]), 0};
      return {static_cast<T>(is_mrg ? UniformOfMrg(words[0]) : UniformOf(words[0])), 0};
    }
    Pair<T> normals;
    if constexpr (kIsDouble) {
      normals = is_mrg ? NormalDoublesOfMrg(words[0], words[1]) : NormalsOf(words[0], words[1], words[2], words[3]);
    } else {
      normals = is_mrg ? NormalsOfMrg(words[0], words[1]) : NormalsOf(words[0], words[1]);
    }
    const T mean = static_cast<T>(distribution.mean), deviation = static_cast<T>(distribution.deviation);
    return {Scaled(normals.first, mean, deviation, distribution.is_log),
            Scaled(normals.second, mean, deviation, distribution.is_log)};
  }
}

template <typename T>
void FillFrom(Engine& engine, Words kind, const Distribution& distribution, T* output, size_t count) {
  constexpr size_t kAtOnce = 1024;                       // results, an even number
  std::array<uint32_t, 2 * kAtOnce + 2 * 4> words = {};  // at most two words per result; one more draw at either end
  const Draw draw = DrawOf<T>(kind, distribution.shape);
  while (count > 0) {
    const size_t now = std::min(count, kAtOnce);
    uint32_t drawn = engine.ResultsDrawn(draw);
    engine.Next(words.data(), now, draw);
    const uint32_t* next = words.data();
    for (size_t i = 0; i < now; next += draw.words, drawn = 0) {
      const Pair<T> results = ResultsOf<T>(kind, distribution, next);
      if (drawn == 0) output[i++] = results.first;
      if (draw.results == 2 && i < now) output[i++] = results.second;
    }
    output += now;
    count -= now;
  }
}

template <typename T>
T ResultOfSobol(bool is_wide, const Distribution& distribution, uint64_t coordinate) {
  if constexpr (std::is_integral_v<T>) {
    if (distribution.poisson == nullptr) return static_cast<T>(coordinate);
    const double uniform =
        is_wide ? UniformDoubleOfWord(coordinate) : UniformDoubleOfWord(static_cast<uint32_t>(coordinate));
    return distribution.poisson->Of(uniform);
  } else {
    // From 64-bit words, floats use the upper half.
    if (!is_wide) return ResultOfWord<T>(distribution, static_cast<uint32_t>(coordinate));
    if constexpr (sizeof(T) == sizeof(float)) {
      return ResultOfWord<T>(distribution, static_cast<uint32_t>(coordinate >> 32));
    } else {
      if (distribution.shape == Shape::kUniform) return UniformDoubleOfWord(coordinate);
      return Scaled(NormalDoubleOfWord(coordinate), distribution.mean, distribution.deviation, distribution.is_log);
    }
  }
}

template <typename T>
void FillFrom(Sobol& sobol, uint32_t dimensions, bool is_wide, const Distribution& distribution, T* output,
              size_t count) {
  std::vector<uint64_t> coordinates(count);
  sobol.Next(coordinates.data(), count / dimensions);
  for (const uint64_t coordinate : coordinates) *output++ = ResultOfSobol<T>(is_wide, distribution, coordinate);
}

// The same with a generator of NVIDIA's library. On a device only its words are used for normals, which are computed
// here, because NVIDIA's host code rounds them differently from a GPU.
template <typename T>
void FillFrom(Kept& kept, bool is_host, bool is_wide, const Distribution& distribution, const Step& step, T* output) {
  if (is_host || distribution.shape != Shape::kNormal) {
    kept.Run(step, output);
    return;
  }
  std::vector<uint64_t> words(step.count);
  kept.Run({is_wide ? "curandGenerateLongLong" : "curandGenerate", step.count}, words.data());
  const auto* const narrow = reinterpret_cast<const uint32_t*>(words.data());
  for (size_t i = 0; i < step.count; ++i) {
    output[i] = ResultOfSobol<T>(is_wide, distribution, is_wide ? words[i] : narrow[i]);
  }
}

bool IsCaptured(const curandGenerator_st& generator) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  return cudaStreamIsCapturing(generator.stream, &status) != cudaSuccess || status != cudaStreamCaptureStatusNone;
}

template <typename T>
curandStatus_t Generate(const char* function, curandGenerator_t generator, T* output, size_t count,
                        Distribution distribution) {
  if (generator == nullptr) return CURAND_STATUS_NOT_INITIALIZED;
  if (count == 0) return CURAND_STATUS_SUCCESS;
  const bool is_wide = HasWideWords(*generator), is_quasi = IsQuasi(*generator);
  const Words kind = WordsOf(*generator);
  if (distribution.shape == Shape::kBits && is_wide) return CURAND_STATUS_TYPE_ERROR;
  if (distribution.shape == Shape::kWideBits && !is_wide) return CURAND_STATUS_TYPE_ERROR;
  if (is_quasi && count % generator->dimensions != 0) return CURAND_STATUS_LENGTH_NOT_MULTIPLE;
  const bool has_whole_draws = generator->type == CURAND_RNG_PSEUDO_XORWOW || kind == Words::kMrg;
  if (distribution.shape == Shape::kNormal && has_whole_draws && count % 2 != 0) {
    return CURAND_STATUS_LENGTH_NOT_MULTIPLE;
  }
  const CalledAs called(function);
  if (!generator->is_host && IsCaptured(*generator)) return Refuse(function, "generation in a captured stream");
  distribution.is_of_host_twister = generator->is_host && kind == Words::kTwister;
  // NVIDIA's own host code, where it is there: it rounds normals in its way, and goes on after a changed setting as a
  // host generator does, and Philox's on a device. To seed its MT19937 takes seconds.
  const bool is_philox = generator->type == CURAND_RNG_PSEUDO_PHILOX4_32_10;
  const bool as_host = generator->is_host || is_philox;
  const bool rounds = generator->is_host && distribution.shape == Shape::kNormal && kind != Words::kMersenne;
  const bool wants_own = rounds || (as_host && generator->is_unclear);
  generator->is_kept |= wants_own && KeptFunction("curandGenerate") != nullptr;
  if (generator->is_unclear && !generator->is_kept) {
    return Refuse(function, "results after a change of seed, ordering or state: call curandSetGeneratorOffset");
  }
  if (generator->ordering == CURAND_ORDERING_PSEUDO_DYNAMIC) {
    // Beyond these a Hopper's results follow no rule that is known; of Philox they differ from run to run.
    constexpr uint64_t kKnown = 200 * 256, kKnownOffset = 4096;
    if (generator->type == CURAND_RNG_PSEUDO_MTGP32 && generator->position + count > kKnown) {
      return Refuse(function, "more than 51200 results of MTGP32 in CURAND_ORDERING_PSEUDO_DYNAMIC");
    }
    if (is_philox && !HasGenerated(*generator) && generator->position > kKnownOffset) {
      return Refuse(function, "an offset beyond 4096 of Philox in CURAND_ORDERING_PSEUDO_DYNAMIC");
    }
  }
  const Draw draw = DrawOf<T>(kind, distribution.shape);
  const Step step = {function, count, distribution.mean, distribution.deviation};
  const bool is_published = distribution.shape != Shape::kPoisson || distribution.poisson != nullptr;
  generator->is_kept |= !is_published || IsScrambled(*generator) || generator->dimensions > SobolDimensions();
  if (generator->is_kept) {
    if (draw.results == 2 && !is_quasi && !generator->is_host)
      return Refuse(function, "normal numbers after Poisson's: call curandSetGeneratorOffset");
    if (generator->kept == nullptr) generator->kept = Kept::Make(generator->type, generator->history);
    if (generator->kept == nullptr) {
      return Refuse(function, "an algorithm that only NVIDIA's libcurand.so.10 has, which is not on this machine");
    }
  } else {
    MakeEngine(*generator);
  }
  Remember(*generator, step);
  const auto fill = [kept = generator->is_kept ? generator->kept : nullptr, engine = generator->engine,
                     sobol = generator->sobol, dimensions = generator->dimensions, is_wide, kind, distribution, output,
                     count, step, is_host = generator->is_host, settings = std::move(generator->settings)] {
    if (kept != nullptr) {
      for (const Step& setting : settings) kept->Run(setting, nullptr);
      FillFrom(*kept, is_host, is_wide, distribution, step, output);
    } else if (sobol != nullptr) {
      FillFrom(*sobol, dimensions, is_wide, distribution, output, count);
    } else {
      FillFrom(*engine, kind, distribution, output, count);
    }
  };
  const auto take = [&] {
    generator->position += is_quasi ? count / generator->dimensions : count;
    if (draw.words != 1 || draw.results != 1) generator->has_wide_draws = !is_quasi;
  };
  if (generator->is_host) {
    fill();
    take();
    return CURAND_STATUS_SUCCESS;
  }
  Call call;
  call.function = function;
  call.stream = generator->stream;
  call.memory.push_back(Elements(Access::kWrite, "the results", output, static_cast<int64_t>(count)));
  call.run = fill;
  if (Perform(std::move(call)) != cudaSuccess) return CURAND_STATUS_LAUNCH_FAILURE;
  take();
  return CURAND_STATUS_SUCCESS;
}

}  // namespace

}  // namespace lockstep::libraries

using namespace lockstep::libraries;

extern "C" {

curandStatus_t curandGeneratePoisson(curandGenerator_t generator, unsigned int* output, size_t count, double mean) {
  constexpr double kLastMean = 400000;  // NVIDIA's limit
  // From about this mean on, rounding in a GPU's approximations changes some results (first seen at 3999).
  constexpr double kFirstRoundedMean = 2000;
  if (generator == nullptr) return CURAND_STATUS_NOT_INITIALIZED;
  if (count == 0) return CURAND_STATUS_SUCCESS;
  if (!(mean > 0 && mean <= kLastMean)) return CURAND_STATUS_OUT_OF_RANGE;
  const bool has_own_kernel = !generator->is_host && !IsQuasi(*generator) && !IsOneWordEach(WordsOf(*generator));
  if (has_own_kernel && mean >= kFirstRoundedMean) {
    return Refuse("curandGeneratePoisson", "this mean of Poisson's distribution with this type of generator");
  }
  const auto poisson = HasPoisson(*generator, mean) ? std::make_shared<const Poisson>(mean) : nullptr;
  return Generate("curandGeneratePoisson", generator, output, count, {Shape::kPoisson, mean, 0, false, false, poisson});
}
curandStatus_t curandGenerate(curandGenerator_t generator, unsigned int* output, size_t count) {
  return Generate("curandGenerate", generator, output, count, {Shape::kBits});
}
curandStatus_t curandGenerateLongLong(curandGenerator_t generator, unsigned long long* output, size_t count) {
  return Generate("curandGenerateLongLong", generator, output, count, {Shape::kWideBits});
}
curandStatus_t curandGenerateUniform(curandGenerator_t generator, float* output, size_t count) {
  return Generate("curandGenerateUniform", generator, output, count, {Shape::kUniform});
}
curandStatus_t curandGenerateUniformDouble(curandGenerator_t generator, double* output, size_t count) {
  return Generate("curandGenerateUniformDouble", generator, output, count, {Shape::kUniform});
}
curandStatus_t curandGenerateNormal(curandGenerator_t generator, float* output, size_t count, float mean,
                                    float deviation) {
  return Generate("curandGenerateNormal", generator, output, count, {Shape::kNormal, mean, deviation});
}
curandStatus_t curandGenerateNormalDouble(curandGenerator_t generator, double* output, size_t count, double mean,
                                          double deviation) {
  return Generate("curandGenerateNormalDouble", generator, output, count, {Shape::kNormal, mean, deviation});
}
curandStatus_t curandGenerateLogNormal(curandGenerator_t generator, float* output, size_t count, float mean,
                                       float deviation) {
  return Generate("curandGenerateLogNormal", generator, output, count, {Shape::kNormal, mean, deviation, true});
}
curandStatus_t curandGenerateLogNormalDouble(curandGenerator_t generator, double* output, size_t count, double mean,
                                             double deviation) {
  return Generate("curandGenerateLogNormalDouble", generator, output, count, {Shape::kNormal, mean, deviation, true});
}

}  // extern "C"
