#include "at_limit.h"

int main() {
  std::printf("task,size,what,microseconds,gb_s\n");
  limits::Reduction();
  limits::Scan();
  limits::Transpose();
  limits::Shift();
  limits::Matmul();
  limits::Histogram();
  limits::Sort();
  return 0;
}
