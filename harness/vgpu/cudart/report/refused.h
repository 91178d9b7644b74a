// API functions that are unsupported and refused by name: see refused.cc.
#pragma once

#include <regex>
#include <string_view>

namespace lockstep::vgpu::cudart {

// The part of the API that a refused function belongs to, for messages: "sharing between processes".
inline std::string_view RefusedSubject(std::string_view function) {
  // Parts of the API, by patterns of function names.
  static const struct {
    std::regex names;
    std::string_view subject;
  } kParts[] = {
      {std::regex("Mipmap"), "mipmaps"},
      {std::regex("Array|Texture|Surface|ChannelDesc"), "this part of arrays, textures and surfaces"},
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

// Reports and fails the call: error.cc.
int RefuseCall(const char* function);

}  // namespace lockstep::vgpu::cudart
