// Random scans, and the naive scan in double that they are compared with.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "base/aligned_memory.hpp"
#include "kernels/scan.hpp"
#include "semiring/dispatch.hpp"

namespace plated::kernels::testing {

/// A term's memory: entry (step, row, state) is at step · step_stride + row_offset[row] + state · state_stride after
/// the origin.
template <class T>
struct TermData {
  bool present = false;
  std::vector<T> values;
  std::vector<std::int64_t> row_offset;
  std::int64_t origin = 0, step_stride = 0, state_stride = 1;

  [[nodiscard]] T at(std::int64_t step, std::int64_t row, std::int64_t state) const {
    return values[static_cast<std::size_t>(origin + step * step_stride + row_offset[static_cast<std::size_t>(row)] +
                                           state * state_stride)];
  }
  [[nodiscard]] SliceTerm slices() const {
    if (!present) return {};
    return {.data = values.data() + origin,
            .dtype = dtype_of<T>,
            .step_stride = step_stride,
            .state_stride = state_stride,
            .row_offset = row_offset.data()};
  }
};

template <class T>
struct ScanCase {
  Semiring semiring = Semiring::log;
  std::int64_t rows = 1, states = 1, steps = 0, direction = 1, first_step = 0;
  std::vector<T> matrix, messages;
  bool transposed = false;  // the matrix's memory is column-major
  std::vector<double> offset;
  TermData<T> before, after;
  std::vector<std::int64_t> lengths;

