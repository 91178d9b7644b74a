#include "dev/cosim/cuda/program.h"

#include "dev/cosim/cuda/kernel_maker.h"

namespace lockstep::cosim::cuda {

ProgramText MakeProgram(uint64_t seed) { return KernelMaker(seed).Make(); }

std::string MakeFile(uint64_t first, int count, int* functions) {
  std::string text = "#include \"program_run.cuh\"\n\nusing namespace cosim;\n\n", entries;
  for (int k = 0; k < count; ++k) {
    const ProgramText program = MakeProgram(first + static_cast<uint64_t>(k));
    text += program.text + "\n";
    entries += "    " + program.entry + ",\n";
    if (functions != nullptr) *functions += program.functions;
  }
  return text + "static const Program kPrograms[] = {\n" + entries +
         "};\n\nint main(int argc, char** argv) { return Main(kPrograms, argc, argv); }\n";
}

}  // namespace lockstep::cosim::cuda
