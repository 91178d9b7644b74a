#include "vgpu/observers/checker_registry.h"

#include <gtest/gtest.h>

#include <regex>
#include <set>
#include <string>

#include "tests/support/source_files.h"
#include "vgpu/cudart/report/checks.h"
#include "vgpu/observers/block_isolation.h"

namespace lockstep::vgpu {
namespace checker_registry_test {

TEST(CheckerRegistryTest, EveryCheckerHasARow) {
  const std::string sources = tests::SourcesBelow("harness/vgpu/observers");
  const std::string registry = tests::SourcesBelow("harness/vgpu/observers", {"checkers.h", "_checker.", "race"});
  const std::regex declaration(R"(class (\w+) (final )?: public Checker\b)");
  size_t checkers = 0;
  for (std::sregex_iterator it(sources.begin(), sources.end(), declaration), end; it != end; ++it, ++checkers) {
    EXPECT_NE(registry.find("Make" + it->str(1)), std::string::npos)
        << "the checker " << it->str(1) << " has no row in observers/checker_registry.cc, so that nothing turns it on";
  }
  EXPECT_EQ(checkers, AllCheckers().size()) << "observers/checker_registry.cc has rows for the same checker";
}

TEST(CheckerRegistryTest, EveryRowIsWhole) {
  std::set<std::string_view> ids = {"all", cudart::kLeaks.id, cudart::kApi.id};
  for (const CheckerInfo& checker : AllCheckers()) {
    EXPECT_TRUE(ids.insert(checker.id).second) << "two checks are called " << checker.id;
    EXPECT_FALSE(checker.help.empty()) << "the checker " << checker.id << " does not say what it finds";
    ASSERT_NE(checker.make, nullptr) << "the checker " << checker.id << " has no factory";
    const std::unique_ptr<Checker> made = checker.make();
    ASSERT_NE(made, nullptr) << "the factory of the checker " << checker.id << " makes nothing";
    alignas(4096) static uint8_t memory[1 << 16];
    const uint64_t begin = reinterpret_cast<uint64_t>(memory);
    BlockIsolation isolation(begin, begin + sizeof memory);
    isolation.Begin(1);
    EXPECT_TRUE(made->Fork() != nullptr || made->ForkIsolated(isolation) != nullptr)
        << "the checker " << checker.id << " has neither Fork nor ForkIsolated (observers/observer.h), so that every "
        << "launch that it watches runs on one thread";
    EXPECT_NE(("\n" + cudart::CheckHelp("  ")).find("\n  " + std::string(checker.id)), std::string::npos)
        << "vgpu-run --help does not name the checker " << checker.id;
  }
}

TEST(CheckerRegistryTest, SetsHoldWhatIsAdded) {
  CheckerSet set = {"races", "sync"};
  EXPECT_TRUE(set.Has("races"));
  EXPECT_FALSE(set.Has("init"));
  EXPECT_FALSE(set.Has("no such"));
  EXPECT_FALSE(set.Add("no such"));
  EXPECT_FALSE(set == CheckerSet::All());
  for (const CheckerInfo& checker : AllCheckers()) EXPECT_TRUE(set.Add(checker.id));
  EXPECT_TRUE(set == CheckerSet::All());
  EXPECT_THROW((CheckerSet{"no such"}), std::logic_error);
}

TEST(CheckerRegistryTest, ListsOfChecks) {
  const cudart::Checks some = cudart::ParseChecks("sync,leaks");
  EXPECT_TRUE(some.launches.Has("sync") && some.leaks);
  EXPECT_FALSE(some.launches.Has("races") || some.api);
  EXPECT_TRUE(cudart::ParseChecks("all").launches == CheckerSet::All());
  EXPECT_FALSE(cudart::ParseChecks("").any());
  try {
    cudart::ParseChecks("races,barriers");
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_EQ(error.what(), "there is no check barriers; there are: " + cudart::CheckNames());
  }
}

}  // namespace checker_registry_test
}  // namespace lockstep::vgpu
