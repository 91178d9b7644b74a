// Compiles and runs random CUDA C++ programs, and collects the failures.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lockstep::cosim::cuda {

struct Check {
  uint64_t first = 0, count = 0;
  int per_file = 20, jobs = 1;
  int sanitize = 0;           // every nth file: also compiled by g++ with undefined-behaviour checks; 0: none
  std::string nvcc = "nvcc";  // the compiler; flags: its options besides the usual ones
  std::string flags = {};
  std::string architecture = "compute_90";           // target of the device code
  std::string checks = "races,init,sync,leaks,api";  // of vgpu-run
  std::string include;                               // the folder of program_run.cuh
  std::string cuda_include;                          // the toolkit's headers
  std::string launcher;                              // vgpu-run
  bool gpu = false;                                  // also on this machine's GPU, before the virtual one
  std::string out;                                   // folder for the programs and the report
};

struct Tally {
  int programs = 0, functions = 0, same = 0, differing = 0, sanitized = 0;
  std::vector<std::string> troubles;  // files, with what went wrong: not compiled, a difference, a finding, an error
};

Tally Run(const Check& check);

std::string CompileCommand(const Check& check, const std::string& source, const std::string& program);

}  // namespace lockstep::cosim::cuda
