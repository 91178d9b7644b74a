// API functions that are refused by name: see refused.cc.
#pragma once

#include <regex>
#include <string_view>

namespace lockstep::vgpu::cudart {

// What a function that is refused would be for: "sharing between processes".
inline std::string_view RefusedSubject(std::string_view function) {
  // Parts of the API, by what their functions are called.
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

// The call itself: error.cc.
int RefuseCall(const char* function);

}  // namespace lockstep::vgpu::cudart
