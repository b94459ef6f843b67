// Archives of arrays in memory.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plated/tensor.hpp"

namespace plated::io {

[[nodiscard]] std::vector<std::string> npz_names(std::span<const std::byte> bytes, const std::string& file);
/// One array of an archive in memory that `owner` keeps.
[[nodiscard]] Tensor npz_array(std::span<const std::byte> bytes, std::string_view array,
                               const std::shared_ptr<void>& owner, const std::string& file);

}  // namespace plated::io
