// Constraints of parameters, and training with checkpoints.
#include "plated/torch/parameters.hpp"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <torch/serialize/archive.h>

#include <cmath>
#include <filesystem>

#include "plated/error.hpp"

namespace plated::torch {

namespace {

[[noreturn]] void refuse(const std::string& name) {
  throw ValueError("the entries given to the parameter '" + name + "' are not inside of its constraint");
}

}  // namespace

/// What is free of the constraint; NaN where entries are outside of it, infinite where they are on its edge.
at::Tensor Parameters::freed(const std::string& name, const at::Tensor& entries, Constraint constraint) {
  if (!at::isFloatingType(entries.scalar_type())) refuse(name);
  switch (constraint) {
    case Constraint::positive:
      return entries.log();
    case Constraint::unit_interval:
      return entries.logit();
    case Constraint::simplex:
      if (entries.dim() == 0 || !((entries.sum(-1) - 1).abs().max().item<double>() < 1e-5)) refuse(name);
      return entries.log();
    case Constraint::real:
      break;
  }
  return entries;
}

void Parameters::add(const std::string& name, const at::Tensor& initial, Constraint constraint) {
  if (constraints_.contains(name)) throw DuplicateNameError("there are two parameters '" + name + "'");
  const at::Tensor free = freed(name, initial, constraint);
  if (!free.isfinite().all().item<bool>()) refuse(name);
  free_[name] = register_parameter(name, free.detach().clone());
  constraints_[name] = constraint;
}

void Parameters::real(const std::string& name, const at::Tensor& initial) { add(name, initial, Constraint::real); }

void Parameters::positive(const std::string& name, const at::Tensor& initial) {
  add(name, initial, Constraint::positive);
}

void Parameters::unit_interval(const std::string& name, const at::Tensor& initial) {
  add(name, initial, Constraint::unit_interval);
}

void Parameters::simplex(const std::string& name, const at::Tensor& initial) {
  add(name, initial, Constraint::simplex);
}

void Parameters::assign(const std::string& name, const at::Tensor& entries) {
  const at::Tensor free = freed(name, entries, constraint_of(name));
  at::Tensor& mine = free_.at(name);
  if (free.sizes() != mine.sizes()) throw SizeError("the entries of the parameter '" + name + "' have another shape");
  if (free.isnan().any().item<bool>()) refuse(name);
  const at::NoGradGuard guard;
  mine.copy_(free);
}

std::vector<at::Tensor> Parameters::free(const std::vector<std::string>& names) const {
  std::vector<at::Tensor> result;
  for (const std::string& name : names) {
    (void)constraint_of(name);
    result.push_back(free_.at(name));
  }
  return result;
}

Parameters::Constraint Parameters::constraint_of(const std::string& name) const {
  const auto found = constraints_.find(name);
  if (found != constraints_.end()) return found->second;
  std::string known;
  for (const auto& entry : constraints_) known += " '" + entry.first + "'";
  throw UnknownNameError("there is no parameter '" + name + "'; there are" + (known.empty() ? " none" : known));
}

at::Tensor Parameters::operator[](const std::string& name) const {
  const Constraint constraint = constraint_of(name);
  const at::Tensor& free = free_.at(name);
  switch (constraint) {
    case Constraint::positive:
      return free.exp();
    case Constraint::unit_interval:
      return free.sigmoid();
    case Constraint::simplex:
      return free.softmax(-1);
    case Constraint::real:
      break;
  }
  return free;
}

namespace {

void write(const std::string& path, Parameters& parameters, const ::torch::optim::Optimizer& optimizer,
           std::int64_t step) {
  ::torch::serialize::OutputArchive archive;
  ::torch::serialize::OutputArchive model(archive.compilation_unit());
  ::torch::serialize::OutputArchive optimizing(archive.compilation_unit());
  parameters.save(model);
  optimizer.save(optimizing);
  archive.write("parameters", model);
  archive.write("optimizer", optimizing);
  archive.write("step", at::scalar_tensor(step, at::kLong));
  archive.write("generator", at::detail::getDefaultCPUGenerator().get_state(), true);
  // Whoever interrupts it finds the old file or the new one.
  const std::string unfinished = path + ".unfinished";
  try {
    archive.save_to(unfinished);
    std::filesystem::rename(unfinished, path);
  } catch (const std::exception& error) {
    throw FileError(path + ": the checkpoint cannot be written: " + error.what());
  }
}

std::int64_t read(const std::string& path, Parameters& parameters, ::torch::optim::Optimizer& optimizer) {
  try {
    ::torch::serialize::InputArchive archive;
    archive.load_from(path);
    ::torch::serialize::InputArchive model;
    ::torch::serialize::InputArchive optimizing;
    archive.read("parameters", model);
    archive.read("optimizer", optimizing);
    at::Tensor step;
    at::Tensor generator;
    archive.read("step", step);
    archive.read("generator", generator, true);
    parameters.load(model);
    optimizer.load(optimizing);
    at::Generator drawing = at::detail::getDefaultCPUGenerator();
    drawing.set_state(generator);
    return step.item<std::int64_t>();
  } catch (const c10::Error& error) {
    throw FileError(path + ": not a checkpoint of these parameters: " + error.what_without_backtrace());
  }
}

}  // namespace

std::vector<double> train(Parameters& parameters, ::torch::optim::Optimizer& optimizer,
                          const std::function<at::Tensor(std::int64_t)>& loss, const TrainOptions& options) {
  if (options.steps < 0 || options.checkpoint_every < 1) throw OptionError("steps or checkpoint_every is too small");
  std::int64_t step = 0;
  if (!options.checkpoint.empty() && std::filesystem::exists(options.checkpoint)) {
    step = read(options.checkpoint, parameters, optimizer);
  }
  std::vector<double> losses;
  bool wanted = true;
  while (wanted && step < options.steps) {
    optimizer.zero_grad();
    const at::Tensor value = loss(step);
    losses.push_back(value.item<double>());
    if (!std::isfinite(losses.back())) {
      throw ValueError("the loss of step " + std::to_string(step) + " is " + std::to_string(losses.back()));
    }
    value.backward();
    optimizer.step();
    ++step;
    if (options.progress) wanted = options.progress(step - 1, losses.back());
    const bool due = step % options.checkpoint_every == 0 || step == options.steps || !wanted;
    if (!options.checkpoint.empty() && due) write(options.checkpoint, parameters, optimizer, step);
  }
  return losses;
}

}  // namespace plated::torch
