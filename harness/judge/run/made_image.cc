#include "judge/run/made_image.h"

#include <elf.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <string_view>

#include "judge/device/device.h"

namespace lockstep::judge {
namespace {

constexpr std::string_view kSection = ".lockstep.image";

// Reads a structure at an offset; false if the file is too short.
template <class T>
bool At(const std::string& file, uint64_t offset, T& value) {
  if (offset > file.size() || sizeof value > file.size() - offset) return false;
  std::memcpy(&value, file.data() + offset, sizeof value);
  return true;
}

}  // namespace

std::vector<uint8_t> MadeImageOf(const std::string& worker) {
  std::ifstream stream(worker, std::ios::binary);
  const std::string file((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  Elf64_Ehdr header;
  // A script used as a worker in tests was not built by nvcc.
  if (!At(file, 0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return {};
  const auto section_at = [&](uint64_t number, Elf64_Shdr& section) {
    return At(file, header.e_shoff + number * sizeof section, section) && section.sh_offset <= file.size() &&
           (section.sh_type == SHT_NOBITS || section.sh_size <= file.size() - section.sh_offset);
  };
  Elf64_Shdr names;
  if (!section_at(header.e_shstrndx, names)) throw HarnessError(worker + " is damaged: build it again");
  for (uint64_t number = 0; number < header.e_shnum; ++number) {
    Elf64_Shdr section;
    if (!section_at(number, section)) throw HarnessError(worker + " is damaged: build it again");
    const uint64_t name = names.sh_offset + section.sh_name;
    if (section.sh_type == SHT_NOBITS || name + kSection.size() >= file.size() ||
        file.compare(name, kSection.size() + 1, std::string(kSection) + '\0') != 0) {
      continue;
    }
    const auto* const begin = reinterpret_cast<const uint8_t*>(file.data()) + section.sh_offset;
    return {begin, begin + section.sh_size};
  }
  return {};
}

}  // namespace lockstep::judge
