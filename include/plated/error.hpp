// The exceptions that Plated throws: one type for each kind of user error.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace plated {

/// Base of every exception Plated throws on purpose.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// An equation or a name that cannot be read; the message points at the column.
class ParseError : public Error {
 public:
  using Error::Error;
};

/// Operands whose shapes do not fit the model; RankError and SizeError say how.
class ShapeError : public Error {
 public:
  using Error::Error;
};

/// An operand with more or fewer axes than its term has dims.
class RankError : public ShapeError {
 public:
  using ShapeError::ShapeError;
};

/// A dim with two sizes, or a size that is negative.
class SizeError : public ShapeError {
 public:
  using ShapeError::ShapeError;
};

/// Sizes whose product does not fit in 63 bits.
class SizeOverflowError : public ShapeError {
 public:
  using ShapeError::ShapeError;
};

/// A tensor to write into that overlaps itself, an operand or another output in memory.
class OverlapError : public ShapeError {
 public:
  using ShapeError::ShapeError;
};

/// A name that nothing declares.
class UnknownNameError : public Error {
 public:
  using Error::Error;
};

/// A name declared twice, or a dim written twice where only one makes sense.
class DuplicateNameError : public Error {
 public:
  using Error::Error;
};

/// Plates that do not fit: a factor outside a plate of its variable, or outputs that disagree on P(v).
class PlateError : public Error {
 public:
  using Error::Error;
};

/// More or fewer operands than the model has factors.
class OperandCountError : public Error {
 public:
  using Error::Error;
};

/// An operand without data.
class NullDataError : public Error {
 public:
  using Error::Error;
};

/// An operand entry that the semiring does not admit (NaN, the wrong infinity, a negative weight), or a
/// conditional factor that does not sum to one.
class ValueError : public Error {
 public:
  using Error::Error;
};

/// An option whose value makes no sense, alone or together with another.
class OptionError : public Error {
 public:
  using Error::Error;
};

/// A model, or its evidence, under which every assignment has weight zero: there is no posterior.
class ImpossibleError : public Error {
 public:
  using Error::Error;
};

/// A file that cannot be opened, read or written; the message is one line that begins with its name.
class FileError : public Error {
 public:
  using Error::Error;
};

/// A file that is not what it claims to be: "model.uai:12: reason", one line. Line 0 is the file as a whole.
class FormatError : public FileError {
 public:
  FormatError(const std::string& file, std::int64_t line, const std::string& reason)
      : FileError(file + (line > 0 ? ":" + std::to_string(line) : "") + ": " + reason), file_(file), line_(line) {}
  [[nodiscard]] const std::string& file() const { return file_; }
  [[nodiscard]] std::int64_t line() const { return line_; }

 private:
  std::string file_;
  std::int64_t line_;
};

/// A run that was asked to stop by its cancellation callback.
class CancelledError : public Error {
 public:
  using Error::Error;
};

/// A plan that needs more memory than it may take; nothing has been allocated.
class MemoryLimitError : public Error {
 public:
  MemoryLimitError(const std::string& message, std::int64_t bytes_needed, std::int64_t limit)
      : Error(message), bytes_needed_(bytes_needed), limit_(limit) {}
  [[nodiscard]] std::int64_t bytes_needed() const { return bytes_needed_; }
  [[nodiscard]] std::int64_t limit() const { return limit_; }

 private:
  std::int64_t bytes_needed_;
  std::int64_t limit_;
};

/// The forbidden minor of [TVE] Thm. 1 that a graph contains: variable `u` in plate `a` but not in `b`, variable
/// `w` in `b` but not in `a`, joined by `factors`, each of which lies in both plates.
struct Certificate {
  std::string u;
  std::string w;
  std::string a;
  std::string b;
  /// A path: the first factor holds u, the last holds w, neighbours share a variable that lies in both plates.
  std::vector<std::string> factors;
};

/// A repair of an intractable graph: plates to unroll (FactorGraph::unroll), and the cost of the plan then.
struct Repair {
  std::vector<std::string> unroll;
  double flops = 0;
  std::int64_t peak_bytes = 0;  ///< memory for intermediates, in float32
};

/// A graph whose cost is exponential in a plate's size, if the exponential time hypothesis holds ([TVE] Thm. 2), with
/// the reason as data.
class IntractableError : public Error {
 public:
  IntractableError(const std::string& message, Certificate certificate, std::vector<Repair> repairs = {})
      : Error(message), certificate_(std::move(certificate)), repairs_(std::move(repairs)) {}
  [[nodiscard]] const Certificate& certificate() const { return certificate_; }
  /// Cheapest first; empty where unrolling the certificate's plates makes the graph too large to plan or does not help.
  [[nodiscard]] const std::vector<Repair>& repairs() const { return repairs_; }

 private:
  Certificate certificate_;
  std::vector<Repair> repairs_;
};

}  // namespace plated
