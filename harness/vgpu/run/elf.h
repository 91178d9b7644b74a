// What vgpu-run must know about a program before it starts it.
#pragma once

#include <string>
#include <vector>

namespace lockstep::vgpu::run {

struct ProgramFacts {
  bool is_elf = false;
  bool has_device_code = false;     // nvcc made it
  std::vector<std::string> needed;  // shared libraries
  std::string host_library;         // a function of a host library that was linked statically (host_libraries.h), or ""
  bool has_rpath = false;           // DT_RPATH, which goes before LD_LIBRARY_PATH
};

// Reads the file's ELF headers; anything malformed counts as no ELF file.
ProgramFacts ReadProgram(const std::string& path);

// What nvcc has put into a program, a library or an object file.
struct DeviceCode {
  std::vector<char> whole;    // fat binaries, each a module
  std::vector<char> objects;  // of separately compiled objects, to be linked to one
  bool is_cubin = false;      // the file itself is machine code of a GPU
};
DeviceCode ReadDeviceCode(const std::string& path);

}  // namespace lockstep::vgpu::run
