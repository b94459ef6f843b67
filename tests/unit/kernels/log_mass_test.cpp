// Logarithms of masses against std::log, in any layout and both types.
#include "kernels/log_mass.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace plated::kernels {
namespace {

/// All elements at once.
void log_mass(const LogMassShape& shape, const double* mass, const void* normaliser, void* output) {
  kernels::log_mass(shape, mass, normaliser, output, 0, shape.elements());
}

constexpr double infinity = std::numeric_limits<double>::infinity();

template <class N, class T>
void expect_definition(std::int64_t columns) {
  SCOPED_TRACE(std::to_string(columns) + " columns, normaliser " + std::string(name(dtype_of<N>)) + ", output " +
               std::string(name(dtype_of<T>)));
  // Loops of 2, 3 and `columns`; the mass is stored with its first two axes swapped, the normaliser has no second axis.
  const LogMassShape shape{.extent = {2, 3, columns},
                           .mass_stride = {columns, 2 * columns, 1},
                           .normaliser_stride = {columns, 0, 1},
                           .output_stride = {3 * columns, columns, 1},
                           .normaliser_dtype = dtype_of<N>,
                           .output_dtype = dtype_of<T>};
  std::vector<double> mass(static_cast<std::size_t>(6 * columns));
  for (std::size_t k = 0; k < mass.size(); ++k)
    mass[k] = k % 4 == 3 ? 0.0 : std::exp(9.0 - 3.5 * static_cast<double>(k % 7));
  std::vector<N> normaliser(static_cast<std::size_t>(2 * columns));
  for (std::size_t k = 0; k < normaliser.size(); ++k) normaliser[k] = static_cast<N>(0.75 * static_cast<double>(k) - 3);
  std::vector<T> out(mass.size() + 1, T{77});
  log_mass(shape, mass.data(), normaliser.data(), out.data());
  const double tolerance = std::is_same_v<T, float> ? 2e-6 : 1e-13;
  std::size_t at = 0;
  for (std::int64_t a = 0; a < 2; ++a) {
    for (std::int64_t b = 0; b < 3; ++b) {
      for (std::int64_t c = 0; c < columns; ++c, ++at) {
        const double m = mass[static_cast<std::size_t>(a * columns + b * 2 * columns + c)];
        const double n = static_cast<double>(normaliser[static_cast<std::size_t>(a * columns + c)]);
        if (m == 0) {
          EXPECT_EQ(static_cast<double>(out[at]), -infinity);
        } else {
          EXPECT_NEAR(static_cast<double>(out[at]), std::log(m) - n, tolerance * (1 + std::abs(std::log(m) - n)));
        }
      }
    }
  }
  EXPECT_EQ(out.back(), T{77}) << "written beyond the end";

  const std::int64_t elements = shape.elements();
  for (std::int64_t grain = 1; grain <= elements; grain += 1 + grain / 2) {
    std::vector<T> parts(out.size(), T{77});
    for (std::int64_t first = 0; first < elements; first += grain) {
      kernels::log_mass(shape, mass.data(), normaliser.data(), parts.data(), first, std::min(elements, first + grain));
    }
    EXPECT_EQ(parts, out) << "in parts of " << grain;
  }
}

TEST(LogMass, MatchesTheDefinitionInAnyRowLength) {
  for (std::int64_t columns = 1; columns <= 19; ++columns) {
    expect_definition<double, double>(columns);
    expect_definition<double, float>(columns);
    expect_definition<float, double>(columns);
    expect_definition<float, float>(columns);
  }
}

TEST(LogMass, LongRowsHaveTheSameElements) {
  const std::vector<std::vector<std::int64_t>> extents{{},        {1},           {5},           {7, 1},    {1, 7, 1, 3},
                                                       {4, 3, 2}, {2, 40, 3, 1}, {30, 1, 1, 2}, {3, 0, 2}, {2, 3, 20}};
  for (const std::vector<std::int64_t>& extent : extents) {
    for (int layout = 0; layout < 6; ++layout) {
      LogMassShape shape{.extent = extent};
      std::int64_t elements = 1;
      for (std::size_t l = extent.size(); l-- > 0;) {
        shape.mass_stride.insert(shape.mass_stride.begin(), layout % 2 == 0 ? elements : 0);
        shape.normaliser_stride.insert(shape.normaliser_stride.begin(), layout % 3 == 0 ? elements : 0);
        shape.output_stride.insert(shape.output_stride.begin(), elements);
        elements *= extent[l];
      }
      if (layout >= 3) {  // loops in the other order
        for (auto* numbers : {&shape.extent, &shape.mass_stride, &shape.normaliser_stride, &shape.output_stride}) {
          std::reverse(numbers->begin(), numbers->end());
        }
      }
      std::vector<double> mass, normaliser;
      for (std::int64_t k = 0; k <= elements; ++k) {
        mass.push_back(k % 4 == 3 ? 0.0 : std::exp(static_cast<double>(k % 7)));
        normaliser.push_back(0.75 * static_cast<double>(k));
      }
      std::vector<double> want(mass.size(), 77), got(mass.size(), 77);
      log_mass(shape, mass.data(), normaliser.data(), want.data());
      const LogMassShape rows = in_long_rows(shape);
      EXPECT_EQ(rows.elements(), shape.elements());
      log_mass(rows, mass.data(), normaliser.data(), got.data());
      EXPECT_EQ(got, want) << testing::PrintToString(extent) << " " << layout;
      if (elements == 7) EXPECT_EQ(rows.extent, std::vector<std::int64_t>{7});
    }
  }
}

TEST(LogMass, OfNothingIsZeroInLogSpaceWhateverItsNormaliser) {
  // What has no mass may have been summed to −inf: no NaN comes of it.
  const double mass[] = {0, 0, 0, 0, 0};
  const double normaliser[] = {-infinity, 0, 5, -1e300, 1e300};
  double out[5];
  log_mass({.extent = {5}, .mass_stride = {1}, .normaliser_stride = {1}, .output_stride = {1}}, mass, normaliser, out);
  for (const double x : out) EXPECT_EQ(x, -infinity);
}

TEST(LogMass, OfTinyAndHugeMasses) {
  const double mass[] = {1e-300, 1e300, 5e-324, 1, std::numeric_limits<double>::min()};
  const double normaliser[] = {0};
  double out[5];
  log_mass({.extent = {5}, .mass_stride = {1}, .normaliser_stride = {0}, .output_stride = {1}}, mass, normaliser, out);
  for (std::size_t k = 0; k < 5; ++k) EXPECT_NEAR(out[k], std::log(mass[k]), 1e-12 * 800) << mass[k];
}

TEST(LogMass, OfOneNumberHasNoLoops) {
  const double mass = 8, normaliser = 1;
  double out = 0;
  log_mass({.extent = {}, .mass_stride = {}, .normaliser_stride = {}, .output_stride = {}}, &mass, &normaliser, &out);
  EXPECT_NEAR(out, std::log(8.0) - 1, 1e-15);
}

TEST(LogMass, WithoutANormaliserIsTheLogarithm) {
  const double mass[] = {1, 0, 0.5, 20, 0, 3, 7};
  double out[7];
  float narrow[7];
  const LogMassShape shape{.extent = {7}, .mass_stride = {1}, .normaliser_stride = {0}, .output_stride = {1}};
  log_mass(shape, mass, nullptr, out);
  LogMassShape in_floats = shape;
  in_floats.output_dtype = Dtype::float32;
  log_mass(in_floats, mass, nullptr, narrow);
  for (std::size_t k = 0; k < 7; ++k) {
    if (mass[k] == 0) {
      EXPECT_EQ(out[k], -infinity);
      EXPECT_EQ(static_cast<double>(narrow[k]), -infinity);
    } else {
      EXPECT_NEAR(out[k], std::log(mass[k]), 1e-14);
      EXPECT_NEAR(static_cast<double>(narrow[k]), std::log(mass[k]), 1e-6);
    }
  }
}

TEST(LogMass, RepeatsAMassOfStrideZero) {
  const double mass = 2;
  const double normaliser[] = {0, 1, 2};
  double out[3];
  log_mass({.extent = {3}, .mass_stride = {0}, .normaliser_stride = {1}, .output_stride = {1}}, &mass, normaliser, out);
  for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(out[k], std::log(2.0) - normaliser[k], 1e-15);
}

}  // namespace
}  // namespace plated::kernels
