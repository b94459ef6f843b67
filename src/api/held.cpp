// Copies evidence for questions that a workspace holds.
#include "api/held.hpp"

#include "tensor/check_entries.hpp"

namespace plated::api {
namespace {

bool is_partial(const IntegerView& values) { return tensor::range_of(values).least < 0; }

}  // namespace

HeldIntegers::HeldIntegers(IntegersByName& evidence) {
  for (auto& [name, values] : evidence) {
    if (values.data() == nullptr) continue;
    auto copy = std::make_shared<std::vector<std::int64_t>>(values.values());
    entries_.push_back({name, copy, values.shape(), is_partial(values)});
    values = IntegerView::view(copy->data(), values.shape()).keeping(copy);
  }
}

bool HeldIntegers::is_like(const IntegersByName& evidence) const {
  return std::equal(evidence.begin(), evidence.end(), entries_.begin(), entries_.end(),
                    [](const auto& given, const Entry& entry) {
                      const IntegerView& values = given.second;
                      return given.first == entry.name && values.data() != nullptr && values.shape() == entry.shape &&
                             values.size() == entry.values->size() && is_partial(values) == entry.partial;
                    });
}

void HeldIntegers::put(const IntegersByName& evidence) {
  auto entry = entries_.begin();
  for (const auto& [name, values] : evidence) {
    std::copy(values.begin(), values.end(), entry->values->begin());
    ++entry;
  }
}

}  // namespace plated::api
