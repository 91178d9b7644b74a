// Sparse vectors: products with dense ones, sums, gather and scatter.
#include "libraries/sparse/checks.h"

namespace lockstep::libraries::sparse {
namespace {

cusparseStatus_t Check(const Function& f, cusparseConstSpVecDescr_t x, cusparseConstDnVecDescr_t y) {
  LOCKSTEP_RETURN_UNLESS_OK(f.Check({NotNull(x), NotNull(y)}));
  LOCKSTEP_RETURN_UNLESS_OK(f.Check({{x->size == y->size, "the vectors are of different sizes"}}));
  if (x->index == CUSPARSE_INDEX_16U) return f.Missing("16-bit indices");
  if (x->type != y->type || !IsBlasType(x->type)) return f.Missing("this combination of types");
  return CUSPARSE_STATUS_SUCCESS;
}

// The vectors as the work needs them.
struct Vectors {
  const char* function;
  cusparseSpVecDescr x;
  cusparseDnVecDescr y;
  Entries entries;

  // Touches x's values, and the elements of y at x's indices.
  bool Touch(Memory& memory, Access x_access, Access y_access) {
    return ReadEntries(function, memory, x, &entries) &&
           memory.Touch(Values(x_access, "vector x", x.values, x.type, x.count)) &&
           TouchUsed(memory, y_access, "vector y", y.values, y.type, Marks(entries.row, y.size));
  }
};

std::shared_ptr<Vectors> Keep(const Function& f, cusparseConstSpVecDescr_t x, cusparseConstDnVecDescr_t y) {
  return std::make_shared<Vectors>(Vectors{f.name, *x, *y, {}});
}

template <typename Wide>
cusparseStatus_t Dot(const Function& f, bool conjugates, cusparseConstSpVecDescr_t x, cusparseConstDnVecDescr_t y,
                     void* result) {
  const auto v = Keep(f, x, y);
  Call call = f.Begin(MultiplyAdds(x->type, static_cast<double>(x->count)), ArithmeticOf(x->type));
  if (f.on_device()) {
    call.memory.push_back(Values(Access::kWrite, "the result", result, x->type, 1));
  } else {
    // In a captured stream, the result arrives when the graph has run.
    const CalledAs called(f.name);
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    call.waits = cudaStreamIsCapturing(call.stream, &status) != cudaSuccess || status == cudaStreamCaptureStatusNone;
  }
  call.more_memory = [v](Memory& memory) { return v->Touch(memory, Access::kRead, Access::kRead); };
  call.run = [v, conjugates, result] {
    Wide sum = 0;
    for (int64_t i = 0; i < v->x.count; ++i) {
      const Wide value = Load<Wide>(v->x.type, v->x.values, i);
      sum += (conjugates ? Conjugate(value) : value) *
             Load<Wide>(v->y.type, v->y.values, v->entries.row[static_cast<size_t>(i)]);
    }
    Store(v->x.type, result, 0, sum);
  };
  return Function::Do(std::move(call));
}

// y = alpha x + beta y.
template <typename Wide>
cusparseStatus_t Add(const Function& f, const void* alpha, cusparseConstSpVecDescr_t x, const void* beta,
                     cusparseDnVecDescr_t y) {
  const auto v = Keep(f, x, y);
  const Factor<Wide> scale(f, x->type, alpha), keep(f, x->type, beta);
  Call call = f.Begin(MultiplyAdds(x->type, static_cast<double>(x->count + y->size)), ArithmeticOf(x->type));
  scale.AddTo(call, "alpha");
  keep.AddTo(call, "beta");
  call.more_memory = [v, keep](Memory& memory) {
    return memory.Touch(Values(keep.IsZero() ? Access::kWrite : Access::kReadWrite, "vector y", v->y.values, v->y.type,
                               v->y.size)) &&
           v->Touch(memory, Access::kRead, Access::kWrite);
  };
  call.run = [v, scale, keep] {
    const Wide a = scale(), b = keep();
    for (int64_t i = 0; i < v->y.size; ++i) {
      Store(v->y.type, v->y.values, i, b == Wide(0) ? Wide(0) : b * Load<Wide>(v->y.type, v->y.values, i));
    }
    for (int64_t i = 0; i < v->x.count; ++i) {
      const int64_t at = v->entries.row[static_cast<size_t>(i)];
      Store(v->y.type, v->y.values, at,
            Load<Wide>(v->y.type, v->y.values, at) + a * Load<Wide>(v->x.type, v->x.values, i));
    }
  };
  return Function::Do(std::move(call));
}

// (x, y) becomes (c x + s y, c y - s x) at x's indices.
template <typename Wide>
cusparseStatus_t Rotate(const Function& f, const void* c, const void* s, cusparseSpVecDescr_t x,
                        cusparseDnVecDescr_t y) {
  const auto v = Keep(f, x, y);
  const Factor<Wide> cosine(f, x->type, c), sine(f, x->type, s);
  Call call = f.Begin(3 * MultiplyAdds(x->type, static_cast<double>(x->count)), ArithmeticOf(x->type));
  cosine.AddTo(call, "c");
  sine.AddTo(call, "s");
  call.more_memory = [v](Memory& memory) { return v->Touch(memory, Access::kReadWrite, Access::kReadWrite); };
  call.run = [v, cosine, sine] {
    const Wide cos = cosine(), sin = sine();
    for (int64_t i = 0; i < v->x.count; ++i) {
      const int64_t at = v->entries.row[static_cast<size_t>(i)];
      const Wide left = Load<Wide>(v->x.type, v->x.values, i), right = Load<Wide>(v->y.type, v->y.values, at);
      Store(v->x.type, v->x.values, i, cos * left + sin * right);
      Store(v->y.type, v->y.values, at, cos * right - sin * left);
    }
  };
  return Function::Do(std::move(call));
}

// Gathers x's values from y, or scatters them to y.
cusparseStatus_t Copy(const Function& f, cusparseConstSpVecDescr_t x, cusparseConstDnVecDescr_t y, bool gathers) {
  LOCKSTEP_RETURN_UNLESS_OK(Check(f, x, y));
  const auto v = Keep(f, x, y);
  Call call = f.Begin();
  call.more_memory = [v, gathers](Memory& memory) {
    return v->Touch(memory, gathers ? Access::kWrite : Access::kRead, gathers ? Access::kRead : Access::kWrite);
  };
  call.run = [v, gathers] {
    OfType(v->x.type, [&](auto t) {
      using T = typename decltype(t)::type;
      T *const sparse = static_cast<T*>(v->x.values), *const dense = static_cast<T*>(v->y.values);
      for (int64_t i = 0; i < v->x.count; ++i) {
        T& element = dense[v->entries.row[static_cast<size_t>(i)]];
        (gathers ? sparse[i] : element) = gathers ? element : sparse[i];
      }
    });
  };
  return Function::Do(std::move(call));
}

cusparseStatus_t CheckProduct(const Function& f, cusparseOperation_t op, cusparseConstSpVecDescr_t x,
                              cusparseConstDnVecDescr_t y, cudaDataType compute) {
  LOCKSTEP_RETURN_UNLESS_OK(Check(f, x, y));
  LOCKSTEP_RETURN_UNLESS_OK(f.Check({IsOperation(op, x->type)}));
  return compute == x->type ? CUSPARSE_STATUS_SUCCESS : f.Missing("this combination of types");
}

}  // namespace
}  // namespace lockstep::libraries::sparse

