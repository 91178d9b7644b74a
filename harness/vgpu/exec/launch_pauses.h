// A launch that stands aside while its threads wait for memory that something else has to set.
//
// The engine runs a launch from begin to end, so a thread that polls a word which the host, or a kernel launched later,
// is to set would never see it. Where somebody can give a launch its turns (device/suspended_launch.h), the engine
// pauses it when every block that may run has only polled for a while, and now and then during a long launch that may
// be polling in a way that looks like work: by a barrier of the block in its loop, say. A pause changes nothing that
// the launch computes: it goes on where it stood.
#pragma once

#include <cstddef>
#include <string>

namespace lockstep::vgpu {

struct Standstill {
  bool waits = false;        // every block only polled
  bool progressed = false;   // since the last pause, some thread did more than that
  bool reads_clock = false;  // since the last pause, so a thread may end its wait by itself
  size_t blocks = 0;         // that hold room on the device
};

class LaunchPauses {
 public:
  virtual ~LaunchPauses() = default;
  // Comes back when the launch may go on. Otherwise says why it is to end with a fault.
  virtual std::string Pause(const Standstill& standstill) = 0;
};

}  // namespace lockstep::vgpu
