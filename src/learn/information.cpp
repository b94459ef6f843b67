// Observed information: the Hessian of the objective in all free parameters, one product with a direction for each.
#include "learn/information.hpp"

#include <cmath>

#include "learn/curved.hpp"
#include "plated/error.hpp"

namespace plated::learn {
namespace {

using CurvedParts = std::vector<std::unique_ptr<Curved>>;

/// Calls visit(part, the number of its first parameter).
template <class Visit>
void each_curved(const CurvedParts& parts, const Visit& visit) {
  std::size_t offset = 0;
  for (const auto& part : parts) {
    visit(*part, offset);
    offset += part->size();
  }
}

/// The information row by row, scaled by what each parameter would tell by itself.
std::vector<double> information_of(const CurvedParts& parts, Counts& counts, const std::vector<double>& scale) {
  const std::size_t size = scale.size();
  std::vector<double> matrix(size * size);
  each_curved(parts, [&](const Curved& part, std::size_t offset) {
    for (std::size_t i = 0; i < part.size(); ++i) {
      const std::span<double> row = std::span(matrix).subspan((offset + i) * size, size);
      counts.clear_direction();
      part.direct(i, counts);
      const std::vector<Tensor>& products = counts.curve();
      each_curved(parts, [&](const Curved& other, std::size_t begin) {
        other.project(products, row.subspan(begin, other.size()));
      });
      part.curve(i, row.subspan(offset, part.size()));
    }
  });
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      const double both = (matrix[i * size + j] + matrix[j * size + i]) / 2 * scale[i] * scale[j];
      matrix[i * size + j] = matrix[j * size + i] = both;
    }
  }
  return matrix;
}

}  // namespace

void check_information(const LearntParts& parts, const FitOptions& options) {
  std::int64_t free = 0;
  for (const auto& part : parts) free += part->free();
  const double bytes = 3 * 8.0 * static_cast<double>(free) * static_cast<double>(free);
  if (options.memory_limit == 0 || bytes <= static_cast<double>(options.memory_limit)) return;
  const auto needed = static_cast<std::int64_t>(bytes);
  throw MemoryLimitError("the information of " + std::to_string(free) + " free parameters needs " +
                             std::to_string(needed) + " bytes, and the limit is " +
                             std::to_string(options.memory_limit) + ": leave out standard errors",
                         needed, options.memory_limit);
}

void add_standard_errors(Fit& result, const Model& observed, const LearntParts& parts, const Counting& counting,
                         std::span<const double> parameters, const FitOptions& options) {
  try {
    Counts counts(counting, options.threads, options.cancelled);
    const auto each = [&](const auto& visit) {
      std::size_t offset = 0;
      for (const auto& part : parts) {
        visit(*part, parameters.subspan(offset, part->size()));
        offset += part->size();
      }
    };
    each([&](const Learnt& part, std::span<const double> own) { part.write(own, counts.operands()); });
    (void)counts.count();
    CurvedParts curved;
    each([&](const Learnt& part, std::span<const double> own) {
      curved.push_back(part.curved(observed, own, counts.operands()));
    });
    // Numbers of rows that are seen rarely are as large as others.
    std::vector<double> scale;
    for (const auto& part : curved) {
      for (std::size_t i = 0; i < part->size(); ++i) scale.push_back(1 / std::sqrt(part->own(i)));
    }
    const Semidefinite inverse(information_of(curved, counts, scale), scale.size());
    each_curved(curved, [&](Curved& part, std::size_t offset) { part.take_errors(inverse, scale, offset); });
    for (const auto& part : curved) part->report(result, inverse.indefinite());
  } catch (const CancelledError&) {
    result.interrupted = true;
  }
}

}  // namespace plated::learn
