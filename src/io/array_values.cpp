// Reads inline numbers and finds array files.
#include "io/array_values.hpp"

#include <limits>

#include "base/checked_size.hpp"
#include "graph/spell.hpp"
#include "io/json_fields.hpp"
#include "model/entries.hpp"
#include "plated/error.hpp"
#include "plated/npy.hpp"

namespace plated::io {
namespace {

template <class T>
const char* first_refused(const Tensor& tensor, Space space) {
  // Maximal runs of memory: a dense array is one, in whatever order its axes are.
  const T* const data = static_cast<const T*>(tensor.data());
  const std::int64_t count = tensor.elements();
  for (std::int64_t k = 0; k < count; ++k) {
    if (const char* why = model::refused_entry(static_cast<double>(data[k]), space)) return why;
  }
  return nullptr;
}

}  // namespace

Tensor ArrayReader::read(const Json& values, const Tensor::Shape& shape, const Json* dtype,
                         const std::string& what) const {
  if (values.is(Json::Kind::object)) {
    if (dtype != nullptr) source_.fail(dtype->at, what + " has its dtype from its file");
    return read_file(values, shape, what);
  }
  bool single = false;
  if (dtype != nullptr) {
    const std::string& name = as_string(source_, *dtype, "the dtype of " + what);
    single = name == "float32";
    if (!single && name != "float64") source_.fail(dtype->at, "'dtype' should be \"float32\" or \"float64\"");
  }
  const std::int64_t wanted = base::checked_product(shape);
  std::vector<double> entries;
  const bool flat = values.is(Json::Kind::array) && values.packed && shape.size() > 1 && values.size() > 0;
  if (flat && static_cast<std::int64_t>(values.size()) != wanted) {
    source_.fail(values.at, what + " has " + std::to_string(values.size()) + " numbers, and the shape " +
                                graph::as_shape(shape) + " has " + std::to_string(wanted));
  }
  collect(values, flat ? Tensor::Shape{wanted} : shape, 0, what, entries);
  if (!single) return Tensor::of<double>(shape, entries);
  return Tensor::of<float>(shape, std::vector<float>(entries.begin(), entries.end()));
}

void ArrayReader::add(double entry, std::size_t at, const std::string& what, std::vector<double>& entries) const {
  if (const char* why = model::refused_entry(entry, space_)) source_.fail(at, "a number of " + what + " " + why);
  entries.push_back(entry);
}

void ArrayReader::collect(const Json& level, const Tensor::Shape& shape, std::size_t axis, const std::string& what,
                          std::vector<double>& entries) const {
  if (axis == shape.size()) {
    const bool zero = level.is(Json::Kind::string) && level.string == "-inf";
    if (!zero && !level.is(Json::Kind::number))
      source_.fail(level.at, what + " should have a number here, or \"-inf\"");
    add(zero ? -std::numeric_limits<double>::infinity() : level.number, level.at, what, entries);
    return;
  }
  const auto size = static_cast<std::int64_t>(level.size());
  if (!level.is(Json::Kind::array) || size != shape[axis]) {
    source_.fail(level.at, what + " should have a list of " + std::to_string(shape[axis]) + " here, for the shape " +
                               graph::as_shape(shape));
  }
  if (level.packed && axis + 1 < shape.size() && size > 0) {
    source_.fail(level.at, what + " should have lists in this list, for the shape " + graph::as_shape(shape));
  }
  for (const double entry : level.numbers) add(entry, level.at, what, entries);
  for (const Json& item : level.items) collect(item, shape, axis + 1, what, entries);
}

std::filesystem::path located(const Source& source, const ReadOptions& options, const Json& file) {
  const std::filesystem::path path = as_string(source, file, "'file'");
  if (!options.folder)
    source.fail(file.at, "names the file " + shown(path.string()) + ", but has no folder to look in");
  if (path.empty() || path.string().find('\0') != std::string::npos) source.fail(file.at, "'file' is not a name");
  if (!options.outside_folder) {
    bool outside = path.is_absolute();
    for (const std::filesystem::path& part : path) outside = outside || part == "..";
    if (outside) source.fail(file.at, shown(path.string()) + " is outside of the model's folder, which is not allowed");
  }
  return *options.folder / path;
}

Tensor ArrayReader::read_file(const Json& values, const Tensor::Shape& shape, const std::string& what) const {
  check_object(source_, values, "the values of " + what, {"file", "array"});
  const std::filesystem::path path =
      located(source_, options_, required(source_, values, "file", "the values of " + what));
  const Json* const array = values.find("array");
  const ArrayFile file = array == nullptr ? ArrayFile(path) : ArrayFile(path, as_string(source_, *array, "'array'"));
  if (file.shape() != shape) {
    source_.fail(values.at, what + " needs the shape " + graph::as_shape(shape) + ", and " +
                                shown(path.filename().string()) + " has " + graph::as_shape(file.shape()));
  }
  const std::int64_t needed = allocated_ + file.allocated_bytes();
  if (options_.memory_limit > 0 && needed > options_.memory_limit) {
    throw MemoryLimitError(source_.file() + ": arrays in files unpack to " + std::to_string(needed) +
                               " bytes up to that of " + what + ", and the limit is " +
                               std::to_string(options_.memory_limit),
                           needed, options_.memory_limit);
  }
  Tensor tensor = file.read();
  allocated_ = needed;
  if (options_.check_arrays) check_entries(tensor, values.at, what);
  return tensor;
}

void ArrayReader::check_entries(const Tensor& tensor, std::size_t at, const std::string& what) const {
  const char* const why =
      tensor.dtype() == Dtype::float32 ? first_refused<float>(tensor, space_) : first_refused<double>(tensor, space_);
  if (why != nullptr) source_.fail(at, "a number in the file of " + what + " " + why);
}

}  // namespace plated::io
