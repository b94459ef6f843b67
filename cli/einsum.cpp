// `plated einsum`: runs an equation on NumPy arrays, which are mapped into memory.
#include "plated/einsum.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iostream>

#include "commands.hpp"
#include "errors.hpp"
#include "files.hpp"
#include "interrupt.hpp"
#include "json.hpp"
#include "plated/error.hpp"
#include "plated/npy.hpp"
#include "progress.hpp"

namespace plated::cli {
namespace {

/// `all.npz:f` is the array f of a file; a colon elsewhere belongs to the name.
ArrayFile open_operand(const std::string& file) {
  if (file == "-") return {std::cin, shown_name(file)};
  const std::size_t colon = file.rfind(".npz:");
  if (colon != std::string::npos) return {file.substr(0, colon + 4), file.substr(colon + 5)};
  if (!file.ends_with(".npz")) return ArrayFile(file);
  const std::vector<std::string> names = npz_names(file);
  if (names.size() == 1) return {file, names.front()};
  throw UsageError(file + " holds " + std::to_string(names.size()) + " arrays: write " + file + ":" +
                   (names.empty() ? "name" : names.front()));
}

/// Operands without their numbers, which planning does not look at.
std::vector<Tensor> shapes_of(const std::vector<ArrayFile>& files) {
  std::vector<Tensor> shapes;
  for (const ArrayFile& file : files) {
    shapes.push_back(file.dtype() == Dtype::float32 ? Tensor::view(static_cast<const float*>(nullptr), file.shape())
                                                    : Tensor::view(static_cast<const double*>(nullptr), file.shape()));
  }
  return shapes;
}

/// Throws MemoryLimitError where unpacking takes more than is allowed; returns what it leaves.
std::int64_t left_by(const std::vector<ArrayFile>& files, std::int64_t limit) {
  std::int64_t needed = 0;
  for (const ArrayFile& file : files) needed += file.allocated_bytes();
  if (limit > 0 && needed >= limit) {
    throw MemoryLimitError(fmt::format("the operands unpack to {} bytes, and the limit is {}", needed, limit), needed,
                           limit);
  }
  return limit > 0 ? limit - needed : 0;
}

/// "t:a->b,c->d" → t with its links.
void add_chain(EinsumOptions& options, const std::string& text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == text.size()) {
    throw UsageError("--chain " + text + ": a chain reads t:a->b, links separated by commas");
  }
  std::vector<std::string>& links = options.chains[text.substr(0, colon)];
  for (std::size_t at = colon; at != std::string::npos;) {
    const std::size_t comma = text.find(',', at + 1);
    links.push_back(text.substr(at + 1, comma == std::string::npos ? comma : comma - at - 1));
    at = comma;
  }
}

void add_size(EinsumOptions& options, const std::string& text) {
  const std::size_t sign = text.find('=');
  std::int64_t size = -1;
  if (sign != std::string::npos && sign > 0) {
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data() + sign + 1, end, size);
    if (error != std::errc() || rest != end) size = -1;
  }
  if (size < 0) throw UsageError("--sizes " + text + ": a size reads t=5");
  if (!options.sizes.emplace(text.substr(0, sign), size).second) {
    throw UsageError("--sizes " + text + ": that dim has a size already");
  }
}

/// Errors of the library count operands; people count files.
[[noreturn]] void fail_with_file(const std::string& message, const std::vector<std::string>& files) {
  constexpr std::string_view counted = "operand ";
  std::size_t operand = files.size();
  if (message.starts_with(counted)) {
    std::from_chars(message.data() + counted.size(), message.data() + message.size(), operand);
  }
  throw UsageError(operand < files.size() ? shown_name(files[operand]) + ": " + message : message);
}

/// Bare infinities: what is printed is for people and shells, not for JSON.
std::string printed(const Tensor& tensor) {
  std::string text = json::nested(tensor);
  std::erase(text, '"');
  return text + "\n";
}

}  // namespace

int einsum(const Einsum& wanted, const Common& common) {
  EinsumOptions options;
  options.plates = wanted.plates;
  options.batch = wanted.batch;
  for (const std::string& chain : wanted.chains) add_chain(options, chain);
  for (const std::string& size : wanted.sizes) add_size(options, size);

  std::vector<ArrayFile> files;
  for (const std::string& file : wanted.operands) files.push_back(open_operand(file));
  options.plan.memory_limit = memory_limit(common);
  const Plan plan = compile(wanted.equation, shapes_of(files), options);
  const std::size_t outputs = plan.graph().outputs().size();
  if (!wanted.outputs.empty() && wanted.outputs.size() != outputs) {
    throw UsageError(fmt::format("the equation has {} output{}, and -o names {}", outputs, outputs == 1 ? "" : "s",
                                 wanted.outputs.size()));
  }

  const std::int64_t limit = left_by(files, memory_limit(common));
  std::vector<Tensor> results;
  {
    Progress progress("einsum", common.quiet);
    std::vector<Tensor> operands;
    for (const ArrayFile& file : files) operands.push_back(file.read());
    try {
      results = plan.run(operands, {.semiring = semiring_named(wanted.semiring),
                                    .threads = common.threads,
                                    .memory_limit = limit,
                                    .progress = progress.callback()});
    } catch (const ValueError& error) {
      fail_with_file(error.what(), wanted.operands);
    }
  }
  if (wanted.outputs.empty()) {
    std::string text;
    for (const Tensor& result : results) text += printed(result);
    deliver(text, "");
  } else {
    write_whole([&] {
      for (std::size_t k = 0; k < results.size(); ++k) {
        write_npy(wanted.outputs[k] == "-" ? "/dev/stdout" : wanted.outputs[k], results[k]);
      }
    });
  }
  return answered;
}

}  // namespace plated::cli
