// A warmed-up run_into allocates nothing: counted by replacing the global operator new.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "property/random_tensor.hpp"

namespace {
std::atomic<bool> counting = false;
std::atomic<int> allocations = 0;

void* allocate(std::size_t bytes, std::size_t alignment) {
  if (counting) ++allocations;
  const std::size_t size = (std::max<std::size_t>(bytes, 1) + alignment - 1) / alignment * alignment;
  void* memory = std::aligned_alloc(alignment, size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
constexpr std::size_t plain = alignof(std::max_align_t);
}  // namespace

// The replacements below are consistent; inlining one into the other's caller makes GCC doubt it.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
void* operator new(std::size_t bytes) { return allocate(bytes, plain); }
void* operator new[](std::size_t bytes) { return allocate(bytes, plain); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocate(bytes, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return allocate(bytes, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return allocate(bytes, plain); }
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept { return allocate(bytes, plain); }
void* operator new(std::size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return allocate(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace plated::test {
namespace {

/// Allocations of a second and a third run.
int allocations_when_warm(const Model& model, int threads, Check check) {
  const Plan plan = compile(model.graph);
  std::vector<Tensor> outputs = plan.run(model.operands, {.semiring = model.semiring});
  Workspace workspace(plan);
  const RunOptions options{.semiring = model.semiring, .threads = threads, .check = check};
  plan.run_into(outputs, model.operands, workspace, options);
  const std::int64_t held = workspace.bytes();
  allocations = 0;
  counting = true;
  plan.run_into(outputs, model.operands, workspace, options);
  plan.run_into(outputs, model.operands, workspace, options);
  counting = false;
  EXPECT_EQ(workspace.bytes(), held);
  return allocations;
}

void expect_none(Model model) {
  if (model.semiring == Semiring::real) {
    for (Tensor& operand : model.operands) operand = Tensor(operand.dtype(), operand.shape());  // so as not to overflow
  }
  for (const int threads : {1, 2}) {
    for (const Check check : {Check::none, Check::all}) {
      EXPECT_EQ(allocations_when_warm(model, threads, check), 0)
          << threads << " threads, " << name(model.semiring) << ", check " << static_cast<int>(check) << "\n"
          << compile(model.graph).print();
    }
  }
}

TEST(Allocation, IsCounted) {
  allocations = 0;
  counting = true;
  { const std::vector<int> list(10); }
  counting = false;
  EXPECT_GE(allocations, 1);
}

TEST(Allocation, IsNoneInAWarmRun) {
  for (const Semiring semiring : {Semiring::log, Semiring::real, Semiring::max_plus}) {
    for (const Dtype dtype : {Dtype::float32, Dtype::float64}) {
      expect_none(Model("a,abi->", {{2}, {2, 2, 2}}, "i", dtype, semiring));
      expect_none(paper_model(4, 8, dtype, semiring));
      expect_none(paper_model(4, 8, dtype, semiring, "ijc,a"));  // leave-one-out products
      expect_none(Model("ab,bc->ac", {{150, 140}, {140, 130}}, "", dtype, semiring));
      expect_none(Model("iab,ibc,icd->", {{9, 20, 30}, {9, 30, 17}, {9, 17, 3}}, "i", dtype, semiring));
      expect_none(Model("ab->ba", {{30, 40}}, "", dtype, semiring));
      expect_none(Model("ix->", {{100000, 3}}, "i", dtype, semiring));
    }
  }
}

}  // namespace
}  // namespace plated::test
