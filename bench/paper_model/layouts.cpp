// Times other orders of storage, names, domains and plates against the same roofline: the model is no special case.
#include <algorithm>
#include <cstdio>
#include <map>
#include <optional>

#include "paper_model/comparison.hpp"
#include "paper_model/sections.hpp"

namespace bench {
namespace {

struct Variant {
  std::string label;
  std::string order;
  TreeSizes sizes;
  bool long_names = false;
};

std::vector<Variant> variants(const Settings& settings) {
  const std::int64_t n = settings.layout_size;
  const TreeSizes sizes = {settings.domain, n, n};
  std::vector<Variant> all;
  if (settings.all_layouts) {
    std::string order = "bcij";
    do all.push_back({order, order, sizes});
    while (std::next_permutation(order.begin(), order.end()));
  } else {
    for (const char* order : {"bcij", "cbij", "ijbc", "icjb", "jibc", "bicj"}) all.push_back({order, order, sizes});
  }
  all.push_back({"bcij, long names", "bcij", sizes, true});
  for (const std::int64_t domain : {settings.domain - 1, settings.domain + 1}) {
    for (const char* order : {"bcij", "ijbc", "icjb"}) {
      all.push_back({std::string(order) + ", domain " + std::to_string(domain), order, {domain, n, n}});
    }
  }
  // Four times as many slices in each of a quarter: as many entries as above.
  const TreeSizes with_k = {settings.domain, n / 2, n / 2, 4};
  for (const char* order : {"bcijk", "ijkbc", "kbcij", "ibjck"}) {
    all.push_back({std::string(order) + ", third plate", order, with_k});
  }
  return all;
}

/// The plainly stored model of some sizes, for the roofline, and what results must be.
struct Plain {
  TreeModel model;
  Reference expected;

  Plain(TreeSizes sizes, plated::Semiring semiring) : model(sizes, sizes.k > 0 ? "bcijk" : "bcij") {
    model.fill(semiring);
    expected = reference(model, semiring);
  }
};

}  // namespace

Json measure_layouts(const Settings& settings) {
  Json rows = Json::array();
  std::printf("\n%-8s %-22s %14s %14s %8s\n", "semiring", "stored as", "Plated, ms", "roofline, ms", "ratio");
  std::map<plated::Semiring, std::optional<Plain>> plain;  // of the last sizes: most variants share them
  for (const Variant& variant : variants(settings)) {
    TreeModel model(variant.sizes, variant.order, variant.long_names);
    for (const plated::Semiring semiring : {plated::Semiring::log, plated::Semiring::real}) {
      model.fill(semiring);
      std::optional<Plain>& like = plain[semiring];
      if (!like || like->model.sizes() != variant.sizes) like.emplace(variant.sizes, semiring);
      const Comparison times = compare(model, like->model, semiring, 1, like->expected, settings.budget);
      Json row = Json::object();
      row.set("semiring", name(semiring)).set("variant", variant.label).set("equation", model.equation());
      row.set("domain", variant.sizes.domain).set("i", variant.sizes.i).set("j", variant.sizes.j);
      row.set("k", variant.sizes.k).set("threads", 1).set("plated_seconds", times.plated);
      row.set("roofline_seconds", times.roofline.value()).set("ratio", times.plated / *times.roofline);
      std::printf("%-8s %-22s %14.4f %14.4f %8.2f\n", std::string(name(semiring)).c_str(), variant.label.c_str(),
                  times.plated * 1e3, *times.roofline * 1e3, times.plated / *times.roofline);
      std::fflush(stdout);
      rows.push(row);
    }
  }
  return rows;
}

}  // namespace bench
