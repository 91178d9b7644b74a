// A worker's process that is held, and what it has started with it.
#include "worker/session_process.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <thread>

namespace lockstep::worker {
namespace {

// Prints y for ever, and has a child in a session of its own that prints x.
WorkerCommand TwoThatPrint() {
  WorkerCommand command;
  command.prefix = {"/bin/sh", "-c",
                    "setsid sh -c 'while :; do echo x; sleep 0.01; done' & while :; do echo y; sleep 0.01; done"};
  command.worker = "worker";
  return command;
}

std::string Read(const WorkerProcess& process) {
  std::string text;
  char piece[4096];
  for (ssize_t got; (got = ::read(process.output(), piece, sizeof piece)) > 0;) {
    text.append(piece, static_cast<size_t>(got));
  }
  return text;
}

// Whether both come to print within some seconds.
bool BothPrint(const WorkerProcess& process) {
  std::string text;
  for (int attempt = 0; attempt < 500; ++attempt) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    text += Read(process);
    if (text.find('x') != std::string::npos && text.find('y') != std::string::npos) return true;
  }
  return false;
}

TEST(WorkerProcessTest, NothingOfAHeldWorkerRunsUntilItIsReleased) {
  WorkerProcess process(TwoThatPrint());
  ASSERT_TRUE(BothPrint(process));
  process.Hold();
  Read(process);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_EQ(Read(process), "");
  process.Release();
  EXPECT_TRUE(BothPrint(process));
}

TEST(WorkerProcessTest, HeldWorkerCanBeKilled) {
  WorkerProcess process(TwoThatPrint());
  ASSERT_TRUE(BothPrint(process));
  process.Hold();
  process.Kill();
  EXPECT_FALSE(process.Status());
}

TEST(WorkerProcessTest, WorkerThatHasEndedIsNotHeld) {
  WorkerCommand command;
  command.prefix = {"/bin/sh", "-c", "exit 3"};
  command.worker = "worker";
  WorkerProcess process(command);
  while (!process.Status()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  process.Hold();
  process.Release();
  EXPECT_EQ(process.Status()->code, 3);
}

}  // namespace
}  // namespace lockstep::worker
