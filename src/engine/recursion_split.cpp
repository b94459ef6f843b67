// Runs a chain parallel in time: splits it into short stretches, runs each from every state, multiplies the results.
#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/recursion.hpp"

namespace plated::engine {
namespace {

constexpr std::int64_t parts = Recursion::time_parts;

/// A message that goes through the matrix of a part: row s is the result of starting in state s.
template <class T>
void multiply(Semiring semiring, std::vector<double>& message, double& offset, const T* matrix,
              const double* row_offset) {
  const std::size_t states = message.size();
  const double zero = semiring == Semiring::min_plus ? std::numeric_limits<double>::infinity()
                                                     : -std::numeric_limits<double>::infinity();
  const auto better = [&](double x, double y) {
    return semiring == Semiring::min_plus ? std::min(x, y) : std::max(x, y);
  };
  std::vector<double> next(states, zero);
  for (std::size_t b = 0; b < states; ++b) {
    double best = zero;
    const auto term = [&](std::size_t a) {
      return message[a] + row_offset[a] + static_cast<double>(matrix[a * states + b]);
    };
    for (std::size_t a = 0; a < states; ++a) best = better(best, term(a));
    next[b] = best;
    if (semiring != Semiring::log || best == zero) continue;
    double sum = 0;
    for (std::size_t a = 0; a < states; ++a) sum += std::exp(term(a) - best);
    next[b] += std::log(sum);
  }
  message = next;
  double best = zero;
  for (const double x : message) best = better(best, x);
  if (best == zero) return;
  for (double& x : message) x -= best;
  offset += best;
}

template <class T>
void write(const std::vector<double>& message, void* to) {
  std::copy(message.begin(), message.end(), static_cast<T*>(to));
}

/// Where rows of parts begin: a term's row offsets, repeated for each part, its steps further on.
std::vector<std::int64_t> spread(const kernels::SliceTerm& term, std::int64_t rows, std::int64_t repeats,
                                 std::int64_t steps) {
  std::vector<std::int64_t> list;
  for (std::int64_t part = 0; part < parts; ++part) {
    for (std::int64_t r = 0; r < rows; ++r) {
      const std::int64_t own = term.row_offset != nullptr ? term.row_offset[r] : 0;
      list.insert(list.end(), static_cast<std::size_t>(repeats), own + part * steps * term.step_stride);
    }
  }
  return list;
}

}  // namespace

bool Recursion::splits_time(std::int64_t steps) const {
  // From every state, a step takes as many rows as there are states. They go side by side through vector lanes, which
  // beats the latency of one row only where both are few.
  return fused_ && rows_ * states_ <= 3 && steps >= 32 * parts;
}

void Recursion::run_split(const kernels::ScanRun& whole, const Settings& settings) {
  const std::int64_t steps = whole.steps / parts;
  const std::size_t size = size_of(dtype_);
  const auto advanced = [&](kernels::SliceTerm term, std::int64_t by) {
    if (term.data != nullptr) {
      term.data = static_cast<const std::byte*>(term.data) + by * term.step_stride * static_cast<std::int64_t>(size);
    }
    return term;
  };

  // Every part from every state.
  const std::int64_t matrix_rows = parts * rows_ * states_;
  std::vector<std::byte> matrices(static_cast<std::size_t>(matrix_rows * states_) * size);
  std::vector<double> matrix_offset(static_cast<std::size_t>(matrix_rows), 0.0);
  const double zero = semiring_ == Semiring::min_plus ? std::numeric_limits<double>::infinity()
                                                      : -std::numeric_limits<double>::infinity();
  for (std::int64_t k = 0; k < matrix_rows * states_; ++k) {
    const double entry = k / states_ % states_ == k % states_ ? 0.0 : zero;
    if (dtype_ == Dtype::float32) {
      reinterpret_cast<float*>(matrices.data())[k] = static_cast<float>(entry);
    } else {
      reinterpret_cast<double*>(matrices.data())[k] = entry;
    }
  }
  const auto rows_of = [&](kernels::ScanRun& run, std::int64_t repeats, std::vector<std::int64_t>& before,
                           std::vector<std::int64_t>& after) {
    run.steps = steps;
    before = spread(whole.before, rows_, repeats, steps);
    after = spread(whole.after, rows_, repeats, steps);
    run.before.row_offset = before.data();
    run.after.row_offset = after.data();
  };
  kernels::ScanRun products = whole;
  std::vector<std::int64_t> before, after;
  rows_of(products, states_, before, after);
  products.messages = matrices.data();
  products.offset = matrix_offset.data();
  products.trace = {};
  run_rows(products, matrix_rows, settings);

  // The message before each part, one after the other.
  std::vector<std::byte> starts(static_cast<std::size_t>(parts * rows_ * states_) * size);
  std::vector<double> start_offset(static_cast<std::size_t>(parts * rows_));
  for (std::int64_t r = 0; r < rows_; ++r) {
    auto* own = static_cast<std::byte*>(whole.messages) + static_cast<std::size_t>(r * states_) * size;
    std::vector<double> message(static_cast<std::size_t>(states_));
    for (std::int64_t k = 0; k < states_; ++k) {
      message[k] = dtype_ == Dtype::float32 ? static_cast<double>(reinterpret_cast<const float*>(own)[k])
                                            : reinterpret_cast<const double*>(own)[k];
    }
    for (std::int64_t part = 0; part < parts; ++part) {
      const std::int64_t row = part * rows_ + r;
      std::byte* start = starts.data() + static_cast<std::size_t>(row * states_) * size;
      const std::byte* matrix = matrices.data() + static_cast<std::size_t>(row * states_ * states_) * size;
      start_offset[row] = whole.offset[r];
      if (dtype_ == Dtype::float32) {
        write<float>(message, start);
        multiply(semiring_, message, whole.offset[r], reinterpret_cast<const float*>(matrix),
                 matrix_offset.data() + row * states_);
      } else {
        write<double>(message, start);
        multiply(semiring_, message, whole.offset[r], reinterpret_cast<const double*>(matrix),
                 matrix_offset.data() + row * states_);
      }
    }
    if (dtype_ == Dtype::float32) {
      write<float>(message, own);
    } else {
      write<double>(message, own);
    }
  }

  if (whole.trace.messages != nullptr) {
    // The parts once more, now that it is known what each begins with.
    kernels::ScanRun traced = whole;
    rows_of(traced, 1, before, after);
    traced.messages = starts.data();
    traced.offset = start_offset.data();
    std::vector<std::int64_t> message_at, offset_at;
    for (std::int64_t part = 0; part < parts; ++part) {
      for (std::int64_t r = 0; r < rows_; ++r) {
        message_at.push_back(part * steps * whole.trace.step_stride + r * states_);
        offset_at.push_back(part * steps * whole.trace.offset_step_stride + r);
      }
    }
    traced.trace.row_offset = message_at.data();
    traced.trace.offset_row_offset = offset_at.data();
    run_rows(traced, parts * rows_, settings);
  }

  // What does not fill a step of each part.
  kernels::ScanRun rest = whole;
  const std::int64_t done = parts * steps;
  rest.steps = whole.steps - done;
  rest.before = advanced(whole.before, done);
  rest.after = advanced(whole.after, done);
  rest.first_step += done * whole.direction;
  if (rest.trace.messages != nullptr) {
    rest.trace.messages = static_cast<std::byte*>(whole.trace.messages) +
                          done * whole.trace.step_stride * static_cast<std::int64_t>(size);
    if (rest.trace.offsets != nullptr) rest.trace.offsets += done * whole.trace.offset_step_stride;
  }
  if (rest.steps > 0) run_rows(rest, rows_, settings);
}

}  // namespace plated::engine
