// cuFFT's plans, and the start of every cuFFT function.
#pragma once

// The library exports only these functions; everything else in it is hidden.
#pragma GCC visibility push(default)
#include <cufftXt.h>
#pragma GCC visibility pop

#include <memory>
#include <vector>

#include "libraries/fft/array.h"
#include "libraries/fft/transform.h"
#include "libraries/library.h"
#include "libraries/plan_table.h"

namespace lockstep::libraries::fft {

// A program's description of one side of the transform. Without embedding sizes, the basic layout: no gaps except those
// at the ends of rows in an in-place real transform.
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
  void* work_area = nullptr;  // set by the program
  long long is_patient = 0;   // a property without effect here

  bool is_made() const { return transform != nullptr; }
};

using Plans = PlanTable<Plan>;

}  // namespace lockstep::libraries::fft
