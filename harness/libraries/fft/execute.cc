// Executes transforms as work of the plan's stream. All computations are in double precision, whatever the numbers'
// type in memory. As on a GPU, a transform to real numbers in several dimensions overwrites its input, with the
// transforms along all dimensions except the last.
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>

#include "libraries/fft/plan.h"

namespace lockstep::libraries::fft {
namespace {

// One call of an exported function.
struct Execution {
  Array in, out;
  void *input, *output;
  int sign;
  bool is_double;
  std::shared_ptr<Transform> transform;
};

Array ArrayOf(const Description& what, const Layout& layout, const std::vector<int64_t>& sizes, bool is_real,
              bool in_place) {
  Array array;
  array.element = static_cast<uint32_t>((what.is_double() ? sizeof(double) : sizeof(float)) * (is_real ? 1 : 2));
  array.sizes = sizes;
  array.batch = what.batch;
  std::vector<int64_t> held = layout.embed;
  if (held.empty()) {
    held = sizes;
    // Rows of real numbers have room for the complex ones that replace them.
    if (is_real && in_place) held.back() = 2 * (held.back() / 2 + 1);
  }
  array.pitches.resize(sizes.size());
  int64_t pitch = layout.stride;
  for (size_t d = sizes.size(); d-- > 0; pitch *= held[d]) array.pitches[d] = pitch;
  array.distance = layout.embed.empty() ? pitch : layout.distance;
  return array;
}

template <typename T>
void Read(const Array& array, bool is_real, const T* from, Complex* to) {
  const int64_t last = array.sizes.back(), pitch = array.pitches.back();
  EachRow(array, [&](int64_t offset, int64_t place) {
    for (int64_t i = 0; i < last; ++i) {
      const int64_t at = offset + i * pitch;
      to[place + i] = is_real ? Complex(from[at]) : Complex(from[2 * at], from[2 * at + 1]);
    }
  });
}

template <typename T>
void Write(const Array& array, bool is_real, const Complex* from, T* to) {
  const int64_t last = array.sizes.back(), pitch = array.pitches.back();
  EachRow(array, [&](int64_t offset, int64_t place) {
    for (int64_t i = 0; i < last; ++i) {
      const int64_t at = offset + i * pitch;
      const Complex value = from[place + i];
      if (is_real) {
        to[at] = static_cast<T>(value.real());
      } else {
        to[2 * at] = static_cast<T>(value.real());
        to[2 * at + 1] = static_cast<T>(value.imag());
      }
    }
  });
}

// Whether one transform's output may overlap another's input in the batch.
bool Mixes(const Execution& e) {
  const auto bytes = [](const Array& array, int64_t numbers) { return numbers * array.element; };
  const auto end = [&](const Array& array) { return bytes(array, array.span() + (array.batch - 1) * array.distance); };
  const auto* const in = static_cast<const char*>(e.input);
  const auto* const out = static_cast<const char*>(e.output);
  if (e.in.batch == 1 || in + end(e.in) <= out || out + end(e.out) <= in) return false;
  if (in == out && e.in == e.out) return false;
  const int64_t distance = bytes(e.in, e.in.distance);
  return in != out || distance != bytes(e.out, e.out.distance) || bytes(e.in, e.in.span()) > distance ||
         bytes(e.out, e.out.span()) > distance;
}

bool Overwrites(const Execution& e) { return e.transform->BeginsBeforeLast() && e.input != e.output; }

template <typename T>
void Compute(const Execution& e) {
  auto* const input = static_cast<T*>(e.input);
  auto* const output = static_cast<T*>(e.output);
  const bool real_in = e.transform->kind() == Kind::kRealToComplex;
  const bool real_out = e.transform->kind() == Kind::kComplexToReal;
  const int64_t in_parts = real_in ? 1 : 2, out_parts = real_out ? 1 : 2;
  const int64_t count = e.in.count();
  const int64_t together = Mixes(e) ? e.in.batch : 1;
  std::vector<Complex> inputs(count * together), numbers;
  for (int64_t first = 0; first < e.in.batch; first += together) {
    for (int64_t b = 0; b < together; ++b) {
      Read(e.in, real_in, input + (first + b) * e.in.distance * in_parts, inputs.data() + b * count);
    }
    for (int64_t b = 0; b < together; ++b) {
      numbers.assign(inputs.begin() + b * count, inputs.begin() + (b + 1) * count);
      e.transform->Begin(&numbers, e.sign);
      if (Overwrites(e)) Write(e.in, real_in, numbers.data(), input + (first + b) * e.in.distance * in_parts);
      e.transform->End(&numbers, e.sign);
      Write(e.out, real_out, numbers.data(), output + (first + b) * e.out.distance * out_parts);
    }
  }
}

double Operations(const Description& what) {
  double numbers = 1;
  for (const int64_t length : what.n) numbers *= static_cast<double>(length);
  constexpr double kPerNumber = 5;  // the usual count of operations is 5 n log2(n)
  const double half = what.kind() == Kind::kComplex ? 1 : 0.5;
  return half * kPerNumber * numbers * std::log2(numbers) * static_cast<double>(what.batch);
}

cufftResult Execute(const char* function, const std::shared_ptr<Plan>& plan, void* input, void* output, int sign) {
  const Description& what = plan->what;
  if (output == nullptr && what.kind() == Kind::kComplex) return CUFFT_EXEC_FAILED;  // checked before the launch
  const Transform& transform = *plan->transform;
  const bool in_place = input == output;
  const Execution execution = {
      ArrayOf(what, what.in, transform.input_sizes(), what.kind() == Kind::kRealToComplex, in_place),
      ArrayOf(what, what.out, transform.output_sizes(), what.kind() == Kind::kComplexToReal, in_place),
      input,
      output,
      sign,
      what.is_double(),
      plan->transform};
  Call call;
  call.function = function;
  call.stream = plan->stream;
  call.operations = Operations(what);
  call.arithmetic = what.is_double() ? Arithmetic::kFloat64 : Arithmetic::kFloat32;
  call.memory = RangesOf(execution.in, Overwrites(execution) ? Access::kReadWrite : Access::kRead, "the input", input);
  const std::vector<Range> written = RangesOf(execution.out, Access::kWrite, "the output", output);
  call.memory.insert(call.memory.end(), written.begin(), written.end());
  if (!plan->has_own_area && plan->work_bytes > 0) {
    call.memory.push_back(
        Elements(Access::kWrite, "the work area", static_cast<char*>(plan->work_area), plan->work_bytes));
  }
  call.run = [execution] { execution.is_double ? Compute<double>(execution) : Compute<float>(execution); };
  return Perform(std::move(call)) == cudaSuccess ? CUFFT_SUCCESS : CUFFT_EXEC_FAILED;
}

const char* NameOf(cufftType type) {
  switch (type) {
    case CUFFT_C2C:
      return "CUFFT_C2C";
    case CUFFT_R2C:
      return "CUFFT_R2C";
    case CUFFT_C2R:
      return "CUFFT_C2R";
    case CUFFT_Z2Z:
      return "CUFFT_Z2Z";
    case CUFFT_D2Z:
      return "CUFFT_D2Z";
    case CUFFT_Z2D:
      return "CUFFT_Z2D";
  }
  return "no type";
}

cufftResult Invalid(const char* function, const std::string& why) {
  lockstep_say(function, why.c_str());
  return CUFFT_INVALID_VALUE;
}

// type: the function's own type of transform; nullptr: any.
cufftResult ExecuteAs(const char* function, cufftHandle handle, const cufftType* type, void* input, void* output,
                      int sign) {
  const auto plan = Plans::Find(handle);
  if (plan == nullptr || !plan->is_made()) return CUFFT_INVALID_PLAN;
  const Description& what = plan->what;
  if (sign != CUFFT_FORWARD && sign != CUFFT_INVERSE) {
    return Invalid(function, "the direction is neither CUFFT_FORWARD nor CUFFT_INVERSE");
  }
  const Kind kind = what.kind();
  if (kind != Kind::kComplex && sign != (kind == Kind::kRealToComplex ? CUFFT_FORWARD : CUFFT_INVERSE)) {
    return Invalid(function, std::string("a plan of ") + NameOf(what.type) + " has the other direction");
  }
  const uintptr_t alignment = what.is_double() ? sizeof(cufftDoubleComplex) : sizeof(cufftComplex);
  if (reinterpret_cast<uintptr_t>(input) % alignment != 0 || reinterpret_cast<uintptr_t>(output) % alignment != 0) {
    return Invalid(function, "data is not aligned to a complex number's size");
  }
  if (!plan->has_own_area && plan->work_area == nullptr && plan->work_bytes > 0) return CUFFT_NO_WORKSPACE;
  // As on a GPU, the plan's type of transform is computed.
  if (type != nullptr && *type != what.type) {
    lockstep_say(function,
                 (std::string("the plan is of type ") + NameOf(what.type) + ", and that is computed").c_str());
  }
  return Execute(function, plan, input, output, sign);
}
cufftResult ExecuteAs(const char* function, cufftHandle handle, cufftType type, void* input, void* output, int sign) {
  return ExecuteAs(function, handle, &type, input, output, sign);
}

}  // namespace
}  // namespace lockstep::libraries::fft

using namespace lockstep::libraries::fft;

extern "C" {

#define LOCKSTEP_EXECUTE(...) ExecuteAs(__func__, __VA_ARGS__)
#include "libraries/fft/executions.inc"
#undef LOCKSTEP_EXECUTE

cufftResult cufftXtExec(cufftHandle plan, void* input, void* output, int direction) {
  return ExecuteAs(__func__, plan, nullptr, input, output, direction);
}

}  // extern "C"
