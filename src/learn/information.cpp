// Observed information: the Hessian of the objective in all free parameters, one product with a direction for each.
#include "learn/information.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

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

/// What is known around one point.
class Point {
 public:
  Point(const Model& observed, const LearntParts& parts, Counts& counts, std::vector<double> parameters)
      : parts_(parts), parameters_(std::move(parameters)) {
    each_part([&](std::size_t k, std::span<double> own) { parts_[k]->write(own, counts.operands()); });
    (void)counts.count();
    each_part([&](std::size_t k, std::span<double> own) {
      curved_.push_back(parts_[k]->curved(observed, own, counts.operands()));
    });
    // Numbers of rows that are seen rarely are as large as others.
    each_curved(curved_, [&](const Curved& part, std::size_t /*offset*/) {
      for (std::size_t i = 0; i < part.size(); ++i) scale_.push_back(1 / std::sqrt(part.own(i)));
    });
    matrix_ = information_of(curved_, counts, scale_);
    inverse_.emplace(matrix_, scale_.size());
  }

  [[nodiscard]] const Semidefinite& inverse() const { return *inverse_; }
  /// Whether a direction might be flat, or rise, only because the point is not quite the maximum.
  [[nodiscard]] bool is_doubtful() const { return inverse_->indefinite() || inverse_->smallest() < doubtful; }

  /// Parameters after a step of Newton's method.
  struct Climbed {
    std::vector<double> parameters;
    double longest = 0;  ///< step of one, in standard errors that there would be if nothing were latent
  };
  /// In the directions whose pivots are above `least`; none where the objective would rise by more than a maximum
  /// nearby could.
  [[nodiscard]] std::optional<Climbed> climbed(double least) const {
    const std::size_t size = scale_.size();
    const Semidefinite steep(matrix_, size, least);
    std::vector<double> score;
    each_curved(curved_, [&](const Curved& part, std::size_t offset) {
      for (std::size_t i = 0; i < part.size(); ++i) score.push_back(part.score(i) * scale_[offset + i]);
    });
    std::vector<double> steps(size, 0.0);
    Climbed result{.parameters = parameters_};
    double gain = 0;  // twice what the objective rises by
    for (std::size_t i = 0; i < size; ++i) {
      for (std::size_t j = 0; j < size; ++j) steps[i] += steep(i, j) * score[j];
      result.longest = std::max(result.longest, std::abs(steps[i]));
      gain += steps[i] * score[i];
      steps[i] *= scale_[i];
    }
    if (!(gain < most_gained)) return std::nullopt;
    std::size_t begin = 0, offset = 0;
    for (std::size_t k = 0; k < parts_.size(); ++k) {
      const std::span<double> own = std::span(result.parameters).subspan(begin, parts_[k]->size());
      if (!curved_[k]->move(std::span(steps).subspan(offset, curved_[k]->size()), own)) return std::nullopt;
      begin += parts_[k]->size();
      offset += curved_[k]->size();
    }
    return result;
  }

  void report(Fit& result) const {
    each_curved(curved_, [&](Curved& part, std::size_t offset) { part.take_errors(*inverse_, scale_, offset); });
    for (const auto& part : curved_) part->report(result, inverse_->indefinite());
  }

 private:
  /// Of pivots that would be one if nothing were latent.
  static constexpr double doubtful = 1e-2;
  static constexpr double most_gained = 1;

  template <class Visit>
  void each_part(const Visit& visit) {
    std::size_t offset = 0;
    for (std::size_t k = 0; k < parts_.size(); ++k) {
      visit(k, std::span(parameters_).subspan(offset, parts_[k]->size()));
      offset += parts_[k]->size();
    }
  }

  const LearntParts& parts_;
  std::vector<double> parameters_;
  CurvedParts curved_;
  std::vector<double> scale_, matrix_;
  std::optional<Semidefinite> inverse_;
};

}  // namespace

void check_information(const LearntParts& parts, const FitOptions& options) {
  std::int64_t free = 0;
  for (const auto& part : parts) free += part->free();
  const double bytes = 6 * 8.0 * static_cast<double>(free) * static_cast<double>(free);
  if (options.memory_limit == 0 || bytes <= static_cast<double>(options.memory_limit)) return;
  const auto needed = static_cast<std::int64_t>(bytes);
  throw MemoryLimitError("the information of " + std::to_string(free) + " free parameters needs " +
                             std::to_string(needed) + " bytes, and the limit is " +
                             std::to_string(options.memory_limit) + ": leave out standard errors",
                         needed, options.memory_limit);
}

void add_standard_errors(Fit& result, const Model& observed, const LearntParts& parts, const Blocks& blocks,
                         std::span<const double> parameters, const FitOptions& options) {
  try {
    Counts counts(blocks, options.threads, options.cancelled);
    const auto at = [&](std::vector<double> numbers) {
      return std::make_unique<Point>(observed, parts, counts, std::move(numbers));
    };
    const std::unique_ptr<Point> fitted = at({parameters.begin(), parameters.end()});
    // EM stops short of the maximum, where a flat direction is curved a little, either way. Closer to it that goes
    // away, and what the data do say of a direction stays. Steep directions are climbed before others.
    std::unique_ptr<Point> closer;
    double least = 1e-2;
    for (int steps = 0; steps < 12 && least > 1e-6;) {
      const Point& last = closer == nullptr ? *fitted : *closer;
      if (!last.is_doubtful()) break;
      std::optional<Point::Climbed> to = last.climbed(least);
      if (!to.has_value()) break;
      if (to->longest < 1e-3) least /= 10;
      if (to->longest < 1e-6) continue;
      closer.reset();  // its matrices before there are others
      closer = at(std::move(to->parameters));
      ++steps;
    }
    const bool flatter = closer != nullptr && !closer->inverse().indefinite() &&
                         (fitted->inverse().indefinite() || closer->inverse().rank() < fitted->inverse().rank());
    (flatter ? *closer : *fitted).report(result);
  } catch (const CancelledError&) {
    result.interrupted = true;
  }
}

}  // namespace plated::learn
