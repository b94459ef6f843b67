// Reads a call frame of XLA.
#include "jax_request.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

#include "plated/error.hpp"

namespace plated::python {
namespace {

const void* attribute(const xla::Attributes& attributes, std::string_view name, xla::AttributeType type) {
  for (std::int64_t k = 0; k < attributes.size; ++k) {
    const xla::Bytes& found = *attributes.names[k];
    if (std::string_view(found.data, found.size) == name && attributes.types[k] == type) return attributes.values[k];
  }
  throw OptionError("the call lacks the attribute '" + std::string(name) + "': make it through plated.jax");
}

std::string text(const xla::Attributes& attributes, std::string_view name) {
  const auto* bytes = static_cast<const xla::Bytes*>(attribute(attributes, name, xla::AttributeType::string));
  return {bytes->data, bytes->size};
}

std::int64_t integer(const xla::Attributes& attributes, std::string_view name) {
  const auto* scalar = static_cast<const xla::Scalar*>(attribute(attributes, name, xla::AttributeType::scalar));
  if (scalar->dtype != xla::DataType::int64)
    throw OptionError("the attribute '" + std::string(name) + "' is not an int64");
  return *static_cast<const std::int64_t*>(scalar->value);
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

/// "i=3;j=4" as pairs.
std::vector<std::pair<std::string, std::string>> pairs(std::string_view text) {
  std::vector<std::pair<std::string, std::string>> result;
  for (const std::string& part : split(text, ';')) {
    const std::size_t middle = std::min(part.find('='), part.size());
    result.emplace_back(part.substr(0, middle), part.substr(std::min(middle + 1, part.size())));
  }
  return result;
}

std::int64_t number(const std::string& text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) throw OptionError("'" + text + "' is not a size");
  return value;
}

}  // namespace

JaxRequest::JaxRequest(const xla::CallFrame& frame) : frame_(&frame), equation_(text(frame.attributes, "equation")) {
  const xla::Attributes& attributes = frame.attributes;
  options_.plates = text(attributes, "plates");
  options_.batch = text(attributes, "batch");
  options_.semiring = semiring_named(text(attributes, "semiring"));
  options_.threads = static_cast<int>(integer(attributes, "threads"));
  for (const auto& [chain, links] : pairs(text(attributes, "chains")))
    options_.chains.emplace(chain, split(links, ','));
  for (const auto& [dim, size] : pairs(text(attributes, "sizes"))) options_.sizes.emplace(dim, number(size));
  if (const std::string spaced = text(attributes, "spaced"); !spaced.empty()) options_.spaced = spaced == "spaced";
  options_.memory_limit = integer(attributes, "memory_limit");
  options_.check = text(attributes, "check") == "none" ? Check::none : Check::all;
  ragged_ = split(text(attributes, "lengths"), ';');
  observed_ = split(text(attributes, "evidence"), ';');
  weighted_ = split(text(attributes, "weights"), ';');
  options_.plan.observable = observed_;
  operands_ = integer(attributes, "operands");
  if (operands_ < 0 || first_further() > frame.arguments.size) {
    throw OptionError("the call has " + std::to_string(frame.arguments.size) + " arguments for " +
                      std::to_string(operands_) + " operands");
  }
  if (frame.results.size == 0) return;
  const xla::Buffer& result = frame.results[0];
  leading_ = result.rank - integer(attributes, "rank");
  for (std::int64_t axis = 0; axis < leading_; ++axis) batch_ *= result.dims[axis];
}

std::int64_t JaxRequest::offset(const xla::Buffer& buffer, std::int64_t element) const {
  // Arrays that vmap does not map have leading axes of size one, and the same offset for every element.
  std::int64_t inner = 1;
  for (std::int64_t axis = leading_; axis < buffer.rank; ++axis) inner *= buffer.dims[axis];
  std::int64_t result = 0;
  for (std::int64_t axis = leading_ - 1, stride = inner; axis >= 0; --axis) {
    const std::int64_t extent = frame_->results[0].dims[axis];
    if (buffer.dims[axis] != 1) result += element % extent * stride;
    element /= extent;
    stride *= buffer.dims[axis];
  }
  return result;
}

Tensor JaxRequest::view(const xla::Buffer& buffer, std::int64_t element) const {
  const Tensor::Shape shape(buffer.dims + leading_, buffer.dims + buffer.rank);
  switch (buffer.dtype) {
    case xla::DataType::float32:
      return Tensor::view(static_cast<float*>(buffer.data) + offset(buffer, element), shape);
    case xla::DataType::float64:
      return Tensor::view(static_cast<double*>(buffer.data) + offset(buffer, element), shape);
    default:
      throw OptionError("an array of the call is neither float32 nor float64");
  }
}

std::vector<Tensor> JaxRequest::arguments(std::int64_t first, std::int64_t count, std::int64_t element) const {
  std::vector<Tensor> tensors;
  for (std::int64_t k = first; k < first + count; ++k) tensors.push_back(view(frame_->arguments[k], element));
  return tensors;
}

std::vector<Tensor> JaxRequest::further(std::int64_t first, std::int64_t count, std::int64_t element) const {
  return arguments(first_further() + first, count, element);
}

std::int64_t JaxRequest::further_count() const { return frame_->arguments.size - first_further(); }

std::vector<Tensor> JaxRequest::results(std::int64_t first, std::int64_t count, std::int64_t element) const {
  std::vector<Tensor> tensors;
  for (std::int64_t k = first; k < first + count; ++k) tensors.push_back(view(frame_->results[k], element));
  return tensors;
}

IntegerView JaxRequest::integers(std::int64_t argument, std::int64_t element, const std::string& what) const {
  const xla::Buffer& buffer = frame_->arguments[argument];
  if (buffer.dtype != xla::DataType::int32) throw OptionError(what + " is not int32");
  const auto* data = static_cast<const std::int32_t*>(buffer.data) + offset(buffer, element);
  return IntegerView::view(data, {buffer.dims + leading_, buffer.dims + buffer.rank});
}

EinsumOptions JaxRequest::options(std::int64_t element) const {
  EinsumOptions options = options_;
  std::int64_t argument = operands_;
  for (const std::string& name : ragged_) {
    options.lengths.emplace(name, integers(argument++, element, "the array of the lengths of '" + name + "'"));
  }
  for (const std::string& name : observed_) {
    options.evidence.emplace(name, integers(argument++, element, "the evidence of '" + name + "'"));
  }
  for (const std::string& name : weighted_) {
    options.weights.emplace(name, view(frame_->arguments[argument++], element));
  }
  return options;
}

}  // namespace plated::python
