// Says where in its sources a program is when it ends within a call: killed by a signal, or by exit().
#pragma once

namespace lockstep::vgpu::cudart {

// What begins the line that is written to standard error then:
// "lockstep: stopped at /home/ada/copy.cu:17", followed by " null", " device" or " stack" where the address that could
// not be accessed is in the first page, in memory of the device, or beside the stack's end.
inline constexpr char kStoppedAt[] = "lockstep: stopped at ";
// What follows the place where a launcher in Python raised an exception, before that: worker/python/stand_in.py.
inline constexpr char kStoppedByException[] = " exception ";
// Asks a program that does not come back where it is; it ends by this signal.
constexpr int kWhereSignal = 24;  // SIGXCPU: its time is up

}  // namespace lockstep::vgpu::cudart

// For the worker's main program: a call begins, or has ended.
extern "C" void __cudaLockstepInCall(int is_in_call);
