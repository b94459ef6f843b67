// Counts: the gradient of ln Z by the logarithms of factors, block by block.
#include "learn/counts.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "engine/write_entries.hpp"

namespace plated::learn {
namespace {

double total_of(const Tensor& batches) {
  const auto* const values = static_cast<const double*>(batches.data());
  return std::accumulate(values, values + batches.elements(), 0.0);
}

double* numbers_of(const Tensor& tensor) { return static_cast<double*>(tensor.mutable_data()); }

}  // namespace

Counts::Counts(const Blocks& blocks, int threads, const std::function<bool()>& cancelled,
               const std::function<void(double)>& progress)
    : blocks_(blocks),
      counting_(blocks.counting()),
      threads_(threads),
      factors_(counting_.factors()),
      found_counts_(factors_.size()),
      sums_(factors_.size()),
      block_counts_(factors_.size()),
      each_(blocks.count()),
      logs_(factors_.size(), nullptr),
      counts_(factors_.size(), nullptr),
      lists_(blocks.lists(), threads),
      rows_(blocks.rows(), threads) {
  for (std::size_t f = 0; f < factors_.size(); ++f) {
    if (!counting_.is_counted(f)) continue;
    if (blocks.is_measured(f)) {
      std::int64_t size = 0;
      for (std::size_t block = 0; block < blocks.count(); ++block) size += blocks.kept(block).factors[f].elements();
      factors_[f] = Tensor(Dtype::float64, {size});
      found_counts_[f] = Tensor(Dtype::float64, {size});
    } else {
      factors_[f] = counting_.start(f);
      found_counts_[f] = counting_.operand(f);
      sums_[f] = found_counts_[f];
      if (blocks.count() > 1) block_counts_[f] = counting_.operand(f);
    }
    logs_[f] = numbers_of(factors_[f]);
    counts_[f] = numbers_of(found_counts_[f]);
  }
  tables_ = factors_;
  for (const model::Listed& rows : blocks.rows()) {
    const auto zeros = [&] { return Tensor(Dtype::float64, rows.shape()); };
    tables_[rows.factor()] = zeros();
    sums_[rows.factor()] = zeros();
    if (blocks.count() > 1) block_counts_[rows.factor()] = zeros();
  }
  double before = 0;
  for (std::size_t block = 0; block < blocks.count(); ++block) {
    prepare(block);
    RunOptions& run = each_[block].run;
    run.threads = threads;
    run.cancelled = cancelled;
    const double share = blocks.share(block);
    if (progress) run.progress = [=](double done) { progress(before + done * share); };
    before += share;
  }
}

void Counts::prepare(std::size_t block) {
  Block& own = each_[block];
  const Blocks::Run& kept = blocks_.kept(block);
  own.run = kept.options;
  own.operands = kept.factors;
  own.places.gradients.resize(factors_.size());
  own.messages.resize(factors_.size());
  own.found_messages.resize(factors_.size());
  for (std::size_t f = 0; f < factors_.size(); ++f) {
    if (!counting_.is_counted(f)) continue;
    own.operands[f] = blocks_.is_measured(f) ? part_of(factors_[f], f, block) : tables_[f];
    own.places.gradients[f] = blocks_.is_measured(f) ? part_of(found_counts_[f], f, block) : places_of(sums_)[f];
  }
  for (const model::Listed& list : blocks_.lists()) {
    const std::size_t f = list.factor();
    own.operands[f] = own.messages[f] = blocks_.message(list, block);
    if (counting_.is_counted(f)) own.places.gradients[f] = own.found_messages[f] = blocks_.message(list, block);
  }
  lists_.spread(tables_, own.messages, std::vector<bool>(factors_.size(), true), blocks_.first_slice(block));
}

Tensor Counts::part_of(const Tensor& all, std::size_t factor, std::size_t block) const {
  std::int64_t begin = 0;
  for (std::size_t b = 0; b < block; ++b) begin += blocks_.kept(b).factors[factor].elements();
  return Tensor::view(numbers_of(all) + begin, blocks_.kept(block).factors[factor].shape())
      .keeping(std::make_shared<Tensor>(all));
}

void Counts::add_tables(std::size_t block, std::vector<Tensor>& sums) const {
  if (blocks_.count() == 1) return;
  for (std::size_t f = 0; f < factors_.size(); ++f) {
    if (!counting_.is_counted(f) || blocks_.is_measured(f)) continue;
    const double* const from = numbers_of(block_counts_[f]);
    double* const to = numbers_of(sums[f]);
    for (std::int64_t k = 0; k < sums[f].elements(); ++k) to[k] = block == 0 ? from[k] : to[k] + from[k];
  }
}

double Counts::count() {
  rows_.spread(factors_, tables_, counting_.counted());
  double total = 0;
  for (std::size_t block = 0; block < each_.size(); ++block) {
    Block& own = each_[block];
    const std::int64_t first = blocks_.first_slice(block);
    lists_.spread(tables_, own.messages, counting_.counted(), first);
    if (!own.gradient) own.gradient.emplace(counting_.plan(), own.operands, own.run, own.places);
    try {
      own.gradient->ask(own.operands, own.found);
    } catch (...) {
      own.gradient.reset();
      throw;
    }
    lists_.collect(own.found_messages, places_of(sums_), counting_.counted(), first);
    add_tables(block, sums_);
    total += total_of(own.found.values[0]);
  }
  rows_.collect(sums_, found_counts_, counting_.counted());
  return total;
}

double Counts::log_total() const {
  rows_.spread(factors_, tables_, counting_.counted());
  double total = 0;
  for (std::size_t block = 0; block < each_.size(); ++block) {
    const Block& own = each_[block];
    lists_.spread(tables_, own.messages, counting_.counted(), blocks_.first_slice(block));
    total += total_of(counting_.plan().run(own.operands, own.run)[0]);
  }
  return total;
}

void Counts::prepare_directions() {
  const auto zeros = [&](std::size_t f) {
    if (!blocks_.is_measured(f)) return counting_.operand(f);
    return counting_.is_counted(f) ? Tensor(Dtype::float64, factors_[f].shape()) : Tensor();
  };
  for (std::size_t f = 0; f < factors_.size(); ++f) {
    direction_.push_back(zeros(f));
    curves_.push_back(zeros(f));
  }
  table_direction_ = direction_;
  curve_sums_ = curves_;
  for (const model::Listed& rows : blocks_.rows()) {
    table_direction_[rows.factor()] = Tensor(Dtype::float64, rows.shape());
    curve_sums_[rows.factor()] = Tensor(Dtype::float64, rows.shape());
  }
  for (std::size_t block = 0; block < each_.size(); ++block) {
    Block& own = each_[block];
    own.direction = table_direction_;
    own.direction_messages.resize(factors_.size());
    for (std::size_t f = 0; f < factors_.size(); ++f) {
      if (!blocks_.is_measured(f)) continue;
      own.direction[f] =
          counting_.is_counted(f) ? part_of(direction_[f], f, block) : Tensor(Dtype::float64, own.operands[f].shape());
    }
    for (const model::Listed& list : blocks_.lists()) {
      const std::size_t f = list.factor();
      own.direction[f] = own.direction_messages[f] = blocks_.message(list, block);
    }
  }
}

void Counts::clear_direction() {
  if (direction_.empty()) return prepare_directions();
  for (std::size_t f = 0; f < factors_.size(); ++f) {
    if (counting_.is_counted(f)) std::fill_n(direction(f), direction_[f].elements(), 0.0);
  }
}

double* Counts::direction(std::size_t factor) const { return numbers_of(direction_[factor]); }

const std::vector<Tensor>& Counts::curve() {
  if (!curving_) curving_.emplace(counting_.plan());
  std::vector<Tensor>& tables = places_of(curve_sums_);
  rows_.spread(factors_, tables_, counting_.counted());
  rows_.spread(direction_, table_direction_, counting_.counted());
  for (std::size_t block = 0; block < each_.size(); ++block) {
    Block& own = each_[block];
    const std::int64_t first = blocks_.first_slice(block);
    lists_.spread(tables_, own.messages, counting_.counted(), first);
    lists_.spread(table_direction_, own.direction_messages, counting_.counted(), first);
    hessian_vector_product_into(own.curved, counting_.plan(), own.operands, own.direction, *curving_, own.run);
    for (std::size_t f = 0; f < factors_.size(); ++f) {
      if (!counting_.is_counted(f)) continue;
      const Tensor& product = own.curved.products[f];
      if (counting_.is_listed(f)) {
        engine::copy_entries(product, own.places.gradients[f]);
      } else if (blocks_.is_measured(f)) {
        engine::copy_entries(product, part_of(curves_[f], f, block));
      } else {
        counting_.put(f, product.shape(), product.values(), numbers_of(tables[f]));
      }
    }
    lists_.collect(own.found_messages, tables, counting_.counted(), first);
    add_tables(block, curve_sums_);
  }
  rows_.collect(curve_sums_, curves_, counting_.counted());
  return curves_;
}

Tensor Counts::counts_of(std::size_t factor) const {
  const Tensor& all = found_counts_[factor];
  if (blocks_.is_measured(factor)) return Tensor::of(each_[0].operands[factor].shape(), all.values());
  const Tensor kept = Tensor::view(counts_[factor], counting_.without_missing(factor, all.shape()), all.strides());
  return Tensor::of(kept.shape(), kept.values());
}

}  // namespace plated::learn
