// Matrix products through the public API in three semirings, on one thread, beside OpenBLAS's real one.
//
//   bench_matmul [--quick] [--largest N] [--milliseconds N] [--json FILE]
//
// --milliseconds is spent on each size and dtype. Results are checked before they are timed; a wrong one ends the
// program.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>

#include "common/arguments.hpp"
#include "common/json.hpp"
#include "common/machine.hpp"
#include "common/program.hpp"
#include "matmul/blas.hpp"
#include "matmul/product_case.hpp"

namespace {

using bench::Json;
using bench::ProductSize;
using plated::Semiring;

const std::vector<Semiring> semirings = {Semiring::real, Semiring::max_plus, Semiring::log};

/// What a semiring's time is to stay under: a multiple of OpenBLAS's, and 1 µs for a call in real space. Log products
/// are held to it where all three dims are at least 128.
double target(Semiring semiring, const ProductSize& size, double blas) {
  if (size.batch > 0) return 0;
  if (semiring == Semiring::real) return 1.5 * blas + 1e-6;
  if (semiring == Semiring::log && std::min({size.m, size.k, size.n}) < 128) return 0;
  return 3 * blas;
}

template <class T>
void measure(const ProductSize& size, bench::Budget budget, Json& rows) {
  const bench::ProductTimes times = bench::time_product<T>(size, semirings, budget);
  const std::string dtype(plated::name(plated::dtype_of<T>));
  const std::string shape = (size.batch > 0 ? std::to_string(size.batch) + " x " : "") + std::to_string(size.m);
  std::printf("%-8s %-10s %14.3f", dtype.c_str(), shape.c_str(), times.blas * 1e6);
  for (std::size_t s = 0; s < semirings.size(); ++s) {
    const double limit = target(semirings[s], size, times.blas);
    const bool missed = limit > 0 && times.plated[s] > limit;
    std::printf(" %12.3f %6.2f%c", times.plated[s] * 1e6, times.plated[s] / times.blas, missed ? '!' : ' ');
    Json row = Json::object();
    row.set("dtype", dtype).set("semiring", name(semirings[s])).set("batch", size.batch).set("size", size.m);
    row.set("threads", 1).set("plated_seconds", times.plated[s]).set("blas_seconds", times.blas);
    row.set("ratio", times.plated[s] / times.blas);
    row.set("target_seconds", limit > 0 ? Json(limit) : Json());
    rows.push(row);
  }
  std::printf("\n");
  std::fflush(stdout);
}

int run(int argc, const char* const* argv) {
  const bench::Arguments arguments(argc, argv, {"--largest", "--milliseconds", "--json"}, {"--quick"});
  const bool quick = arguments.has("--quick");
  const std::int64_t largest = arguments.integer("--largest", quick ? 256 : 1024, 32, 8192);
  const bench::Budget budget = {
      .seconds = 1e-3 * static_cast<double>(arguments.integer("--milliseconds", quick ? 50 : 1500, 0, 1000000)),
      .turns = quick ? 3 : 7};

  Json report = Json::object();
  report.set("benchmark", "matmul").set("machine", bench::describe_machine()).set("quick", quick);
  report.set("blas", bench::single_threaded_blas());
  Json rows = Json::array();
  std::printf("times in us, ratio to OpenBLAS; ! misses its target\n%-8s %-10s %13s", "dtype", "size", "OpenBLAS");
  for (const Semiring semiring : semirings) std::printf(" %12s %6s ", std::string(name(semiring)).c_str(), "ratio");
  std::printf("\n");
  std::vector<ProductSize> sizes;
  for (std::int64_t n = 32; n <= largest; n *= 2) {
    sizes.push_back({0, n, n, n});
    if (n + n / 2 <= largest) sizes.push_back({0, n + n / 2, n + n / 2, n + n / 2});  // not only powers of two
  }
  for (const std::int64_t n : {8, 16, 32}) sizes.push_back({quick ? 256 : 1024, n, n, n});
  for (const ProductSize& size : sizes) {
    measure<float>(size, budget, rows);
    measure<double>(size, budget, rows);
  }
  report.set("products", rows);
  if (arguments.has("--json")) bench::write_json(arguments.text("--json", ""), report);
  return 0;
}

}  // namespace

int main(int argc, char** argv) { return bench::run_program("bench_matmul", run, argc, argv); }
