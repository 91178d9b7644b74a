// A worker's process and all that it has started can be held and ended together.
#include "judge/session/session_process.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <string>
#include <thread>

namespace lockstep::worker {
namespace session_process_test {

// Prints y for ever, and has a child in another session.
WorkerCommand WithAChild(const std::string& child) {
  WorkerCommand command;
  command.prefix = {"/bin/sh", "-c", "setsid sh -c '" + child + "' & while :; do echo y; sleep 0.01; done"};
  command.worker = "worker";
  return command;
}
// The child prints its id, then x for ever.
WorkerCommand TwoThatPrint() { return WithAChild("echo child $$; while :; do echo x; sleep 0.01; done"); }

std::string Read(const WorkerProcess& process) {
  std::string text;
  char piece[4096];
  for (ssize_t got; (got = ::read(process.output(), piece, sizeof piece)) > 0;) {
    text.append(piece, static_cast<size_t>(got));
  }
  return text;
}

// The child's id, once it has printed it.
pid_t ChildOf(const WorkerProcess& process) {
  std::string text;
  for (int attempt = 0; attempt < 500; ++attempt) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    text += Read(process);
    const size_t line = text.find("child "), end = line == std::string::npos ? line : text.find('\n', line);
    if (end != std::string::npos) return static_cast<pid_t>(std::stol(text.substr(line + 6)));
  }
  return -1;
}

// Whether the process ends within 10 seconds; a zombie counts as ended.
bool Ends(pid_t process) {
  for (int attempt = 0; attempt < 500; ++attempt) {
    std::ifstream file("/proc/" + std::to_string(process) + "/stat");
    std::string stat;
    if (!std::getline(file, stat)) return true;
    if (stat[stat.rfind(')') + 2] == 'Z') return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return false;
}

// Whether both x and y are printed within 10 seconds.
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

TEST(WorkerProcessTest, HeldWorkerCanBeKilledWithItsChild) {
  WorkerProcess process(TwoThatPrint());
  const pid_t child = ChildOf(process);
  ASSERT_GT(child, 0);
  process.Hold();
  process.Kill();
  EXPECT_FALSE(process.Status());
  EXPECT_TRUE(Ends(child));
}

TEST(WorkerProcessTest, ARunningChildInASessionOfItsOwnEndsWithTheWorker) {
  pid_t child = -1;
  {
    WorkerProcess process(WithAChild("echo child $$; while :; do sleep 0.01; done"));  // which no broken pipe ends
    child = ChildOf(process);
    ASSERT_GT(child, 0);
  }
  EXPECT_TRUE(Ends(child));
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

}  // namespace session_process_test
}  // namespace lockstep::worker
