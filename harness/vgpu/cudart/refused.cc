// The functions of the toolkit's API that the virtual GPU does not have. The build lists them: what the toolkit's
// header declares and no source here defines (refused.cmake). A program that names one links, and runs as long as it
// does not call it; a call says the function's name and what is missing, and fails with cudaErrorNotSupported.
//
// Their parameters do not matter. The header, which would contradict the declarations here, is not included.
#include "vgpu/cudart/refused.h"

#include <regex>

namespace lockstep::vgpu::cudart {

std::string_view RefusedSubject(std::string_view function) {
  // Parts of the API, by what their functions are called.
  static const struct {
    std::regex names;
    std::string_view subject;
  } kParts[] = {
      {std::regex("Array|Texture|Surface|ChannelDesc"), "CUDA arrays, textures and surfaces"},
      {std::regex("Graphics|External|NvSci"), "sharing resources with other APIs"},
      {std::regex("Ipc|Shareable|PoolExport|PoolImport"), "sharing between processes"},
      {std::regex("Cluster"), "planning clusters"},
      {std::regex("Batch"), "batches of memory operations"},
      {std::regex("Graph|UserObject"), "this part of graphs"},
      {std::regex("DriverEntryPoint|ExportTable|UnifiedFunction"), "the driver API"},
  };
  for (const auto& part : kParts) {
    if (std::regex_search(function.begin(), function.end(), part.names)) return part.subject;
  }
  return "this function";
}

}  // namespace lockstep::vgpu::cudart

#define LOCKSTEP_REFUSE(function) \
  extern "C" int function() { return lockstep::vgpu::cudart::RefuseCall(#function); }
#include "refused_functions.inc"
