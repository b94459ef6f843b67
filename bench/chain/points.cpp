// Times hidden Markov models of many sizes, Plated and the handwritten recursion in turn.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>

#include "by_hand.hpp"
#include "plated_runner.hpp"
#include "sections.hpp"

namespace bench {
namespace {

using plated::Tensor;
using Clock = std::chrono::steady_clock;

constexpr std::int64_t largest_bytes = std::int64_t{2} << 30;
constexpr double longest_call = 20;    // seconds; a figure whose calls take longer is left out
constexpr double longest_figure = 60;  // seconds; turns beyond are not taken
constexpr double value_target = 1.3;   // times the loops by hand
constexpr double gradient_target = 1.5;
constexpr std::int64_t pilot_length = 1000;
constexpr std::int64_t plain_length = 100;  // at most: plain loops in double take a moment only

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// The best time of each of two runners, in turn, and of how many turns. Both have run before, to be checked.
struct Turns {
  double plated = std::numeric_limits<double>::infinity();
  double by_hand = std::numeric_limits<double>::infinity();
  int count = 0;
};

Turns take_turns(const std::function<void()>& plated, const std::function<void()>& by_hand,
                 const ChainSettings& settings) {
  Turns best;
  const auto begin = Clock::now();
  double passed = 0;
  while ((best.count < settings.turns || passed < settings.seconds) &&
         (best.count == 0 || passed * (best.count + 1) / best.count < longest_figure)) {
    auto start = Clock::now();
    plated();
    best.plated = std::min(best.plated, seconds_since(start));
    start = Clock::now();
    by_hand();
    best.by_hand = std::min(best.by_hand, seconds_since(start));
    ++best.count;
    passed = seconds_since(begin);
  }
  return best;
}

/// The largest difference of two gradients, as a share of `scale`. NaN stays.
template <class Expected>
double difference(const Tensor& found, const Expected* expected, double scale) {
  const auto* entries = static_cast<const float*>(found.data());
  const std::int64_t count = found.elements();
  double largest = 0;
  for (std::int64_t k = 0; k < count; ++k) {
    const double error = std::abs(static_cast<double>(entries[k]) - static_cast<double>(expected[k])) / scale;
    largest = error <= largest ? largest : error;
  }
  return largest;
}

void require(double error, double allowed, const char* what, const ChainSize& size) {
  if (error <= allowed) return;
  throw std::runtime_error(std::string("wrong ") + what + " of " + std::to_string(size.states) + " states, length " +
                           std::to_string(size.length) + ", " + std::to_string(size.sequences) +
                           " sequences: an error of " + std::to_string(error));
}

void require_value(double found, double expected, const char* what, const ChainSize& size) {
  require(std::abs(found / expected - 1), 1e-6, what, size);
}

/// A state's probability to 1e-4, a count to 1e-4 of what it is a share of.
template <class Expected>
void require_gradient(const std::vector<Tensor>& found, const Expected* prior, const Expected* transition,
                      const Expected* emissions, const char* what, const ChainSize& size) {
  require(difference(found[0], prior, static_cast<double>(size.sequences)), 1e-4, what, size);
  require(difference(found[1], transition, static_cast<double>(size.steps())), 1e-4, what, size);
  require(difference(found[2], emissions, 1), 1e-4, what, size);
}

const float* entries(const Tensor& tensor) { return static_cast<const float*>(tensor.data()); }

class Point {
 public:
  Point(ChainSize size, int threads)
      : size_(size),
        model_(size),
        plated_(compiled(size), model_.factors, threads),
        by_hand_(model_),
        threads_(threads) {}

  Json measure_value(const ChainSettings& settings) {
    const double log_total = plated_.value();
    require_value(by_hand_.value(), log_total, "value", size_);
    if (is_short()) require_value(log_total, plain_posterior(model_).log_total, "value by Plated", size_);
    return figures(take_turns([&] { (void)plated_.value(); }, [&] { (void)by_hand_.value(); }, settings), value_target)
        .set("log_total", log_total);
  }

