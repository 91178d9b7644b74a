// Failed API calls whose error the program never checked: vgpu-run --check=api.
//
// The runtime can't see what a program does with a call's return value. It can see whether the program took the error
// with cudaGetLastError (or cudaPeekAtLastError) before the next error, or before it ended with status 0. A program
// that ends with another status counts as having noticed, except for a launch by <<<>>>, which returns nothing.
#pragma once

#include <cuda_runtime_api.h>

#include <string>
#include <vector>

namespace lockstep::vgpu::cudart {

struct ApiFailure {
  std::string function, call_site;
  cudaError_t code = cudaSuccess;
  bool was_returned = true;  // false: launched by <<<>>>
};

// Records a failed call, if the check was requested.
void NoteFailure(const char* function, cudaError_t code);
void NoteErrorRead();  // this thread has taken its last error
// This thread's call that failed with this code was a <<<>>>, whose error is not returned to the program.
void NoteUnreturned(cudaError_t code);

// At the end of the process.
std::vector<ApiFailure> UnreadFailures();
// "cudaMemcpy failed with cudaErrorInvalidValue (invalid argument) at shift.cu:17, and nothing checked it"
std::string Sentence(const ApiFailure& failure);

}  // namespace lockstep::vgpu::cudart
