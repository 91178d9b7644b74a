// A suspended launch (exec/launch_pauses.h), which waits for another turn.
//
// Its state is kept: its blocks hold their room on the device, and it keeps its checkers, while later launches get
// others (Observer::Beside).
#pragma once

#include <string>

#include "vgpu/exec/launch_pauses.h"

namespace lockstep::vgpu {

struct LaunchResult;  // device/device.h

class SuspendedLaunch {
 public:
  virtual ~SuspendedLaunch() = default;  // destroyed before its end, the launch never ends
  // Runs it further. True: the launch has ended.
  virtual bool Resume() = 0;
  // The next Resume ends it with a fault with this reason.
  virtual void GiveUp(std::string why) = 0;
  virtual const Standstill& standstill() const = 0;
  virtual LaunchResult result() const = 0;  // once it has ended
};

}  // namespace lockstep::vgpu
