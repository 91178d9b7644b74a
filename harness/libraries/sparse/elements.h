// Elements by type, widened: sums are in double precision and rounded once, so that results are at least as accurate as
// a GPU's. Also scalars in host or device memory.
#pragma once

#include <complex>
#include <memory>
#include <type_traits>
#include <vector>

#include "libraries/matrix/elements.h"
#include "libraries/number.h"
#include "libraries/sparse/handle.h"

namespace lockstep::libraries::sparse {

inline bool IsComplex(cudaDataType type) { return type == CUDA_C_32F || type == CUDA_C_64F; }

// Calls f(type_identity<T>) for the element type; with Float16 for types that no function here supports.
template <typename F>
auto OfType(cudaDataType type, F f) {
  switch (type) {
    case CUDA_R_32F:
      return f(std::type_identity<float>());
    case CUDA_R_64F:
      return f(std::type_identity<double>());
    case CUDA_C_32F:
      return f(std::type_identity<std::complex<float>>());
    case CUDA_C_64F:
      return f(std::type_identity<std::complex<double>>());
    case CUDA_R_16BF:
      return f(std::type_identity<BFloat16>());
    case CUDA_R_8I:
      return f(std::type_identity<int8_t>());
    case CUDA_R_32I:
      return f(std::type_identity<int32_t>());
    default:
      return f(std::type_identity<Float16>());
  }
}

// Element types of descriptors; not every function supports each.
inline bool IsType(cudaDataType type) {
  for (const cudaDataType known : {CUDA_R_32F, CUDA_R_64F, CUDA_C_32F, CUDA_C_64F, CUDA_R_16F, CUDA_R_16BF, CUDA_C_16F,
                                   CUDA_C_16BF, CUDA_R_8I, CUDA_R_32I}) {
    if (type == known) return true;
  }
  return false;
}
// The four types of BLAS.
inline bool IsBlasType(cudaDataType type) { return type == CUDA_R_32F || type == CUDA_R_64F || IsComplex(type); }

inline uint32_t Bytes(cudaDataType type) {
  return OfType(type, [](auto t) { return static_cast<uint32_t>(sizeof(typename decltype(t)::type)); });
}

// Wide is double or std::complex<double>.
template <typename Wide, typename T>
Wide Widen(const T& value) {
  if constexpr (kIsComplex<T> && kIsComplex<Wide>) {
    return Wide(value.real(), value.imag());
  } else if constexpr (kIsComplex<T>) {
    return Wide(value.real());
  } else if constexpr (std::is_arithmetic_v<T>) {
    return Wide(static_cast<double>(value));
  } else {
    return Wide(static_cast<double>(value.Load()));
  }
}
template <typename T, typename Wide>
T Narrow(const Wide& value) {
  if constexpr (kIsComplex<T>) {
    return T(static_cast<typename T::value_type>(std::real(value)),
             static_cast<typename T::value_type>(std::imag(value)));
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<int64_t>(std::real(value)));
  } else if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(std::real(value));
  } else {
    return T::Store(static_cast<float>(std::real(value)));
  }
}

template <typename Wide>
Wide Load(cudaDataType type, const void* array, int64_t i) {
  return OfType(type, [&](auto t) { return Widen<Wide>(static_cast<const typename decltype(t)::type*>(array)[i]); });
}
template <typename Wide>
void Store(cudaDataType type, void* array, int64_t i, const Wide& value) {
  OfType(type, [&](auto t) {
    using T = typename decltype(t)::type;
    static_cast<T*>(array)[i] = Narrow<T>(value);
  });
}
template <typename Wide>
std::vector<Wide> LoadAll(cudaDataType type, const void* array, int64_t count) {
  std::vector<Wide> values(static_cast<size_t>(count));
  OfType(type, [&](auto t) {
    const auto* const from = static_cast<const typename decltype(t)::type*>(array);
    for (size_t i = 0; i < values.size(); ++i) values[i] = Widen<Wide>(from[i]);
  });
  return values;
}

