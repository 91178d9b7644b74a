#include <fstream>
#include <iterator>
#include <stdexcept>
#include <vector>

#include "vgpu/core/trace_request.h"
#include "vgpu/cudart/binary/fatbin.h"
#include "vgpu/cudart/binary/fatbin_load.h"
#include "vgpu/device/device.h"
#include "vgpu/run/commands.h"
#include "vgpu/run/elf.h"

namespace lockstep::vgpu::run {

namespace {

using cudart::Image;

constexpr size_t kHeaderBytes = 16;  // read by FatbinBytes
constexpr size_t kAlignment = 8;     // of a fat binary within a section

// The fat binaries in a section, which are separated by zeros.
std::vector<Image> ImagesIn(const std::vector<char>& section) {
  std::vector<Image> images;
  for (size_t at = 0; at + kHeaderBytes <= section.size();) {
    const uint64_t bytes = cudart::FatbinBytes(section.data() + at);
    if (bytes == 0 || bytes > section.size() - at) {
      at += kAlignment;
      continue;
    }
    images.emplace_back(reinterpret_cast<const uint8_t*>(section.data() + at), bytes);
    at += (bytes + kAlignment - 1) / kAlignment * kAlignment;
  }
  return images;
}

std::vector<char> ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// Loads a file's modules; *why: the reason for any that could not be loaded.
std::vector<ModuleHandle> Load(Device& device, const std::string& path, std::string* why) {
  std::vector<ModuleHandle> modules;
  const auto load = [&](std::span<const Image> images) {
    try {
      modules.push_back(cudart::LoadImages(device, images));
    } catch (const std::runtime_error& error) {
      *why = error.what();
    }
  };
  if (!ReadProgram(path).is_elf) {
    const std::vector<char> text = ReadFile(path);
    const Image image(reinterpret_cast<const uint8_t*>(text.data()), text.size());
    load({&image, 1});
    return modules;
  }
  const DeviceCode code = ReadDeviceCode(path);
  // Separately compiled objects (nvcc -rdc=true) form one module; their linked result is machine code.
  const std::vector<Image> objects = ImagesIn(code.objects);
  if (!objects.empty()) load(objects);
  for (const Image& image : ImagesIn(code.whole)) load({&image, 1});
  if (code.objects.empty() && code.whole.empty()) {
    *why = code.is_cubin ? "it is a cubin: machine code, which the virtual GPU can't run. Give it PTX: nvcc -ptx"
                         : "it holds no device code";
  }
  return modules;
}

}  // namespace

std::string DisassembleFile(const std::string& path, const std::string& kernel, const DeviceProfile& profile) {
  Device device(profile, {});
  std::string why, text, names;
  for (const ModuleHandle module : Load(device, path, &why)) {
    for (const std::string& mangled : device.KernelNames(module)) {
      const KernelInfo& info = *device.FindKernel(module, mangled);
      names += (names.empty() ? "" : ", ") + info.demangled;
      if (!kernel.empty() && !IsNameOf(kernel, info.mangled, info.demangled)) continue;
      text += (text.empty() ? "" : "\n") + device.Disassemble(module, mangled);
    }
  }
  if (!text.empty()) return text;
  if (!names.empty()) throw std::runtime_error(path + " has no kernel " + kernel + "; it has: " + names);
  throw std::runtime_error(path + ": " + (why.empty() ? "it has no kernels" : why));
}

}  // namespace lockstep::vgpu::run
