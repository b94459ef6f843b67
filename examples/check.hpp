// Checks inside an example: prints that two numbers agree, or makes the program fail.
#pragma once

#include <cmath>
#include <cstdio>

class Checks {
 public:
  /// Two numbers that were computed in different ways.
  void near(const char* what, double got, double want, double within) {
    const bool good = std::abs(got - want) <= within;  // false for NaN
    if (good) {
      std::printf("  checked: %s, %.10g\n", what, want);
    } else {
      std::printf("  WRONG: %s is %.17g, and should be %.17g\n", what, got, want);
    }
    all_good_ = all_good_ && good;
  }

  /// Something that must hold.
  void that(bool good, const char* what) {
    std::printf("  %s: %s\n", good ? "checked" : "WRONG", what);
    all_good_ = all_good_ && good;
  }

  [[nodiscard]] int exit_code() const { return all_good_ ? 0 : 1; }

 private:
  bool all_good_ = true;
};
