// The result of a run: one line of JSON on standard output. Progress goes to standard error.
#pragma once

#include <chrono>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include <plated/json.hpp>

namespace experiments {

/// Seconds since it was made.
class Clock {
 public:
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

/// Fields in the order in which they are set.
class Result {
 public:
  Result& set(const std::string& name, const std::string& text) { return add(name, plated::json_string(text)); }
  Result& set(const std::string& name, const char* text) { return set(name, std::string(text)); }
  Result& set(const std::string& name, std::int64_t number) { return add(name, std::to_string(number)); }
  Result& set(const std::string& name, double number) { return add(name, spell(number)); }
  Result& set(const std::string& name, const std::vector<double>& numbers) {
    return add(name, list(numbers, [](double number) { return spell(number); }));
  }
  Result& set(const std::string& name, const std::vector<std::vector<double>>& rows) {
    return add(name,
               list(rows, [](const auto& row) { return list(row, [](double number) { return spell(number); }); }));
  }
  Result& set(const std::string& name, const std::vector<std::string>& texts) {
    return add(name, list(texts, [](const std::string& text) { return plated::json_string(text); }));
  }

  void print() const { std::printf("{%s}\n", fields_.c_str()); }

 private:
  Result& add(const std::string& name, const std::string& value) {
    fields_ += (fields_.empty() ? "" : ", ") + plated::json_string(name) + ": " + value;
    return *this;
  }
  static std::string spell(double number) {
    if (!std::isfinite(number)) return "null";
    char text[32];
    (void)std::snprintf(text, sizeof text, "%.8g", number);
    return text;
  }
  template <class Items, class Spell>
  static std::string list(const Items& items, const Spell& spelled) {
    std::string text;
    for (const auto& item : items) text += (text.empty() ? "" : ", ") + spelled(item);
    return "[" + text + "]";
  }

  std::string fields_;
};

/// At most so many entries of a curve: the first, the last and some between them.
inline std::vector<double> thinned(const std::vector<double>& curve, std::size_t most) {
  if (curve.size() <= most) return curve;
  std::vector<double> some;
  for (std::size_t k = 0; k < most; ++k) some.push_back(curve[k * (curve.size() - 1) / (most - 1)]);
  return some;
}

}  // namespace experiments
