// API calls that failed and whose error nobody asked for: vgpu-run --check=api.
//
// What a program does with a call's return value can't be seen. What can: whether it took the error from
// cudaGetLastError (or looked with cudaPeekAtLastError) before another error came, or before it ended with status 0. A
// program that ends with another status has noticed, except for a launch by <<<>>>, which returns nothing to look at.
#pragma once

#include <cuda_runtime_api.h>

#include <string>
#include <vector>

namespace lockstep::vgpu::cudart {

struct ApiFailure {
  std::string function, call_site;
  cudaError_t code = cudaSuccess;
  bool was_returned = true;  // false: by <<<>>>
};

// On where the check was asked for; else the two below cost nothing.
void NoteFailure(const char* function, cudaError_t code);
void NoteErrorRead();  // by this thread
// The call that failed with this code was a <<<>>> of this thread.
void NoteUnreturned(cudaError_t code);

// At the end of the process.
std::vector<ApiFailure> UnreadFailures();
// "cudaMemcpy failed with cudaErrorInvalidValue (invalid argument) at shift.cu:17, and nobody asked"
std::string Sentence(const ApiFailure& failure);

}  // namespace lockstep::vgpu::cudart
