// What programs built by today's g++ need and glibc 2.28 lacks; harness/dev/glibc_2_28.py links it into a release.
// PROGRAM: a program's start. FORTRAN: what is used of libgfortran. FUNCTIONS: the rest.
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

#if defined FUNCTIONS

#ifdef __x86_64__
enum { kLayout = 1 };  // of struct stat
#else
enum { kLayout = 0 };
#endif
int __fxstat(int layout, int file, struct stat* to);
int __xstat(int layout, const char* path, struct stat* to);
int __lxstat(int layout, const char* path, struct stat* to);
int fstat(int file, struct stat* to) { return __fxstat(kLayout, file, to); }
int stat(const char* path, struct stat* to) { return __xstat(kLayout, path, to); }
int lstat(const char* path, struct stat* to) { return __lxstat(kLayout, path, to); }
__typeof__(fstat64) fstat64 __attribute__((alias("fstat")));

char __libc_single_threaded = 0;  // "not known": counts of references stay atomic

unsigned arc4random(void) {
  unsigned number;
  if (getentropy(&number, sizeof number) != 0) abort();
  return number;
}

#elif defined FORTRAN

// All that OpenBLAS's LAPACK uses of Fortran's library: joins texts of fixed lengths, padded with blanks.
void _gfortran_concat_string(size_t size, char* to, size_t first_size, const char* first, size_t second_size,
                             const char* second) {
  memset(to, ' ', size);
  memcpy(to, first, first_size < size ? first_size : size);
  if (first_size < size)
    memcpy(to + first_size, second, second_size < size - first_size ? second_size : size - first_size);
}

#else

// Calls a program's constructors, as glibc from 2.34 on does if the start file passes no function for it.
typedef void Constructor(int count, char** arguments, char** environment);
extern Constructor* __init_array_start[];
extern Constructor* __init_array_end[];
static void Construct(int count, char** arguments, char** environment) {
  for (Constructor** one = __init_array_start; one != __init_array_end; ++one) (*one)(count, arguments, environment);
}
typedef int Main(int count, char** arguments, char** environment);
int __real___libc_start_main(Main* main, int count, char** arguments, Constructor* construct, void (*destruct)(void),
                             void (*unload)(void), void* stack);
int __wrap___libc_start_main(Main* main, int count, char** arguments, Constructor* construct, void (*destruct)(void),
                             void (*unload)(void), void* stack) {
  return __real___libc_start_main(main, count, arguments, construct != NULL ? construct : Construct, destruct, unload,
                                  stack);
}

#endif
