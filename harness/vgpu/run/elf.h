// What vgpu-run must know about a program before starting it.
#pragma once

#include <string>
#include <vector>

namespace lockstep::vgpu::run {

struct ProgramFacts {
  bool is_elf = false;
  bool has_device_code = false;     // built by nvcc
  std::vector<std::string> needed;  // shared libraries
  std::string host_library;         // a function of a statically linked host library (host_libraries.h), or ""
  bool has_static_runtime = false;  // contains a copy of the CUDA runtime, with its symbols
  bool has_older_runtime = false;   // that copy is of CUDA 12 or earlier
  bool has_rpath = false;           // DT_RPATH, which takes precedence over LD_LIBRARY_PATH
};

// Reads the file's ELF headers. A file without a 64-bit ELF header is no ELF file; invalid section headers are ignored.
ProgramFacts ReadProgram(const std::string& path);

// The device code that nvcc has embedded in a program, library or object file.
struct DeviceCode {
  std::vector<char> whole;    // fat binaries, each of them a module
  std::vector<char> objects;  // fat binaries of separately compiled objects, to be linked into one module
  bool is_cubin = false;      // the file itself is GPU machine code
};
DeviceCode ReadDeviceCode(const std::string& path);

}  // namespace lockstep::vgpu::run
