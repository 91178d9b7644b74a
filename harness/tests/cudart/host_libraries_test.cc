// The message for a program that loads a library which holds machine code for GPUs.
#include "vgpu/cudart/libraries/host_libraries.h"

#include <gtest/gtest.h>

namespace lockstep::vgpu {
namespace host_libraries_test {

TEST(HostLibrariesTest, AStandInThatWasNotBuiltNamesItsPackage) {
  for (const char* file : {"libcublas.so.13", "libcublasLt.so.13", "libcusolver.so.12"}) {
    const HostLibrary* library = FindHostLibrary(std::string("/usr/lib/") + file);
    ASSERT_NE(library, nullptr) << file;
    const std::string text = RefusalOf(*library, file);
    EXPECT_NE(text.find("install libopenblas-dev"), std::string::npos) << text;
  }
  EXPECT_NE(RefusalOf(*FindHostLibrary("libcufft.so.12"), "libcufft.so.12").find("libeigen3-dev"), std::string::npos);
}

TEST(HostLibrariesTest, OneWithoutAStandInIsToBeReplaced) {
  const HostLibrary* library = FindHostLibraryOfSymbol("cudnnCreate");
  ASSERT_NE(library, nullptr);
  EXPECT_NE(RefusalOf(*library, "cudnnCreate").find("write the kernel yourself"), std::string::npos);
}

}  // namespace host_libraries_test
}  // namespace lockstep::vgpu
