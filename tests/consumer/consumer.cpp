// A user's program: one plated einsum through the installed package, against the same sum written as loops.
#include <plated/einsum.hpp>
#include <plated/error.hpp>

#include <cmath>
#include <cstdio>

namespace {

// Σ_x f[x] ∏_i Σ_y g[i,y] ∏_j h[i,j,x,y]: what "x,iy,ijxy->" with plates i and j means, since y lies in i alone.
constexpr int states = 2;
constexpr int rows = 2;
constexpr int columns = 3;
constexpr double f[states] = {0.25, 0.75};
constexpr double g[rows][states] = {{0.5, 1.5}, {2.0, 0.125}};
constexpr double h[rows][columns][states][states] = {
    {{{1.0, 0.5}, {0.25, 2.0}}, {{0.75, 1.0}, {1.5, 0.5}}, {{2.0, 1.0}, {1.0, 3.0}}},
    {{{0.5, 0.5}, {1.0, 1.25}}, {{1.0, 2.0}, {0.5, 1.0}}, {{3.0, 0.25}, {1.0, 1.0}}},
};

double by_loops() {
  double total = 0;
  for (int x = 0; x < states; ++x) {
    double over_i = 1;
    for (int i = 0; i < rows; ++i) {
      double over_y = 0;
      for (int y = 0; y < states; ++y) {
        double over_j = g[i][y];
        for (int j = 0; j < columns; ++j) over_j *= h[i][j][x][y];
        over_y += over_j;
      }
      over_i *= over_y;
    }
    total += f[x] * over_i;
  }
  return total;
}

}  // namespace

int main() {
  const auto prior = plated::Tensor::view(&f[0], {states});
  const auto local = plated::Tensor::view(&g[0][0], {rows, states});
  const auto joint = plated::Tensor::view(&h[0][0][0][0], {rows, columns, states, states});
  plated::EinsumOptions options;
  options.plates = "ij";
  options.semiring = plated::Semiring::real;

  const double expected = by_loops();
  const double value = plated::einsum("x,iy,ijxy->", {prior, local, joint}, options).item();
  std::printf("plated %.17g, loops %.17g\n", value, expected);
  if (!(std::abs(value - expected) <= 1e-14 * expected)) return 1;

  // An exception crosses the library's border with its type.
  try {
    (void)plated::einsum("x,iy->", {prior, joint}, options);
  } catch (const plated::ShapeError& error) {
    std::printf("refused as it should be: %s\n", error.what());
    return 0;
  }
  return 2;
}
