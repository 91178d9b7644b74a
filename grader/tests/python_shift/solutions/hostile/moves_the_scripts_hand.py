# virtual: COMPILE shift1_gather
"""Makes the build script end with the status by which it says that it can not begin."""

import ctypes
import os

ATTACH, GET_REGISTERS, SET_REGISTERS, DETACH = 16, 12, 13, 17
RAX, RDI, ORIG_RAX, RIP = 10, 14, 15, 16
EXIT_GROUP, STATUS = 231, 64

libc = ctypes.CDLL(None)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
script = os.getppid()
if libc.ptrace(ATTACH, script, None, None) == 0:
    os.waitpid(script, 0x40000000)
    registers = (ctypes.c_ulonglong * 27)()
    libc.ptrace(GET_REGISTERS, script, None, ctypes.addressof(registers))
    registers[RAX], registers[RDI], registers[ORIG_RAX] = EXIT_GROUP, STATUS, 2**64 - 1
    registers[RIP] -= 2  # the system call once more
    libc.ptrace(SET_REGISTERS, script, None, ctypes.addressof(registers))
    libc.ptrace(DETACH, script, None, None)
os._exit(1)
