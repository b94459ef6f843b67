// A user's program of the components models and draw: a model written as text, read back, asked and drawn.
#include <plated/draw.hpp>
#include <plated/model_file.hpp>
#include <plated/solve.hpp>

#include <cmath>
#include <cstdio>
#include <fstream>

int main() {
  const char* path = "coin.uai";
  std::ofstream(path) << "MARKOV\n1\n2\n1\n1 0\n2\n0.25 0.5\n";
  const plated::Model model = plated::read_model(path);
  const double ln_z = plated::log_partition(model).item();
  std::printf("ln Z %.17g\n", ln_z);
  if (!(std::abs(ln_z - std::log(0.75)) <= 1e-15)) return 1;
  return plated::draw_svg(model.graph).find("</svg>") == std::string::npos ? 2 : 0;
}
