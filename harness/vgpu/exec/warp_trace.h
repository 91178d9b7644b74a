// vgpu-run --trace: what one warp of a launch does, instruction by instruction, with the values that it makes.
//
// The engine then runs a copy of the program's code in which each instruction calls the trace, and the trace calls what
// stood there: the instruction's own handler, or that of another tracker. Without a trace nothing is different from
// what it would be if there were none.
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

namespace lockstep::vgpu {

class Engine;
struct LaunchInfo;  // observers/observer.h

// A launch that is traced.
struct TraceJob {
  TraceRequest request;
  Listing listing;
  std::function<void(std::string_view)> print;  // a line, with its end
  uint64_t executed = 0;                        // instructions of the warp so far
};

// What is printed before the lines of a launch; false: it has no such warp, which is then all there is to say.
bool BeginTrace(const TraceJob& job, const LaunchInfo& launch);
// And behind them.
void EndTrace(const TraceJob& job);

class WarpTrace {
 public:
  // code: what the engine runs; it stays where it is.
  WarpTrace(Engine& engine, TraceJob& job, std::vector<Insn>& code);
  WarpTrace(const WarpTrace&) = delete;
  WarpTrace& operator=(const WarpTrace&) = delete;

  // The instruction before warp.pc.
  void Run(Warp& warp, LaneMask mask);

 private:
  // An instruction whose lanes wait for others before it makes its result.
  struct Pending {
    uint64_t number;
    uint32_t pc;
    LaneMask lanes;
    const uint8_t* rows;  // of its frame
  };

  void Execute(Warp& warp, uint32_t pc, LaneMask mask) const;
  void TellPending(const Warp& warp);
  std::string Place(uint32_t pc) const;
  std::string AddressText(const Warp& warp, uint32_t pc, LaneMask mask) const;
  std::string ValuesText(const std::vector<ListedRegister>& registers, const uint8_t* rows, LaneMask mask) const;

  Engine& engine_;
  const Program& program_;
  TraceJob& job_;
  SourcePlaces places_;
  std::vector<Handler> inner_;  // by pc: what stood there
  std::vector<uint8_t> inner_flags_;
  std::vector<Pending> pending_;
};

}  // namespace lockstep::vgpu
