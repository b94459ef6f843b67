// Splits the streams over one thread or two.
#include "paper_model/roofline.hpp"

#include <algorithm>
#include <stdexcept>

#include "paper_model/roofline_kernels.hpp"

namespace bench {
namespace {

/// Spins for a few microseconds, so that short rounds need no waking, but not into what is timed next.
template <class Done>
void wait_until(const std::atomic<int>& value, const Done& done) {
  for (int spin = 0; spin < 4000; ++spin) {
    if (done(value.load(std::memory_order_acquire))) return;
  }
  for (int now = value.load(); !done(now); now = value.load()) value.wait(now);
}

}  // namespace

Roofline::Roofline(const TreeModel& model, int threads) : model_(model) {
  if (!fits(model.sizes())) throw std::invalid_argument("the roofline takes multiples of 64 slices, domains up to 128");
  if (threads > 1) helper_ = std::thread([this] { help(); });
}

Roofline::~Roofline() {
  if (!helper_.joinable()) return;
  round_ = -1;
  round_.notify_one();
  helper_.join();
}

double Roofline::log_sum_exps() {
  const TreeSizes& n = model_.sizes();
  const std::int64_t slices = n.slices();
  const std::int64_t parts = (slices + lanes_at_once - 1) / lanes_at_once;
  return over_units(2 * n.domain * parts, [&](std::int64_t unit) {
    const float* factor = model_.entries(unit / (n.domain * parts) == 0 ? 2 : 4);
    const std::int64_t outer = unit / parts % n.domain;
    const std::int64_t begin = unit % parts * lanes_at_once;
    return bench::log_sum_exps(factor + outer * n.domain * slices + begin, slices, n.domain,
                               std::min(lanes_at_once, slices - begin));
  });
}

double Roofline::sum() {
  const std::int64_t count = model_.large_elements() / 2;
  // Long streams, but of a small model enough units for both threads; a multiple of 64.
  const std::int64_t block = std::clamp<std::int64_t>(count / 8 / 64 * 64, 1 << 13, 1 << 18);
  const std::int64_t parts = (count + block - 1) / block;
  return over_units(2 * parts, [&](std::int64_t unit) {
    const std::int64_t begin = unit % parts * block;
    return bench::sum(model_.entries(unit < parts ? 2 : 4) + begin, std::min(block, count - begin));
  });
}

double Roofline::over_units(std::int64_t units, const std::function<double(std::int64_t)>& unit) {
  units_ = units;
  unit_ = &unit;
  next_ = 0;
  if (!helper_.joinable()) return take_units();
  const int round = helped_.load() + 1;
  round_.store(round, std::memory_order_release);
  round_.notify_one();
  const double mine = take_units();
  wait_until(helped_, [round](int done) { return done == round; });
  return mine + helper_total_;
}

double Roofline::take_units() {
  double total = 0;
  for (std::int64_t unit = next_++; unit < units_; unit = next_++) total += (*unit_)(unit);
  return total;
}

void Roofline::help() {
  for (int done = 0;;) {
    wait_until(round_, [&done](int round) { return round != done; });
    const int round = round_.load(std::memory_order_acquire);
    if (round < 0) return;
    helper_total_ = take_units();
    done = round;
    helped_.store(done, std::memory_order_release);
    helped_.notify_one();
  }
}

}  // namespace bench
