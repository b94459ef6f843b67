// The arguments of draw().
#pragma once

#include <nanobind/nanobind.h>

#include <optional>
#include <string>
#include <string_view>

#include "plated/draw.hpp"

namespace plated::python {

struct DrawCall {
  DrawOptions options;
  std::optional<Certificate> certificate;

  /// Takes an argument. False where `key` is none of draw()'s.
  bool take(std::string_view key, nanobind::handle value);
  [[nodiscard]] std::string svg(const FactorGraph& graph) const;
};

}  // namespace plated::python
