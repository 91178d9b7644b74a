// Reports when a program ends without running its libraries' destructors: by a signal (assert, an uncaught exception, a
// crash, Ctrl-C), by _exit() or by quick_exit().
#pragma once

namespace lockstep::vgpu::cudart {

// Calls report("SIGABRT"), report("_exit()" …) when this process (not a fork of it) ends like that. Signals that the
// program handles itself are not intercepted. nullptr: nothing to report.
void ReportAtDeath(void (*report)(const char* how));

// From now on a signal such as Ctrl-C first ends a running kernel, so that the positions of its threads are reported;
// EndIfInterrupted(), called after each launch, then ends the process by that signal. If that does not happen, the
// process ends after some seconds, or at once at a second such signal.
void InterruptKernels();
void EndIfInterrupted();

}  // namespace lockstep::vgpu::cudart
