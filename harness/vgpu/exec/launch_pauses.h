// A launch that pauses while its threads wait for memory that something else has to set.
//
// The engine runs a launch from begin to end, so a thread that polls a word to be set by the host, or by a kernel
// launched later, would never see the change. If a caller can resume the launch (device/suspended_launch.h), the engine
// pauses it when every runnable block has only polled for a while, and periodically during a long launch, which may be
// polling in an unrecognised way, for example with a block barrier in its loop. A pause does not affect the launch's
// computation: it continues where it was.
#pragma once

#include <cstddef>
#include <string>

namespace lockstep::vgpu {

struct Standstill {
  bool waits = false;        // every block only polled
  bool progressed = false;   // since the last pause, some thread did more than poll
  bool reads_clock = false;  // a clock was read since the last pause: a wait may end by itself
  size_t blocks = 0;         // blocks that occupy the device
};

class LaunchPauses {
 public:
  virtual ~LaunchPauses() = default;
  // Returns when the launch may continue. A non-empty result is the reason to end it with a fault.
  virtual std::string Pause(const Standstill& standstill) = 0;
};

}  // namespace lockstep::vgpu
