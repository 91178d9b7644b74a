// Triangular systems: op(A) y = alpha x (SpSV) and op(A) C = alpha op(B) (SpSM). A may be stored whole, or only its
// triangle. Solutions use A as it was at the analysis or the last update, even if its memory has changed since.
#include "libraries/sparse/checks.h"

namespace lockstep::libraries::sparse {
namespace {

using Z = std::complex<double>;

// What the analysis keeps.
struct Plan {
  cusparseSpMatDescr a;
  cusparseOperation_t op = CUSPARSE_OPERATION_NON_TRANSPOSE;
  Entries entries;
  std::vector<Z> values;
  bool is_analysed = false;  // set by the call; the work itself may run later

  bool plain() const { return op == CUSPARSE_OPERATION_NON_TRANSPOSE; }

  // Solves for one column of a right-hand side, in place.
  void Solve(std::vector<Z>* x) const {
    const auto n = static_cast<size_t>(a.rows);
    const bool unit = a.diagonal == CUSPARSE_DIAG_TYPE_UNIT;
    const bool stored_lower = a.fill == CUSPARSE_FILL_MODE_LOWER, lower = stored_lower == plain();
    std::vector<std::vector<size_t>> lines(n);  // indices of op(A)'s entries off the diagonal
    std::vector<Z> diagonal(n, unit ? Z(1) : Z(0));
    for (size_t i = 0; i < values.size(); ++i) {
      const int64_t row = entries.row[i], column = entries.column[i];
      if (row == column) {
        if (!unit) diagonal[static_cast<size_t>(row)] += Value(i);
      } else if ((row > column) == stored_lower) {
        lines[static_cast<size_t>(plain() ? row : column)].push_back(i);
      }
    }
    for (size_t step = 0; step < n; ++step) {
      const size_t line = lower ? step : n - 1 - step;
      Z sum = (*x)[line];
      for (const size_t i : lines[line]) {
        sum -= Value(i) * (*x)[static_cast<size_t>(plain() ? entries.column[i] : entries.row[i])];
      }
      (*x)[line] = unit ? sum : sum / diagonal[line];
    }
  }
  Z Value(size_t i) const { return op == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE ? std::conj(values[i]) : values[i]; }
};

}  // namespace
}  // namespace lockstep::libraries::sparse

using namespace lockstep::libraries::sparse;

struct cusparseSpSVDescr {
  std::shared_ptr<Plan> plan = std::make_shared<Plan>();
};
struct cusparseSpSMDescr {
  std::shared_ptr<Plan> plan = std::make_shared<Plan>();
};

namespace lockstep::libraries::sparse {
namespace {

cusparseStatus_t CheckMatrix(const Function& f, cusparseOperation_t op, cusparseConstSpMatDescr_t a,
                             cudaDataType compute) {
  LOCKSTEP_RETURN_UNLESS_OK(f.Check({IsOperation(op, a->type), {a->rows == a->columns, "matrix A is not square"}}));
  if (!IsFormat(*a) || a->format == CUSPARSE_FORMAT_CSC) return f.Missing("this format or width of indices");
  if (!IsBlasType(a->type) || compute != a->type) return f.Missing("this combination of types");
  return a->batches == 1 ? CUSPARSE_STATUS_SUCCESS : f.Missing("a batch");
}

// Copies A into the plan when the stream reaches this work, not at the call.
cusparseStatus_t Analyse(const Function& f, cusparseOperation_t op, cusparseConstSpMatDescr_t a,
                         const std::shared_ptr<Plan>& plan) {
  plan->is_analysed = true;
  Call call = f.Begin();
  call.more_memory = [plan, op, a = *a, name = f.name](Memory& memory) {
    plan->a = a;
    plan->op = op;
    plan->values.clear();
    return ReadEntries(name, memory, a, 0, &plan->entries) &&
           memory.Touch(Values(Access::kRead, "the values of matrix A", ValuesOf(a, 0, plan->entries), a.type,
                               plan->entries.count()));
  };
  call.run = [plan] {
    plan->values = LoadAll<Z>(plan->a.type, ValuesOf(plan->a, 0, plan->entries), plan->entries.count());
  };
  return Function::Do(std::move(call));
}

cusparseStatus_t Update(const Function& f, const std::shared_ptr<Plan>& plan, const void* values, bool diagonal) {
  LOCKSTEP_RETURN_UNLESS_OK(f.Check({NotNull(values), {plan->is_analysed, "there was no analysis"}}));
  Call call = f.Begin();
  call.more_memory = [=](Memory& memory) {
    return memory.Touch(
        Values(Access::kRead, "the new values", values, plan->a.type, diagonal ? plan->a.rows : plan->entries.count()));
  };
  call.run = [=] {
    for (size_t i = 0; i < plan->values.size(); ++i) {
      const int64_t row = plan->entries.row[i];
      if (!diagonal || row == plan->entries.column[i]) {
        plan->values[i] = Load<Z>(plan->a.type, values, diagonal ? row : static_cast<int64_t>(i));
      }
    }
  };
  return Function::Do(std::move(call));
}

double Products(const cusparseSpMatDescr& a) { return MultiplyAdds(a.type, static_cast<double>(a.count)); }

// One right-hand side.
struct Vector {
  Function f;
  cusparseOperation_t op;
  const void* alpha;
  cusparseConstSpMatDescr_t a;
  cusparseConstDnVecDescr_t x;
  cusparseDnVecDescr_t y;
  cudaDataType compute;
  cusparseSpSVDescr_t descriptor;

