// A constructor speaks in the worker's place, and has no launchers.
#include "submission.cu"

static const int said = [] {
  const unsigned char hello[] = {8, 0, 0, 0, 33, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0};
  (void)!write(3, hello, sizeof hello);
  for (;;) pause();
  return 0;
}();
