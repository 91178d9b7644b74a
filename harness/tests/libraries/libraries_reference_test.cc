// docs/reference/host-libraries.md lists what the built stand-ins export: functions that they define, and weak ones
// that refuse. LOCKSTEP_UPDATE_GOLDEN=1 writes it again.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/needs.h"
#include "tests/support/shell.h"

namespace lockstep {
namespace {

const std::string kLibraries = std::string(LOCKSTEP_BUILD_DIR) + "/lib/";
const std::string kPage = std::string(LOCKSTEP_SOURCE_DIR) + "/docs/reference/host-libraries.md";

std::string Read(const std::string& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file.good()) << path;
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

struct Library {
  std::string file;
  std::set<std::string> defined, refused;  // without the suffixes of versions and widths
  size_t defined_symbols = 0, refused_symbols = 0;
};

// cublasSgemm_v2 and cublasSgemm_v2_64 are cublasSgemm to a program.
std::string Plain(const std::string& symbol) { return std::regex_replace(symbol, std::regex("(_v2)?(_64)?$"), ""); }

// What NVIDIA's library exports and no header declares: not every toolkit has the library, and the page is about any.
std::set<std::string> Undeclared(const std::string& file) {
  const std::string name = file.substr(3, file.find('.') - 3);
  const std::string listed = std::string(LOCKSTEP_BUILD_DIR) + "/generated/refused_" + name + ".inc";
  std::set<std::string> symbols;
  if (!std::filesystem::exists(listed)) return symbols;
  const std::string text = Read(listed);
  const std::regex undeclared("LOCKSTEP_REFUSE_UNDECLARED\\((\\w+)\\)");
  for (std::sregex_iterator it(text.begin(), text.end(), undeclared), end; it != end; ++it) symbols.insert((*it)[1]);
  return symbols;
}

Library ReadLibrary(const std::string& file) {
  Library library;
  library.file = file;
  const std::set<std::string> undeclared = Undeclared(file);
  const Output symbols = Execute("nm -D --defined-only " + kLibraries + file + " 2>&1");
  EXPECT_EQ(symbols.status, 0) << symbols.text;
  std::istringstream lines(symbols.text);
  for (std::string address, kind, symbol; lines >> address >> kind >> symbol;) {
    symbol = symbol.substr(0, symbol.find('@'));
    if (kind == "T") library.defined.insert(Plain(symbol)), ++library.defined_symbols;
    if (kind == "W" && undeclared.count(symbol) == 0) library.refused.insert(Plain(symbol)), ++library.refused_symbols;
  }
  // The first API's cublasSgemm is refused, the second's is there: to a program with cublas_v2.h it is there.
  for (const std::string& name : library.defined) library.refused.erase(name);
  return library;
}

std::vector<Library> Libraries() {
  std::vector<Library> libraries;
  std::set<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(kLibraries)) {
    const std::string file = entry.path().filename();
    if (std::regex_match(file, std::regex("lib(cu[a-z]+(Lt)?)\\.so\\.\\d+")) && !entry.is_symlink() &&
        file.rfind("libcudart.", 0) != 0) {
      files.insert(file);
    }
  }
  for (const std::string& file : files) libraries.push_back(ReadLibrary(file));
  return libraries;
}

std::string List(const std::set<std::string>& names) {
  std::string text, line;
  for (const std::string& name : names) {
    const std::string item = "`" + name + "`";
    if (line.size() + item.size() > 110) {
      text += line + "\n";
      line.clear();
    }
    line += (line.empty() ? "" : " ") + item;
  }
  return text + line + "\n";
}

std::string Version() {
  std::smatch match;
  const std::string refused = Read(std::string(LOCKSTEP_BUILD_DIR) + "/generated/refused_functions.inc");
  if (!std::regex_search(refused, match, std::regex("^// (\\d+)"))) return "";
  const int version = std::stoi(match[1]);
  return "CUDA " + std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

// What submissions may use of the libraries that an assignment gives them.
std::string Submissions() {
  std::string text =
      "\n## Submissions\n\nWhere [assignment.toml](assignment-toml.md) says so, submissions may use these functions. A "
      "program describes the "
      "work, and the\n"
      "judge does it: with the checks, times and exactness of those above, as a launch of its own in the counts. "
      "Without "
      "NVIDIA's headers\n"
      "ours are used. Another function is reported when the submission is linked. A transform has one dimension of "
      "2^22 "
      "numbers at most, with\n"
      "no prime factor above 127; a call of more than 4e9 operations is refused. A handle or plan holds device memory "
      "until it is\n"
      "destroyed. Thrust and CUB are headers, and have no such limits.\n";
  for (const std::string file : {"libcublas.so.13", "libcufft.so.12"}) {
    text += "\n**`" + file + "`**\n\n" + List(ReadLibrary("submission/" + file).defined);
  }
  return text;
}

std::string Page(const std::string& version) {
  std::string page =
      "# Host libraries\n\n<!-- Generated by libraries_reference_test: LOCKSTEP_UPDATE_GOLDEN=1 writes it anew. -->\n\n"
      "Stand-ins for the host libraries of " +
      version +
      ", which `vgpu-run` puts before NVIDIA's. What a function computes is computed on\n"
      "the CPU, partly by [other libraries](dependencies.md), as work of the stream that it was given: in order, "
      "captured "
      "into\n"
      "graphs, with a modelled time, and its memory checked. A name stands for its variants, such as `_v2` and `_64`. "
      "A\n"
      "call of what is refused says the function's name and returns the library's status for what is not supported; a\n"
      "function without a status ends the program.\n\n"
      "* A matrix outside its buffer is a fault at the call, which returns an error at once. A GPU reports it later.\n"
      "* Times are rooflines: the larger of bytes over memory bandwidth and operations over the peak of the type, and "
      "the\n"
      "  launch's overhead. No library reaches them: an H100's `cublasSgemm` of 8192 rows takes 77 % of the peak,\n"
      "  `cublasDgemm` 97 %, TF32 85 %, 16-bit 83 % and 8-bit products 67 %.\n"
      "* cuBLAS: results are as exact as an H100's, not equal bit by bit; products of 8-bit integers are exact. Inputs "
      "in\n"
      "  TF32 are rounded to the nearest, ties to even. Null pointers to factors, and `cublasSgemv` with increments of "
      "0\n"
      "  or an unknown operation, are refused with `CUBLAS_STATUS_INVALID_VALUE`, where NVIDIA's crashes or does "
      "nothing.\n"
      "* cuBLASLt: matrices in column or row order, batches apart by a stride, bias, ReLU and GELU. Other attributes,\n"
      "  orders and epilogues are refused by name.\n"
      "* cuFFT: results are as exact as an H100's. A transform to real numbers in several dimensions overwrites its "
      "input, as\n"
      "  there. Sizes of work areas are about an H100's. A plan may be executed by a function for other types, which "
      "is "
      "said:\n"
      "  what counts is the plan's. Lengths below 1 in the second and third dimension are `CUFFT_INVALID_SIZE`, where\n"
      "  NVIDIA's succeeds or has an internal error. Dimensions of more than 2^27 numbers, half precision, callbacks "
      "and\n"
      "  several GPUs are refused by name.\n"
      "* cuRAND: all generators, of the device and of the host, in every documented ordering but XORWOW's\n"
      "  `CURAND_ORDERING_PSEUDO_DYNAMIC`. Bits, uniform, normal and lognormal numbers of the device are equal to an H100's,\n"
      "  bit by bit (harness/dev/conformance).\n"
      "* What nobody has published comes from the machine's own `libcurand.so.10`, whose generators of the host need no GPU\n"
      "  and give an H100's bits: Poisson numbers by accept-reject methods, scrambled Sobol' sequences, dimensions after the\n"
      "  first 256, direction vectors and scramble constants. Where that library is missing these are refused by name.\n"
      "* cuRAND refuses by name: Poisson numbers of means from 2000 with XORWOW, MRG32k3a and Philox of the device, normal\n"
      "  numbers after Poisson numbers that came from NVIDIA's library, offsets of 2^62 or more, generation in a captured\n"
      "  stream, and results after a change of seed or ordering whose place in the sequence is not known.\n"
      "* cuSPARSE: sums are added up in double precision and rounded once. An index outside the matrix, which a GPU "
      "would\n"
      "  follow, is a fault. `bufferSize` answers 16 bytes, of which nothing is used.\n"
      "* cuSOLVER: LAPACK's results: factors and spectra are as exact as an H100's, signs of vectors may differ. The\n"
      "  functions of Jacobi's methods give the same as the others, with a residual of 0 after 1 sweep. Null pointers "
      "and\n"
      "  negative sizes are refused with `CUSOLVER_STATUS_INVALID_VALUE` where NVIDIA's crashes.\n"
      "* [Submissions](#submissions) have libraries of their own.\n\n"
      "| library | functions there | refused |\n|---|---:|---:|\n";
  for (const Library& library : Libraries()) {
    page += "| `" + library.file + "` | " + std::to_string(library.defined_symbols) + " | " +
            std::to_string(library.refused_symbols) + " |\n";
  }
  for (const Library& library : Libraries()) {
    if (library.defined.empty()) continue;
    page += "\n## `" + library.file + "`\n\n" + List(library.defined);
    if (!library.refused.empty()) page += "\n**Refused by name**\n\n" + List(library.refused);
  }
  return page + Submissions();
}

std::string FirstDifference(const std::string& written, const std::string& page) {
  std::istringstream before(written), now(page);
  std::string one, other;
  for (int line = 1; before.good() || now.good(); ++line) {
    if (!std::getline(before, one)) one = "(the end)";
    if (!std::getline(now, other)) other = "(the end)";
    if (one != other) return "line " + std::to_string(line) + " is\n  " + one + "\nand would be\n  " + other;
  }
  return "no line differs";
}

TEST(LibrariesReferenceTest, ThePageIsUpToDate) {
  if (!std::filesystem::exists(kLibraries + "libcublas.so.13")) {
    LOCKSTEP_SKIP_BUT_IN_CI("no stand-in for cuBLAS in this build: install libopenblas-dev");
  }
  if (ReadLibrary("libcufft.so.12").defined.empty()) {
    LOCKSTEP_SKIP_BUT_IN_CI("no stand-in for cuFFT in this build: install libeigen3-dev");
  }
  const std::string version = Version(), page = Page(version);
  const char* const update = std::getenv("LOCKSTEP_UPDATE_GOLDEN");
  if (update != nullptr && std::string(update) == "1") {
    std::ofstream(kPage) << page;
    return;
  }
  const std::string written = Read(kPage);
  if (written.find("of " + version + ",") == std::string::npos) {
    LOCKSTEP_SKIP_BUT_IN_CI(kPage + " is about another toolkit than this build's, " + version);
  }
  EXPECT_TRUE(written == page) << "LOCKSTEP_UPDATE_GOLDEN=1 writes " << kPage
                               << " again: " << FirstDifference(written, page);
}

}  // namespace
}  // namespace lockstep