  cusparseStatus_t Check() const {
    LOCKSTEP_RETURN_UNLESS_OK(f.Check({NotNull(alpha), NotNull(a), NotNull(x), NotNull(y), NotNull(descriptor)}));
    LOCKSTEP_RETURN_UNLESS_OK(CheckMatrix(f, op, a, compute));
    LOCKSTEP_RETURN_UNLESS_OK(
        f.Check({{x->size == a->rows && y->size == a->rows, "a vector has not as many elements as A has rows"}}));
    return x->type == compute && y->type == compute ? CUSPARSE_STATUS_SUCCESS : f.Missing("this combination of types");
  }
  cusparseStatus_t Solve() const {
    LOCKSTEP_RETURN_UNLESS_OK(Check());
    LOCKSTEP_RETURN_UNLESS_OK(f.Check({{descriptor->plan->is_analysed, "there was no analysis"}}));
    const Factor<Z> scale(f, compute, alpha);
    Call call = f.Begin(Products(*a), ArithmeticOf(compute));
    scale.AddTo(call, "alpha");
    call.memory.push_back(Values(Access::kRead, "vector x", x->values, x->type, x->size));
    call.memory.push_back(Values(Access::kWrite, "vector y", y->values, y->type, y->size));
    call.run = [plan = descriptor->plan, scale, from = *x, to = *y] {
      auto column = LoadAll<Z>(from.type, from.values, from.size);
      for (Z& element : column) element *= scale();
      plan->Solve(&column);
      for (int64_t i = 0; i < to.size; ++i) Store(to.type, to.values, i, column[static_cast<size_t>(i)]);
    };
    return Function::Do(std::move(call));
  }
};

// Many right-hand sides.
struct Columns {
  Function f;
  cusparseOperation_t op_a, op_b;
  const void* alpha;
  cusparseConstSpMatDescr_t a;
  cusparseConstDnMatDescr_t b;
  cusparseDnMatDescr_t c;
  cudaDataType compute;
  cusparseSpSMDescr_t descriptor;

  cusparseStatus_t Check() const {
    LOCKSTEP_RETURN_UNLESS_OK(f.Check({NotNull(alpha), NotNull(a), NotNull(b), NotNull(c), NotNull(descriptor)}));
    LOCKSTEP_RETURN_UNLESS_OK(CheckMatrix(f, op_a, a, compute));
    LOCKSTEP_RETURN_UNLESS_OK(f.Check({IsOperation(op_b, b->type)}));
    const bool plain = op_b == CUSPARSE_OPERATION_NON_TRANSPOSE;
    LOCKSTEP_RETURN_UNLESS_OK(f.Check({{c->rows == a->rows && (plain ? b->rows : b->columns) == a->rows &&
                                            c->columns == (plain ? b->columns : b->rows),
                                        "the matrices' sizes don't fit"}}));
    if (op_b == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE) return f.Missing("the conjugate of matrix B");
    if (b->batches != 1 || c->batches != 1) return f.Missing("a batch");
    return b->type == compute && c->type == compute ? CUSPARSE_STATUS_SUCCESS : f.Missing("this combination of types");
  }
  cusparseStatus_t Solve() const {
    LOCKSTEP_RETURN_UNLESS_OK(Check());
    LOCKSTEP_RETURN_UNLESS_OK(f.Check({{descriptor->plan->is_analysed, "there was no analysis"}}));
    const Factor<Z> scale(f, compute, alpha);
    Call call = f.Begin(Products(*a) * static_cast<double>(c->columns), ArithmeticOf(compute));
    scale.AddTo(call, "alpha");
    call.memory.push_back(Block(Access::kRead, "matrix B", *b, 0, 0, b->rows, 0, b->columns));
    call.memory.push_back(Block(Access::kWrite, "matrix C", *c, 0, 0, c->rows, 0, c->columns));
    call.run = [plan = descriptor->plan, scale, from = *b, to = *c, plain = op_b == CUSPARSE_OPERATION_NON_TRANSPOSE] {
      std::vector<Z> column(static_cast<size_t>(to.rows));
      for (int64_t j = 0; j < to.columns; ++j) {
        for (int64_t i = 0; i < to.rows; ++i) {
          column[static_cast<size_t>(i)] =
              scale() * Load<Z>(from.type, from.values, plain ? Place(from, 0, i, j) : Place(from, 0, j, i));
        }
        plan->Solve(&column);
        for (int64_t i = 0; i < to.rows; ++i) {
          Store(to.type, to.values, Place(to, 0, i, j), column[static_cast<size_t>(i)]);
        }
      }
    };
    return Function::Do(std::move(call));
  }
};

template <typename Descriptor>
cusparseStatus_t Create(Descriptor** descriptor) {
  if (descriptor == nullptr) return CUSPARSE_STATUS_INVALID_VALUE;
  *descriptor = new Descriptor;
  return CUSPARSE_STATUS_SUCCESS;
}

}  // namespace
}  // namespace lockstep::libraries::sparse