  Json measure_gradient(const ChainSettings& settings) {
    const std::vector<Tensor> ours = memory_for_gradients(model_.factors);
    const std::vector<Tensor> theirs = memory_for_gradients(model_.factors);
    const double log_total = plated_.gradient(ours);
    require_value(by_hand_.gradient(theirs), log_total, "value with its gradient", size_);
    require_gradient(ours, entries(theirs[0]), entries(theirs[1]), entries(theirs[2]), "gradient", size_);
    if (is_short()) {
      const PlainPosterior expected = plain_posterior(model_);
      for (const auto* found : {&ours, &theirs}) {
        require_gradient(*found, expected.prior.data(), expected.transition.data(), expected.emissions.data(),
                         "gradient beside plain loops", size_);
      }
    }
    return figures(
        take_turns([&] { (void)plated_.gradient(ours); }, [&] { (void)by_hand_.gradient(theirs); }, settings),
        gradient_target);
  }

 private:
  [[nodiscard]] bool is_short() const { return size_.length <= plain_length; }

  [[nodiscard]] Json figures(const Turns& best, double target) const {
    const double per_step = 1e9 / static_cast<double>(size_.steps());
    Json result = Json::object();
    result.set("plated_ns", best.plated * per_step).set("by_hand_ns", best.by_hand * per_step);
    // The loops by hand know one thread.
    if (threads_ == 1) result.set("ratio", best.plated / best.by_hand).set("target", target);
    result.set("turns", best.count);
    const double ratio = best.plated / best.by_hand;
    std::printf(" %12.1f %12.1f %6.2f%c %4d", best.plated * per_step, best.by_hand * per_step, ratio,
                threads_ == 1 && ratio > target ? '!' : ' ', best.count);
    return result;
  }

  ChainSize size_;
  HiddenMarkov model_;
  PlatedChain plated_;
  ByHand by_hand_;
  int threads_;
};

/// How long one call of each question takes at a size, from a short chain.
struct Estimate {
  double value = 0;
  double gradient = 0;
};

Estimate estimate(const ChainSize& size, int threads) {
  if (size.length <= pilot_length) return {};
  const ChainSize pilot = {size.states, pilot_length, size.sequences};
  const HiddenMarkov model(pilot);
  PlatedChain runner(compiled(pilot), model.factors, threads);
  const std::vector<Tensor> memory = memory_for_gradients(model.factors);
  const double scale = static_cast<double>(size.length) / static_cast<double>(pilot.length);
  Estimate result;
  for (int turn = 0; turn < 2; ++turn) {
    auto start = Clock::now();
    (void)runner.value();
    result.value = seconds_since(start) * scale;
    start = Clock::now();
    (void)runner.gradient(memory);
    result.gradient = seconds_since(start) * scale;
  }
  return result;
}

std::string left_out(const char* why, double seconds) {
  char text[100];
  std::snprintf(text, sizeof text, "%s, about %.0f s per call", why, seconds);
  return text;
}

Json measure_point(const ChainSize& size, const ChainSettings& settings) {
  Json row = Json::object();
  row.set("states", size.states).set("length", size.length).set("sequences", size.sequences);
  std::printf("%6lld %8lld %4lld", static_cast<long long>(size.states), static_cast<long long>(size.length),
              static_cast<long long>(size.sequences));
  if (size.emission_bytes() > largest_bytes) {
    std::printf("   left out: emissions of more than 2 GiB\n");
    return row.set("left_out", "emissions of more than 2 GiB");
  }
  const Estimate expected = estimate(size, settings.threads);
  if (expected.value > longest_call) {
    const std::string why = left_out("value", expected.value);
    std::printf("   left out: %s\n", why.c_str());
    return row.set("left_out", why);
  }
  std::fflush(stdout);
  Point point(size, settings.threads);
  row.set("value", point.measure_value(settings));
  std::fflush(stdout);
  if (expected.gradient > longest_call) {
    const std::string why = left_out("gradient", expected.gradient);
    std::printf("   left out: %s", why.c_str());
    row.set("gradient_left_out", why);
  } else {
    row.set("gradient", point.measure_gradient(settings));
  }
  std::printf("\n");
  std::fflush(stdout);
  return row;
}

}  // namespace

Json measure_points(const ChainSettings& settings) {
  std::printf("hidden Markov models, ns per step, %d thread(s)\n%6s %8s %4s %12s %12s %7s %4s %12s %12s %7s %4s\n",
              settings.threads, "states", "length", "seq", "value", "by hand", "ratio", "x", "gradient", "by hand",
              "ratio", "x");
  Json rows = Json::array();
  for (const std::int64_t sequences : settings.sequences) {
    for (const std::int64_t states : settings.states) {
      for (const std::int64_t length : settings.lengths) {
        rows.push(measure_point({states, length, sequences}, settings));
      }
    }
  }
  return rows;
}

}  // namespace bench
