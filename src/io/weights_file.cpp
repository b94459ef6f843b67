// Reads weights of slices.
#include "base/checked_size.hpp"
#include "io/data_file.hpp"
#include "io/disk.hpp"
#include "io/npy_header.hpp"
#include "io/numbers.hpp"
#include "io/source.hpp"
#include "plated/data_file.hpp"
#include "plated/error.hpp"
#include "plated/npy.hpp"

namespace plated {
namespace {

Tensor read_npy_weights(const std::filesystem::path& path) {
  {
    const io::MappedFile file(path);
    if (io::read_npy_header(file.bytes(), io::one_line(path.string()), true).kind == 'f') return read_npy(path);
  }
  const IntegerView counts = io::read_npy_states(path);
  return Tensor::of(counts.shape(), std::vector<double>(counts.begin(), counts.end()));
}

Tensor read_csv_weights(const std::filesystem::path& path) {
  const std::string text = io::read_text(path);
  const io::Source source(io::one_line(path.string()), io::without_mark(text));
  const std::string_view all = source.text();
  std::vector<double> weights;
  bool is_first = true;
  for (std::size_t at = 0; at < all.size();) {
    const std::size_t end = std::min(all.find('\n', at), all.size());
    std::string_view line = all.substr(at, end - at);
    while (line.ends_with('\r') || line.ends_with(' ')) line.remove_suffix(1);
    const io::ReadNumber number = io::read_number(line);
    const bool is_number = number.bytes > 0 && number.bytes == line.size();
    if (is_number) weights.push_back(number.value);
    if (!is_number && !is_first && !line.empty()) source.fail(at, io::shown(line) + " is no weight");
    is_first = false;
    at = end + 1;
  }
  return Tensor::of(weights);
}

}  // namespace

Tensor read_weights(const std::filesystem::path& path) {
  if (path.extension() == ".npy") return read_npy_weights(path);
  if (path.extension() == ".csv") return read_csv_weights(path);
  throw OptionError(path.string() + ": weights are .npy or .csv files");
}

}  // namespace plated