#define VECTOR \
  Vector { {__func__, handle}, op, alpha, a, x, y, compute, descriptor }
#define COLUMNS \
  Columns { {__func__, handle}, op_a, op_b, alpha, a, b, c, compute, descriptor }

extern "C" {

cusparseStatus_t cusparseSpSV_createDescr(cusparseSpSVDescr_t* descriptor) { return Create(descriptor); }
cusparseStatus_t cusparseSpSV_destroyDescr(cusparseSpSVDescr_t descriptor) {
  delete descriptor;
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseSpSV_bufferSize(cusparseHandle_t handle, cusparseOperation_t op, const void* alpha,
                                         cusparseConstSpMatDescr_t a, cusparseConstDnVecDescr_t x,
                                         cusparseDnVecDescr_t y, cudaDataType compute, cusparseSpSVAlg_t,
                                         cusparseSpSVDescr_t descriptor, size_t* bytes) {
  return BufferSize(VECTOR, bytes);
}
cusparseStatus_t cusparseSpSV_analysis(cusparseHandle_t handle, cusparseOperation_t op, const void* alpha,
                                       cusparseConstSpMatDescr_t a, cusparseConstDnVecDescr_t x, cusparseDnVecDescr_t y,
                                       cudaDataType compute, cusparseSpSVAlg_t, cusparseSpSVDescr_t descriptor, void*) {
  const Vector arguments = VECTOR;
  LOCKSTEP_RETURN_UNLESS_OK(arguments.Check());
  return Analyse(arguments.f, op, a, descriptor->plan);
}
cusparseStatus_t cusparseSpSV_solve(cusparseHandle_t handle, cusparseOperation_t op, const void* alpha,
                                    cusparseConstSpMatDescr_t a, cusparseConstDnVecDescr_t x, cusparseDnVecDescr_t y,
                                    cudaDataType compute, cusparseSpSVAlg_t, cusparseSpSVDescr_t descriptor) {
  return VECTOR.Solve();
}
cusparseStatus_t cusparseSpSV_updateMatrix(cusparseHandle_t handle, cusparseSpSVDescr_t descriptor, void* values,
                                           cusparseSpSVUpdate_t part) {
  const Function f{__func__, handle};
  LOCKSTEP_RETURN_UNLESS_OK(f.Check({NotNull(descriptor)}));
  return Update(f, descriptor->plan, values, part == CUSPARSE_SPSV_UPDATE_DIAGONAL);
}

cusparseStatus_t cusparseSpSM_createDescr(cusparseSpSMDescr_t* descriptor) { return Create(descriptor); }
cusparseStatus_t cusparseSpSM_destroyDescr(cusparseSpSMDescr_t descriptor) {
  delete descriptor;
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseSpSM_bufferSize(cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b,
                                         const void* alpha, cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b,
                                         cusparseDnMatDescr_t c, cudaDataType compute, cusparseSpSMAlg_t,
                                         cusparseSpSMDescr_t descriptor, size_t* bytes) {
  return BufferSize(COLUMNS, bytes);
}
cusparseStatus_t cusparseSpSM_analysis(cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b,
                                       const void* alpha, cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b,
                                       cusparseDnMatDescr_t c, cudaDataType compute, cusparseSpSMAlg_t,
                                       cusparseSpSMDescr_t descriptor, void*) {
  const Columns arguments = COLUMNS;
  LOCKSTEP_RETURN_UNLESS_OK(arguments.Check());
  return Analyse(arguments.f, op_a, a, descriptor->plan);
}
cusparseStatus_t cusparseSpSM_solve(cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b,
                                    const void* alpha, cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b,
                                    cusparseDnMatDescr_t c, cudaDataType compute, cusparseSpSMAlg_t,
                                    cusparseSpSMDescr_t descriptor) {
  return COLUMNS.Solve();
}
cusparseStatus_t cusparseSpSM_updateMatrix(cusparseHandle_t handle, cusparseSpSMDescr_t descriptor, void* values,
                                           cusparseSpSMUpdate_t part) {
  const Function f{__func__, handle};
  LOCKSTEP_RETURN_UNLESS_OK(f.Check({NotNull(descriptor)}));
  return Update(f, descriptor->plan, values, part == CUSPARSE_SPSM_UPDATE_DIAGONAL);
}

}  // extern "C"