using namespace lockstep::libraries::sparse;

extern "C" {

cusparseStatus_t cusparseSpVV_bufferSize(cusparseHandle_t handle, cusparseOperation_t op, cusparseConstSpVecDescr_t x,
                                         cusparseConstDnVecDescr_t y, const void* result, cudaDataType compute,
                                         size_t* bytes) {
  const Function f{__func__, handle};
  LOCKSTEP_RETURN_UNLESS_OK(CheckProduct(f, op, x, y, compute));
  return AnswerBuffer(f, f.Check({NotNull(result)}), bytes);
}

cusparseStatus_t cusparseSpVV(cusparseHandle_t handle, cusparseOperation_t op, cusparseConstSpVecDescr_t x,
                              cusparseConstDnVecDescr_t y, void* result, cudaDataType compute, void*) {
  const Function f{__func__, handle};
  LOCKSTEP_RETURN_UNLESS_OK(CheckProduct(f, op, x, y, compute));
  LOCKSTEP_RETURN_UNLESS_OK(f.Check({NotNull(result)}));
  return InWide(compute, [&](auto wide) {
    return Dot<typename decltype(wide)::type>(f, op == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE, x, y, result);
  });
}

cusparseStatus_t cusparseAxpby(cusparseHandle_t handle, const void* alpha, cusparseConstSpVecDescr_t x,
                               const void* beta, cusparseDnVecDescr_t y) {
  const Function f{__func__, handle};
  LOCKSTEP_RETURN_UNLESS_OK(Check(f, x, y));
  LOCKSTEP_RETURN_UNLESS_OK(f.Check({NotNull(alpha), NotNull(beta)}));
  return InWide(x->type, [&](auto wide) { return Add<typename decltype(wide)::type>(f, alpha, x, beta, y); });
}

cusparseStatus_t cusparseRot(cusparseHandle_t handle, const void* c, const void* s, cusparseSpVecDescr_t x,
                             cusparseDnVecDescr_t y) {
  const Function f{__func__, handle};
  LOCKSTEP_RETURN_UNLESS_OK(Check(f, x, y));
  LOCKSTEP_RETURN_UNLESS_OK(f.Check({NotNull(c), NotNull(s)}));
  return InWide(x->type, [&](auto wide) { return Rotate<typename decltype(wide)::type>(f, c, s, x, y); });
}

cusparseStatus_t cusparseGather(cusparseHandle_t handle, cusparseConstDnVecDescr_t y, cusparseSpVecDescr_t x) {
  return Copy({__func__, handle}, x, y, true);
}
cusparseStatus_t cusparseScatter(cusparseHandle_t handle, cusparseConstSpVecDescr_t x, cusparseDnVecDescr_t y) {
  return Copy({__func__, handle}, x, y, false);
}

}  // extern "C"
