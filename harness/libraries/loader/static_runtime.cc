#include "libraries/loader/static_runtime.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>

namespace lockstep::libraries {

namespace {

constexpr char kRuntime[] = "libcudart.so.13";

// A file, mapped for reading during this object's life.
class Mapped {
 public:
  explicit Mapped(const char* path) {
    const int file = ::open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    struct stat facts;
    if (::fstat(file, &facts) == 0 && facts.st_size > 0) {
      void* const data = ::mmap(nullptr, static_cast<size_t>(facts.st_size), PROT_READ, MAP_PRIVATE, file, 0);
      if (data != MAP_FAILED) {
        data_ = static_cast<const uint8_t*>(data);
        bytes_ = static_cast<size_t>(facts.st_size);
      }
    }
    ::close(file);
  }
  ~Mapped() {
    if (data_ != nullptr) ::munmap(const_cast<uint8_t*>(data_), bytes_);
  }
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;

  // `count` objects at the offset; nullptr if the file is too short.
  template <typename T>
  const T* At(uint64_t offset, uint64_t count) const {
    if (offset > bytes_ || count > (bytes_ - offset) / sizeof(T)) return nullptr;
    return reinterpret_cast<const T*>(data_ + offset);
  }

 private:
  const uint8_t* data_ = nullptr;
  size_t bytes_ = 0;
};

// The symbols in a file's table of this type (SHT_SYMTAB, SHT_DYNSYM).
struct Symbols {
  const Elf64_Sym* all = nullptr;
  size_t count = 0;
  const char* names = nullptr;
  size_t name_bytes = 0;

  Symbols(const Mapped& file, uint32_t type) {
    const auto* const header = file.At<Elf64_Ehdr>(0, 1);
    if (header == nullptr || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return;
    const auto* const sections = file.At<Elf64_Shdr>(header->e_shoff, header->e_shnum);
    for (size_t k = 0; sections != nullptr && k < header->e_shnum; ++k) {
      if (sections[k].sh_type != type || sections[k].sh_link >= header->e_shnum) continue;
      const Elf64_Shdr& strings = sections[sections[k].sh_link];
      const size_t number = sections[k].sh_size / sizeof(Elf64_Sym);
      const auto* const table = file.At<Elf64_Sym>(sections[k].sh_offset, number);
      const char* const text = file.At<char>(strings.sh_offset, strings.sh_size);
      if (table == nullptr || text == nullptr || strings.sh_size == 0 || text[strings.sh_size - 1] != 0) continue;
      all = table;
      count = number;
      names = text;
      name_bytes = strings.sh_size;
    }
  }

  // The name of a function that the file defines; nullptr for anything else.
  const char* Function(size_t k) const {
    const bool defined = ELF64_ST_TYPE(all[k].st_info) == STT_FUNC && all[k].st_shndx != SHN_UNDEF;
    return defined && all[k].st_name < name_bytes ? names + all[k].st_name : nullptr;
  }
  const Elf64_Sym* Find(const char* name) const {
    for (size_t k = 0; k < count; ++k) {
      const char* const function = Function(k);
      if (function != nullptr && std::strcmp(function, name) == 0) return &all[k];
    }
    return nullptr;
  }
};

bool IsOfRuntime(const char* function) {
  return function != nullptr && (std::strncmp(function, "cuda", 4) == 0 || std::strncmp(function, "__cuda", 6) == 0);
}

// Only CUDA 13: earlier versions have other structures (12 another cudaDeviceProp, 11 texture references).
bool IsOfThisVersion(const Symbols& symbols) {
  return symbols.Find("cudaGetErrorString") != nullptr && symbols.Find("cudaGetDeviceProperties_v2") == nullptr &&
         symbols.Find("cudaBindTexture") == nullptr;
}

#ifdef __aarch64__
constexpr uint8_t kJump[] = {0x50, 0, 0, 0x58, 0, 0x02, 0x1f, 0xd6,
                             0,    0, 0, 0,    0, 0,    0,    0};  // ldr x16, to; br x16; to:
constexpr size_t kTarget = 8;
#else
constexpr uint8_t kJump[] = {0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xe0};  // movabs $to, %rax; jmp *%rax
constexpr size_t kTarget = 2;
#endif
constexpr size_t kJumpBytes = sizeof kJump;
constexpr size_t kFunctionAlignment = 16;  // so that even the shortest function has room

void WriteJump(uint8_t* at, uint64_t to) {
  std::memcpy(at, kJump, kJumpBytes);
  std::memcpy(at + kTarget, &to, sizeof to);
  __builtin___clear_cache(reinterpret_cast<char*>(at), reinterpret_cast<char*>(at) + kJumpBytes);
}

bool Protect(uint8_t* at, int protection) {
  const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  const uintptr_t first = reinterpret_cast<uintptr_t>(at) / page * page;
  const uintptr_t end = reinterpret_cast<uintptr_t>(at) + kJumpBytes;
  return ::mprotect(reinterpret_cast<void*>(first), end - first, protection) == 0;
}

// The mapped objects not yet searched for a copy of the runtime, and our libcudart once it is mapped.
constexpr size_t kMostObjects = 1024;
const link_map* noted[kMostObjects];
size_t noted_count = 0;
const link_map* runtime = nullptr;

const char* PathOf(const link_map* object) { return object->l_name[0] != 0 ? object->l_name : "/proc/self/exe"; }

bool IsRuntime(const link_map* object) {
  const char* const slash = std::strrchr(object->l_name, '/');
  return slash != nullptr && std::strcmp(slash + 1, kRuntime) == 0;
}

void RedirectCopy(const link_map* object, const Symbols& real) {
  const Mapped file(PathOf(object));
  const Symbols symbols(file, SHT_SYMTAB);
  if (symbols.count == 0 || !IsOfThisVersion(symbols)) return;
  for (size_t k = 0; k < symbols.count; ++k) {
    const char* const name = symbols.Function(k);
    if (!IsOfRuntime(name)) continue;
    const Elf64_Sym* const found = real.Find(name);
    const Elf64_Sym& own = symbols.all[k];
    if (found == nullptr || (own.st_size < kJumpBytes && own.st_value % kFunctionAlignment != 0)) continue;
    auto* const code = reinterpret_cast<uint8_t*>(object->l_addr + own.st_value);
    if (!Protect(code, PROT_READ | PROT_WRITE | PROT_EXEC)) return;
    WriteJump(code, runtime->l_addr + found->st_value);
    Protect(code, PROT_READ | PROT_EXEC);
  }
}

}  // namespace

void NoteObject(const link_map* object) {
  if (object->l_name == nullptr) return;
  if (runtime == nullptr && IsRuntime(object)) {
    runtime = object;
  } else if (noted_count < kMostObjects) {
    noted[noted_count++] = object;
  }
}

void RedirectCopies() {
  if (runtime == nullptr || noted_count == 0) return;
  const Mapped file(runtime->l_name);
  const Symbols real(file, SHT_DYNSYM);
  for (size_t k = 0; k < noted_count; ++k) RedirectCopy(noted[k], real);
  noted_count = 0;
}

}  // namespace lockstep::libraries
