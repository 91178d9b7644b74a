#include "vgpu/run/elf.h"

#include <elf.h>

#include <cstring>
#include <fstream>
#include <utility>

#include "vgpu/cudart/libraries/host_libraries.h"

namespace lockstep::vgpu::run {

namespace {

constexpr uint64_t kMaxTable = uint64_t{64} << 20;

// A file with random access; ranges beyond its end, or too long, are returned empty.
class File {
 public:
  explicit File(const std::string& path) : stream_(path, std::ios::binary | std::ios::ate) {
    if (stream_) size_ = static_cast<uint64_t>(stream_.tellg());
  }
  std::vector<char> Range(uint64_t offset, uint64_t bytes) {
    if (offset > size_ || bytes > size_ - offset || bytes > kMaxTable) return {};
    std::vector<char> data(bytes);
    stream_.seekg(static_cast<std::streamoff>(offset));
    stream_.read(data.data(), static_cast<std::streamsize>(bytes));
    return stream_ ? data : std::vector<char>{};
  }
  template <typename T>
  std::vector<T> Table(uint64_t offset, uint64_t count) {
    if (count > kMaxTable / sizeof(T)) return {};
    const std::vector<char> data = Range(offset, count * sizeof(T));
    std::vector<T> table(data.size() / sizeof(T));
    if (!data.empty()) std::memcpy(table.data(), data.data(), data.size());
    return table;
  }

 private:
  std::ifstream stream_;
  uint64_t size_ = 0;
};

std::string StringAt(const std::vector<char>& strings, uint64_t offset) {
  if (offset >= strings.size()) return "";
  return std::string(strings.data() + offset, ::strnlen(strings.data() + offset, strings.size() - offset));
}

// An ELF file's section headers.
class Sections {
 public:
  explicit Sections(File& file) {
    const auto headers = file.Table<Elf64_Ehdr>(0, 1);
    if (headers.empty() || std::memcmp(headers[0].e_ident, ELFMAG, SELFMAG) != 0 ||
        headers[0].e_ident[EI_CLASS] != ELFCLASS64) {
      return;
    }
    is_elf_ = true;
    const Elf64_Ehdr& header = headers[0];
    is_cubin_ = header.e_machine == EM_CUDA;
    if (header.e_shentsize != sizeof(Elf64_Shdr)) return;
    auto sections = file.Table<Elf64_Shdr>(header.e_shoff, header.e_shnum);
    if (header.e_shstrndx >= sections.size()) return;
    names_ = file.Range(sections[header.e_shstrndx].sh_offset, sections[header.e_shstrndx].sh_size);
    all_ = std::move(sections);
  }

  bool is_elf() const { return is_elf_; }
  bool is_cubin() const { return is_cubin_; }
  const std::vector<Elf64_Shdr>& all() const { return all_; }
  std::string NameOf(const Elf64_Shdr& section) const { return StringAt(names_, section.sh_name); }

 private:
  bool is_elf_ = false, is_cubin_ = false;
  std::vector<Elf64_Shdr> all_;
  std::vector<char> names_;
};

constexpr char kWholeSection[] = ".nv_fatbin", kObjectsSection[] = "__nv_relfatbin";

}  // namespace

ProgramFacts ReadProgram(const std::string& path) {
  ProgramFacts facts;
  File file(path);
  const Sections sections(file);
  facts.is_elf = sections.is_elf();
  for (const Elf64_Shdr& section : sections.all()) {
    const std::string name = sections.NameOf(section);
    facts.has_device_code |= name == kWholeSection || name == kObjectsSection;
    const bool has_strings = section.sh_type == SHT_DYNAMIC || section.sh_type == SHT_SYMTAB;
    if (!has_strings || section.sh_link >= sections.all().size()) continue;
    const Elf64_Shdr& linked = sections.all()[section.sh_link];
    const auto strings = file.Range(linked.sh_offset, linked.sh_size);
    if (section.sh_type == SHT_SYMTAB) {
      for (const auto& symbol : file.Table<Elf64_Sym>(section.sh_offset, section.sh_size / sizeof(Elf64_Sym))) {
        if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF) continue;
        const std::string name = StringAt(strings, symbol.st_name);
        if (FindHostLibraryOfSymbol(name) != nullptr) facts.host_library = name;
        facts.has_static_runtime |= name == "cudaGetErrorString";
        facts.has_older_runtime |= name == "cudaGetDeviceProperties_v2" || name == "cudaBindTexture";
      }
      continue;
    }
    for (const auto& entry : file.Table<Elf64_Dyn>(section.sh_offset, section.sh_size / sizeof(Elf64_Dyn))) {
      if (entry.d_tag == DT_NEEDED) facts.needed.push_back(StringAt(strings, entry.d_un.d_val));
      facts.has_rpath |= entry.d_tag == DT_RPATH;
    }
  }
  return facts;
}

DeviceCode ReadDeviceCode(const std::string& path) {
  DeviceCode code;
  File file(path);
  const Sections sections(file);
  code.is_cubin = sections.is_cubin();
  for (const Elf64_Shdr& section : sections.all()) {
    const std::string name = sections.NameOf(section);
    if (name == kWholeSection) code.whole = file.Range(section.sh_offset, section.sh_size);
    if (name == kObjectsSection) code.objects = file.Range(section.sh_offset, section.sh_size);
  }
  return code;
}

}  // namespace lockstep::vgpu::run
