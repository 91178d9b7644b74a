#include "worker/launchers.h"

namespace lockstep::worker {

std::vector<Launcher>& Launchers() {
  static std::vector<Launcher> launchers;
  return launchers;
}

}  // namespace lockstep::worker
