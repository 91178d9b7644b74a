// vgpu-run --trace: prints what one warp of a launch does, instruction by instruction, with the computed values.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "vgpu/core/listing.h"
#include "vgpu/core/program.h"
#include "vgpu/core/source_place.h"
#include "vgpu/core/trace_request.h"
#include "vgpu/core/warp.h"
#include "vgpu/exec/instruction_hook.h"

namespace lockstep::vgpu {

class Engine;
struct LaunchInfo;  // observers/observer.h

struct TraceJob {
  TraceRequest request;
  Listing listing;
  std::function<void(std::string_view)> print;  // prints one line, newline included
  uint64_t executed = 0;                        // instructions of the warp so far
};

// Prints the heading of a launch. False: the launch has no such warp, and there is nothing more to print.
bool BeginTrace(const TraceJob& job, const LaunchInfo& launch);
// Prints the last lines.
void EndTrace(const TraceJob& job);

class WarpTrace : public InstructionHook {
 public:
  WarpTrace(Engine& engine, TraceJob& job, std::vector<Insn>& code);

  void Run(Warp& warp, LaneMask mask) override;

 private:
  // An instruction whose lanes wait for others before its result is known.
  struct Pending {
    uint64_t number;
    uint32_t pc;
    LaneMask lanes;
    const uint8_t* rows;  // of its frame
  };

  void PrintPending(const Warp& warp);
  std::string Place(uint32_t pc) const;
  std::string AddressText(const Warp& warp, uint32_t pc, LaneMask mask) const;
  std::string ValuesText(const std::vector<ListedRegister>& registers, const uint8_t* rows, LaneMask mask) const;

  Engine& engine_;
  TraceJob& job_;
  SourcePlaces places_;
  std::vector<Pending> pending_;
};

}  // namespace lockstep::vgpu
