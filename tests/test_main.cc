// test_main.cc — main() of every GoogleTest program here: a filter that selects no test is a failure, not a pass.
// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>

#include <cstdio>

int main(int argc, char** argv) {
  testing::InitGoogleMock(&argc, argv);
  if (argc > 1) {
    std::fprintf(stderr, "%s: unknown argument '%s'\n", argv[0], argv[1]);
    return 2;
  }
  const int result = RUN_ALL_TESTS();
  const auto& unit_test = *testing::UnitTest::GetInstance();
  if (!testing::GTEST_FLAG(list_tests) && unit_test.test_to_run_count() == 0) {
    std::fprintf(stderr, "%s: the filter selects no test\n", argv[0]);
    return 1;
  }
  return result;
}
