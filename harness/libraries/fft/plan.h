// cuFFT's plans, and what its functions begin with.
#pragma once

// Its functions are what the library exports; everything else in it is hidden.
#pragma GCC visibility push(default)
#include <cufftXt.h>
#pragma GCC visibility pop

#include <memory>
#include <vector>

#include "libraries/fft/array.h"
#include "libraries/fft/transform.h"
#include "libraries/library.h"

namespace lockstep::libraries::fft {

// What a program says of a side of the transform. Without sizes to embed in, the basic layout: no gaps but those that a
// transform of real numbers in place has at the ends of rows.
struct Layout {
  std::vector<int64_t> embed;
  int64_t stride = 1, distance = 0;
};

struct Description {
  cufftType type = CUFFT_C2C;
  std::vector<int64_t> n;
  int64_t batch = 1;
  Layout in, out;

  Kind kind() const {
    return type == CUFFT_C2C || type == CUFFT_Z2Z   ? Kind::kComplex
           : type == CUFFT_R2C || type == CUFFT_D2Z ? Kind::kRealToComplex
                                                    : Kind::kComplexToReal;
  }
  bool is_double() const { return type == CUFFT_Z2Z || type == CUFFT_D2Z || type == CUFFT_Z2D; }
};

struct Plan {
  cudaStream_t stream = nullptr;
  Description what;
  std::shared_ptr<Transform> transform;  // none until the plan is made
  size_t work_bytes = 0;
  bool allocates = true;  // making it gives it a work area
  bool has_own_area = false;
  void* work_area = nullptr;  // the program's
  long long is_patient = 0;   // a property, without effect here

  bool is_made() const { return transform != nullptr; }
};

// nullptr: there is no such plan.
std::shared_ptr<Plan> Find(cufftHandle handle);
cufftHandle Add();
bool Remove(cufftHandle handle);

}  // namespace lockstep::libraries::fft
