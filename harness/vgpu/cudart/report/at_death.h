// What is still to be said when a program ends without its libraries' destructors: by a signal (assert, an exception
// that nobody catches, a crash, Ctrl-C), by _exit() or by quick_exit().
#pragma once

namespace lockstep::vgpu::cudart {

// Calls report(how), "SIGABRT" or "_exit()", at such an end of this process; not of those that it forks. A signal that
// the program handles itself is left to it. nullptr: nothing is left to be said.
void ReportAtDeath(void (*report)(const char* how));

// From now on a signal such as Ctrl-C first ends a kernel that runs, so that it is told where its threads stand;
// EndIfInterrupted(), which is called after each launch, then ends the process by that signal. Without an answer the
// process ends after some seconds, and at once at a second such signal.
void InterruptKernels();
void EndIfInterrupted();

}  // namespace lockstep::vgpu::cudart
