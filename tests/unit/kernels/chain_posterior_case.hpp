// Random chains with the messages of one direction, and their posteriors by naive loops in double.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "base/aligned_memory.hpp"
#include "kernels/chain_posterior.hpp"
#include "unit/kernels/scan_case.hpp"

namespace plated::kernels::testing {

template <class T>
struct PosteriorCase {
  std::int64_t rows = 1, states = 1, steps = 0, first_step = 0, direction = 1;
  std::vector<T> matrix;  // column-major
  TermData<T> source, target;
  std::vector<std::int64_t> lengths;
  std::vector<double> weight;
  std::vector<double> mass;  // [row, state], after the last step
  // Messages before the steps: entry (t, row, k) is at t · message_step + message_offset[row] + k.
  bool linear = true;
  std::vector<T> forward;
  std::int64_t message_step = 0;
  std::vector<std::int64_t> message_offset;

  [[nodiscard]] T entry(std::int64_t a, std::int64_t b) const {
    return matrix[static_cast<std::size_t>(b * states + a)];
  }
  [[nodiscard]] bool exists(std::int64_t t, std::int64_t r) const {
    return lengths.empty() || lengths[static_cast<std::size_t>(r)] > first_step + t * direction;
  }
  [[nodiscard]] std::size_t message_at(std::int64_t t, std::int64_t r) const {
    return static_cast<std::size_t>(t * message_step + message_offset[static_cast<std::size_t>(r)]);
  }
  /// log of source · matrix · target of a slice.
  [[nodiscard]] double slice(std::int64_t t, std::int64_t r, std::int64_t a, std::int64_t b) const {
    double value = static_cast<double>(entry(a, b));
    if (source.present) value += static_cast<double>(source.at(t, r, a));
    if (target.present) value += static_cast<double>(target.at(t, r, b));
    return value;
  }
  [[nodiscard]] std::string describe() const {
    std::ostringstream out;
    out << "float" << 8 * sizeof(T) << " rows " << rows << " states " << states << " steps " << steps
        << (source.present ? " source" : "") << (target.present ? " target" : "") << (lengths.empty() ? "" : " ragged");
    return out.str();
  }
};

/// log Σ exp; −inf for nothing.
inline double log_sum(const std::vector<double>& terms) {
  const double top = *std::max_element(terms.begin(), terms.end());
  if (top == -std::numeric_limits<double>::infinity()) return top;
  double sum = 0.0;
  for (const double term : terms) sum += std::exp(term - top);
  return top + std::log(sum);
}

using Messages = std::vector<std::vector<double>>;  // [state][k], in log

/// Forward messages of a row from `start`, or backward ones that end with it. Slices that do not exist keep them.
template <class T>
Messages naive_messages(const PosteriorCase<T>& c, std::int64_t r, bool backward, const std::vector<double>& start) {
  Messages all(static_cast<std::size_t>(c.steps + 1), start);
  std::vector<double> terms(static_cast<std::size_t>(c.states));
  for (std::int64_t s = 0; s < c.steps; ++s) {
    const std::int64_t t = backward ? c.steps - 1 - s : s;
    const std::vector<double>& from = all[static_cast<std::size_t>(backward ? t + 1 : t)];
    std::vector<double>& to = all[static_cast<std::size_t>(backward ? t : t + 1)];
    if (!c.exists(t, r)) {
      to = from;
      continue;
    }
    for (std::int64_t k = 0; k < c.states; ++k) {
      for (std::int64_t j = 0; j < c.states; ++j) {
        terms[static_cast<std::size_t>(j)] =
            from[static_cast<std::size_t>(j)] + (backward ? c.slice(t, r, k, j) : c.slice(t, r, j, k));
      }
      to[static_cast<std::size_t>(k)] = log_sum(terms);
    }
    // Kept near 0, where doubles are dense.
    const double top = *std::max_element(to.begin(), to.end());
    for (double& x : to) x = top == -std::numeric_limits<double>::infinity() ? x : x - top;
  }
  return all;
}

/// Answers in one layout for all: [steps, rows, states], and [states, states]; [rows, states] before the first step.
struct Posteriors {
  std::vector<double> before, after, pairs, first;
};

template <class T>
void add_naive(const PosteriorCase<T>& c, std::int64_t r, const Messages& forward, const Messages& backward,
               Posteriors& to) {
  const double weight = c.weight[static_cast<std::size_t>(r)];
  for (std::int64_t t = 0; t < c.steps; ++t) {
    if (!c.exists(t, r) || weight == 0) continue;
    const std::vector<double>& a_t = forward[static_cast<std::size_t>(t)];
    const std::vector<double>& b_t = backward[static_cast<std::size_t>(t + 1)];
    std::vector<double> joint;
    for (std::int64_t a = 0; a < c.states; ++a) {
      for (std::int64_t b = 0; b < c.states; ++b) {
        joint.push_back(a_t[static_cast<std::size_t>(a)] + c.slice(t, r, a, b) + b_t[static_cast<std::size_t>(b)]);
      }
    }
    const double total = log_sum(joint);
    for (std::int64_t a = 0; a < c.states; ++a) {
      for (std::int64_t b = 0; b < c.states; ++b) {
        const auto at = static_cast<std::size_t>(a * c.states + b);
        const double mass = weight * std::exp(joint[at] - total);
        to.pairs[at] += mass;
        to.before[static_cast<std::size_t>((t * c.rows + r) * c.states + a)] += mass;
        to.after[static_cast<std::size_t>((t * c.rows + r) * c.states + b)] += mass;
      }
    }
  }
}

/// What is asked, and how the answers lie.
struct Question {
  bool before = true, after = true, pairs = true;
  Dtype dtype = Dtype::float64;
  bool states_apart = false;
};

/// Runs the rows in groups that end at `cuts`, each as if there were no others; `safe` is what all runs said.
template <class T>
Posteriors run_posterior_case(const PosteriorCase<T>& c, const Question& question, std::vector<std::int64_t> cuts,
                              bool& safe) {
  const auto size = static_cast<std::size_t>(c.steps * c.rows * c.states);
  std::vector<float> singles[2] = {std::vector<float>(size, 9.0f), std::vector<float>(size, 9.0f)};
  std::vector<double> doubles[2] = {std::vector<double>(size, 9.0), std::vector<double>(size, 9.0)};
  std::vector<std::int64_t> row_offset;
  for (std::int64_t r = 0; r < c.rows; ++r) row_offset.push_back(question.states_apart ? r : r * c.states);
  const auto place = [&](int which, std::int64_t first) {
    const bool single = question.dtype == Dtype::float32;
    void* data = single ? static_cast<void*>(singles[which].data()) : static_cast<void*>(doubles[which].data());
    return PosteriorPlace{.to = {.data = data,
                                 .dtype = question.dtype,
                                 .step_stride = c.rows * c.states,
                                 .state_stride = question.states_apart ? c.rows : 1,
                                 .row_offset = row_offset.data() + first},
                          .before = which == 0};
  };
  Posteriors answers;
  answers.pairs.assign(static_cast<std::size_t>(c.states * c.states), 0.0);
  answers.first.assign(static_cast<std::size_t>(c.rows * c.states), 9.0);
  safe = true;
  std::int64_t first = 0;
  cuts.push_back(c.rows);
  for (const std::int64_t cut : cuts) {
    const PosteriorShape shape{.dtype = dtype_of<T>, .states = c.states, .rows = cut - first};
    std::byte* memory = base::allocate_aligned(ChainPosterior::memory_bytes(shape));
    std::byte* scratch = base::allocate_aligned(ChainPosterior::scratch_bytes(shape));
    const ChainPosterior posterior(shape, c.matrix.data(), 1, c.states, memory);
    std::vector<PosteriorPlace> places;
    if (question.before) places.push_back(place(0, first));
    if (question.after) places.push_back(place(1, first));
    std::vector<double> totals(static_cast<std::size_t>(shape.totals()));
    PosteriorRun run{.there = {.before = c.source.slices(),
                               .steps = c.steps,
                               .lengths = c.lengths.empty() ? nullptr : c.lengths.data() + first,
                               .first_step = c.first_step,
                               .direction = c.direction},
                     .messages = {.data = c.forward.data(),
                                  .step_stride = c.message_step,
                                  .row_offset = c.message_offset.data() + first},
                     .linear = c.linear,
                     .mass = c.mass.data() + first * c.states,
                     .first_mass = answers.first.data() + first * c.states,
                     .places = places,
                     .totals = question.pairs ? totals.data() : nullptr};
    if (run.there.before.row_offset != nullptr) run.there.before.row_offset += first;
    for (std::int64_t row = 0; row < shape.rows; row += shape.rows_at_once()) {
      safe = posterior.run(row, std::min(shape.rows, row + shape.rows_at_once()), run, scratch) && safe;
    }
    posterior.add_pairs(totals.data(), answers.pairs.data(), c.states, 1);
    base::free_aligned(scratch);
    base::free_aligned(memory);
    first = cut;
  }
  std::vector<double>* const to[2] = {&answers.before, &answers.after};
  for (int which = 0; which < 2; ++which) {
    if (!(which == 0 ? question.before : question.after)) continue;
    for (std::int64_t t = 0; t < c.steps; ++t) {
      for (std::int64_t r = 0; r < c.rows; ++r) {
        for (std::int64_t k = 0; k < c.states; ++k) {
          const std::int64_t within = question.states_apart ? k * c.rows + r : r * c.states + k;
          const auto at = static_cast<std::size_t>(t * c.rows * c.states + within);
          to[which]->push_back(question.dtype == Dtype::float32 ? static_cast<double>(singles[which][at])
                                                                : doubles[which][at]);
        }
      }
    }
  }
  return answers;
}

}  // namespace plated::kernels::testing
