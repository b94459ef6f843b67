// The numbers of a factor in the plated format: inline, or in an array file.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "io/json.hpp"
#include "plated/model_file.hpp"

namespace plated::io {

/// The path of a file that a model names. Throws where it lies outside of the model's folder and may not.
[[nodiscard]] std::filesystem::path located(const Source& source, const ReadOptions& options, const Json& file);

/// Reads `values`: a number, nested lists or one flat list, or `{"file": "f.npy"}`.
class ArrayReader {
 public:
  /// `allocated` counts the bytes that arrays of the model have been unpacked to.
  ArrayReader(const Source& source, const ReadOptions& options, Space space, std::int64_t& allocated)
      : source_(source), options_(options), space_(space), allocated_(allocated) {}

  [[nodiscard]] Tensor read(const Json& values, const Tensor::Shape& shape, const Json* dtype,
                            const std::string& what) const;

 private:
  [[nodiscard]] Tensor read_file(const Json& values, const Tensor::Shape& shape, const std::string& what) const;
  void check_entries(const Tensor& tensor, std::size_t at, const std::string& what) const;
  void collect(const Json& level, const Tensor::Shape& shape, std::size_t axis, const std::string& what,
               std::vector<double>& entries) const;
  void add(double entry, std::size_t at, const std::string& what, std::vector<double>& entries) const;

  const Source& source_;
  const ReadOptions& options_;
  Space space_;
  std::int64_t& allocated_;
};

}  // namespace plated::io
