// Facts about a module's kernels and variables.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "vgpu/core/dim3.h"

namespace lockstep::vgpu {

struct KernelParameter {
  uint32_t offset, bytes;
};

struct KernelInfo {
  std::string mangled, demangled;           // demangled without parameter list
  std::vector<KernelParameter> parameters;  // in bytes, within the parameter block
  uint32_t parameter_bytes = 0;
  uint32_t registers = 0, static_shared = 0, local_bytes = 0, constant_bytes = 0;
  uint32_t max_threads = 1024;         // from .maxntid
  Dim3 required_block{0, 0, 0};        // .reqntid; zeros if the kernel requires none
  Dim3 cluster{0, 0, 0};               // .reqnctapercluster; zeros if the kernel requires none
  uint32_t max_cluster = UINT32_MAX;   // .maxclusterrank: blocks of a cluster
  int ptx_version = 0, target_sm = 0;  // 90 = ISA 9.0; 80 = sm_80

  uint32_t largest_block() const {
    return required_block.x != 0 ? static_cast<uint32_t>(required_block.Count()) : max_threads;
  }
};

struct VariableInfo {
  uint64_t address = 0, bytes = 0;
  bool constant = false, managed = false, texture = false;  // texture: a .texref
};

}  // namespace lockstep::vgpu
