#include "vgpu/exec/thread_pool.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>

namespace lockstep::vgpu {
namespace thread_pool_test {

TEST(ThreadPoolTest, RunsEachPartOnce) {
  ThreadPool pool(3);
  for (int round = 0; round < 100; ++round) {
    std::atomic<int> ran[3] = {};
    const int n = 1 + round % 3;
    pool.Run(n, [&](int k) { ++ran[k]; });
    for (int k = 0; k < 3; ++k) EXPECT_EQ(ran[k], k < n ? 1 : 0);
  }
}

TEST(ThreadPoolTest, ThreadsKeepOffTheCallersCpu) {
  cpu_set_t allowed;
  ASSERT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
  if (CPU_COUNT(&allowed) < 2) GTEST_SKIP() << "one CPU";
  ThreadPool pool(2);
  // The system may move the calling thread to another CPU at any time.
  for (int round = 0; round < 1000; ++round) {
    cpu_set_t taken;
    const int before = sched_getcpu();
    pool.Run(2, [&](int k) {
      if (k == 1) sched_getaffinity(0, sizeof taken, &taken);
    });
    if (sched_getcpu() != before) continue;
    EXPECT_FALSE(CPU_ISSET(static_cast<size_t>(before), &taken));
    EXPECT_EQ(CPU_COUNT(&taken), CPU_COUNT(&allowed) - 1);
    return;
  }
  FAIL() << "the caller never stayed on one CPU";
}

TEST(ThreadPoolTest, ThreadsStayWhereThereIsOneCpu) {
  cpu_set_t allowed, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
  CPU_ZERO(&one);
  CPU_SET(static_cast<size_t>(sched_getcpu()), &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  {
    ThreadPool pool(2);
    cpu_set_t taken;
    pool.Run(2, [&](int k) {
      if (k == 1) sched_getaffinity(0, sizeof taken, &taken);
    });
    EXPECT_TRUE(CPU_EQUAL(&taken, &one));
  }
  ASSERT_EQ(sched_setaffinity(0, sizeof allowed, &allowed), 0);
}

}  // namespace thread_pool_test
}  // namespace lockstep::vgpu