  [[nodiscard]] T weight(std::int64_t a, std::int64_t b) const {
    return matrix[static_cast<std::size_t>(transposed ? b * states + a : a * states + b)];
  }
  [[nodiscard]] std::string describe() const {
    std::ostringstream out;
    out << name(semiring) << " float" << 8 * sizeof(T) << " rows " << rows << " states " << states << " steps " << steps
        << " direction " << direction << (before.present ? " before" : "") << (after.present ? " after" : "")
        << (lengths.empty() ? "" : " ragged");
    return out.str();
  }
};

/// Messages and offsets, at the end and after each step.
template <class T>
struct ScanResult {
  std::vector<T> messages, trace;
  std::vector<double> offset, trace_offset;
};

enum class Traced { no, log, linear, linear_without_offsets };

/// Runs the rows in groups that end at `cuts`, with a trace that is laid out backwards in time; where it is linear,
/// each row's is apart from the others'.
template <class T>
ScanResult<T> run_scan_case(const ScanCase<T>& c, const std::vector<std::int64_t>& cuts, Traced trace = Traced::log) {
  const bool traced = trace != Traced::no;
  const Scan scan({c.semiring, dtype_of<T>, c.states}, c.matrix.data(), c.transposed ? 1 : c.states,
                  c.transposed ? c.states : 1);
  ScanResult<T> result{c.messages, {}, c.offset, {}};
  const std::int64_t step = c.rows * c.states;
  if (traced) result.trace.assign(static_cast<std::size_t>(c.steps * step), T{123});
  if (traced) result.trace_offset.assign(static_cast<std::size_t>(c.steps * c.rows), 123.0);
  ScanRun run;
  run.before = c.before.slices();
  run.after = c.after.slices();
  run.messages = result.messages.data();
  run.offset = result.offset.data();
  run.steps = c.steps;
  run.lengths = c.lengths.empty() ? nullptr : c.lengths.data();
  run.first_step = c.first_step;
  run.direction = c.direction;
  if (traced && c.steps > 0) {
    run.trace.messages = {
        .data = result.trace.data() + (c.steps - 1) * step, .step_stride = -step, .row_stride = c.states};
    run.trace.offsets = {.data = result.trace_offset.data(), .step_stride = c.rows, .row_stride = 1};
  }
  std::vector<std::int64_t> row_offset, offset_row_offset;
  if (traced && c.steps > 0 && trace != Traced::log) {
    for (std::int64_t r = 0; r < c.rows; ++r) {
      row_offset.push_back((c.rows - 1 - r) * c.steps * c.states);
      offset_row_offset.push_back((c.rows - 1 - r) * c.steps);
    }
    run.trace.messages = {.data = result.trace.data(), .step_stride = c.states, .row_offset = row_offset.data()};
    run.trace.offsets = {.data = result.trace_offset.data(), .step_stride = 1, .row_offset = offset_row_offset.data()};
    run.trace.linear = true;
    if (trace == Traced::linear_without_offsets) run.trace.offsets = {};
  }
  std::byte* scratch = base::allocate_aligned(scan.scratch_bytes());
  std::int64_t first = 0;
  for (const std::int64_t cut : cuts) {
    scan.run(first, cut, run, scratch);
    first = cut;
  }
  scan.run(first, c.rows, run, scratch);
  base::free_aligned(scratch);
  return result;
}

/// One step in double: the message of a row, not normalised.
template <class T>
std::vector<double> naive_step(const ScanCase<T>& c, const std::vector<double>& message, std::int64_t step,
                               std::int64_t row) {
  return semiring::dispatch(c.semiring, [&](auto ring) {
    std::vector<double> next(message.size(), ring.zero());
    std::vector<double> terms(message.size());
    for (std::int64_t b = 0; b < c.states; ++b) {
      double top = -std::numeric_limits<double>::infinity();
      for (std::int64_t a = 0; a < c.states; ++a) {
        double& term = terms[static_cast<std::size_t>(a)];
        term = message[static_cast<std::size_t>(a)];
        if (c.before.present) term = ring.multiply(term, static_cast<double>(c.before.at(step, row, a)));
        term = ring.multiply(term, static_cast<double>(c.weight(a, b)));
        top = std::max(top, term);
      }
      double& sum = next[static_cast<std::size_t>(b)];
      if (c.semiring == Semiring::log) {
        double mass = 0.0;
        for (const double term : terms) mass += top == ring.zero() ? 0.0 : std::exp(term - top);
        if (top != ring.zero()) sum = top + std::log(mass);
      } else {
        for (const double term : terms) sum = ring.add(sum, term);
      }
      if (c.after.present) sum = ring.multiply(sum, static_cast<double>(c.after.at(step, row, b)));
    }
    return next;
  });
}

/// The messages after each step (the first one: before any) of a row, with its offset in them.
template <class T>
std::vector<std::vector<double>> naive_scan(const ScanCase<T>& c, std::int64_t row) {
  const auto begin = c.messages.begin() + row * c.states;
  std::vector<double> message(begin, begin + c.states);
  for (double& x : message) x += c.offset[static_cast<std::size_t>(row)];
  std::vector<std::vector<double>> all{message};
  for (std::int64_t s = 0; s < c.steps; ++s) {
    const bool exists = c.lengths.empty() || c.lengths[static_cast<std::size_t>(row)] > c.first_step + s * c.direction;
    if (exists) message = naive_step(c, message, s, row);
    all.push_back(message);
  }
  return all;
}

/// What random entries look like.
struct Flavour {
  double scale = 3.0;   // of the entries
  double zeros = 0.0;   // the share of the semiring's zeros
  double far = 0.0;     // the share of entries that are hundreds below the rest
  double centre = 0.0;  // ± this for a whole slice
};

template <class T>
void fill_random(std::mt19937& random, Semiring semiring, const Flavour& flavour, std::vector<T>& values) {
  std::normal_distribution<double> normal(0.0, flavour.scale);
  std::uniform_real_distribution<double> uniform(0.0, 1.0);
  const double zero = semiring == Semiring::min_plus ? std::numeric_limits<double>::infinity()
                                                     : -std::numeric_limits<double>::infinity();
  const double sign = semiring == Semiring::min_plus ? -1.0 : 1.0;
  for (T& value : values) {
    value = static_cast<T>(normal(random) + flavour.centre);
    if (uniform(random) < flavour.far)
      value = static_cast<T>(static_cast<double>(value) - sign * 700 * uniform(random));
    if (uniform(random) < flavour.zeros) value = static_cast<T>(zero);
  }
}

}  // namespace plated::kernels::testing