// f(type_identity<Wide>) for the type in which this compute type is evaluated here.
template <typename F>
auto InWide(cudaDataType compute, F f) {
  return IsComplex(compute) ? f(std::type_identity<std::complex<double>>()) : f(std::type_identity<double>());
}

inline const void* Offset(const void* array, int64_t elements, uint32_t bytes) {
  return static_cast<const char*>(array) + elements * static_cast<int64_t>(bytes);
}
inline void* Offset(void* array, int64_t elements, uint32_t bytes) {
  return static_cast<char*>(array) + elements * static_cast<int64_t>(bytes);
}

inline Arithmetic ArithmeticOf(cudaDataType compute) {
  return compute == CUDA_R_64F || compute == CUDA_C_64F ? Arithmetic::kFloat64
         : compute == CUDA_R_32I                        ? Arithmetic::kInt8
                                                        : Arithmetic::kFloat32;
}
// Number of operations of this many multiply-adds.
inline double MultiplyAdds(cudaDataType compute, double count) { return count * (IsComplex(compute) ? 8 : 2); }

// A scalar of the compute type: read now from host memory, or from device memory when the work is done.
template <typename Wide>
class Factor {
 public:
  Factor(const Function& f, cudaDataType type, const void* pointer)
      : type_(type),
        device_(f.on_device() ? pointer : nullptr),
        value_(f.on_device() ? Wide() : Load<Wide>(type, pointer, 0)) {}
  Wide operator()() const { return device_ != nullptr ? Load<Wide>(type_, device_, 0) : value_; }
  bool IsZero() const { return (*this)() == Wide(0); }
  void AddTo(Call& call, const char* name) const {
    if (device_ == nullptr) return;
    const uint32_t bytes = Bytes(type_);
    call.memory.push_back({Access::kRead, name, device_, bytes, 1, bytes, bytes});
  }

 private:
  cudaDataType type_;
  const void* device_;
  Wide value_;
};

// Does work that has scalars, and learns the rest of its memory when it runs.
template <typename Work>
cusparseStatus_t DoScaled(Call call, const std::shared_ptr<Work>& work) {
  work->alpha.AddTo(call, "alpha");
  work->beta.AddTo(call, "beta");
  call.more_memory = [work](Memory& memory) { return work->Touch(memory); };
  call.run = [work] { work->Run(); };
  return Function::Do(std::move(call));
}

// No function here supports 16-bit indices.
inline uint32_t Bytes(cusparseIndexType_t type) { return type == CUSPARSE_INDEX_64I ? 8 : 4; }
inline int64_t LoadIndex(cusparseIndexType_t type, const void* array, int64_t i) {
  return type == CUSPARSE_INDEX_64I ? static_cast<const int64_t*>(array)[i] : static_cast<const int32_t*>(array)[i];
}
inline void StoreIndex(cusparseIndexType_t type, void* array, int64_t i, int64_t value) {
  if (type == CUSPARSE_INDEX_64I) {
    static_cast<int64_t*>(array)[i] = value;
  } else {
    static_cast<int32_t*>(array)[i] = static_cast<int32_t>(value);
  }
}
inline Range Indices(Access access, const char* what, const void* array, cusparseIndexType_t type, int64_t count) {
  const auto bytes = static_cast<uint64_t>(count) * Bytes(type);
  return {access, what, array, bytes, count > 0 ? uint64_t{1} : 0, bytes, Bytes(type)};
}
inline Range Values(Access access, const char* what, const void* array, cudaDataType type, int64_t count) {
  const auto bytes = static_cast<uint64_t>(count) * Bytes(type);
  return {access, what, array, bytes, count > 0 ? uint64_t{1} : 0, bytes, Bytes(type)};
}

}  // namespace lockstep::libraries::sparse
