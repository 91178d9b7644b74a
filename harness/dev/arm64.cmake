# Toolchain file to cross-compile for arm64 Linux: Debian's g++-aarch64-linux-gnu, with headers and libraries from
# LOCKSTEP_SYSROOT, which harness/dev/arm64.py makes; qemu-user-static runs the programs.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES LOCKSTEP_SYSROOT)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_CXX_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_SYSROOT ${LOCKSTEP_SYSROOT})
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static;-L;${LOCKSTEP_SYSROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE BOTH)  # CUDA's headers come from the building machine
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(CMAKE_SHARED_LINKER_FLAGS_INIT -L${LOCKSTEP_SYSROOT}/usr/lib/gcc/aarch64-linux-gnu/12)  # libgfortran
