// Whether the work of a call is still wanted, and how far it has come.
//
// A verb's caller may watch it through two callbacks: one is asked whether to stop, the other is told the share that is
// done. Work asks through its thread and not through its arguments: every loop, however deep, in every room, is under
// the same watch, and a room that has no callbacks in its interface (the planner, the kernels) can still be stopped.
//
//   const base::Watch watch(options.cancelled, options.progress);   // at the verb
//   base::Pace pace;                                                // in a loop, even without exceptions
//   for (...) if (pace.stops(elements)) return;
//   base::check_wanted();                                           // where exceptions are at home
//
// Callbacks are called on the caller's thread alone. Nothing that a watch does changes the bits of a result.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>

namespace plated::base {

class Watch;

/// Tells that a share of the current part of the work is done; on the caller's thread.
void tell_progress(double done);

namespace detail {

/// What a thread works for.
struct Watched {
  Watch* watch = nullptr;
  bool is_caller = false;  // else it helps out, and asks no callback
  int tasks = 0;           // it is inside of so many; none throws
};

[[nodiscard]] Watched& watched() noexcept;

}  // namespace detail

/// The callbacks of one call, for the work of this thread while the object lives.
class Watch {
 public:
  /// The callbacks may be empty, and must outlive the watch. Without any, who watched before goes on watching.
  Watch(const std::function<bool()>& cancelled, const std::function<void(double)>& progress);
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  /// All is done: tells 1, unless that was told already.
  void finish() const { tell_progress(1); }

 private:
  friend class Part;
  friend class Phases;
  friend bool stop_requested(double done) noexcept;
  friend void check_wanted();
  friend void ask_whether_wanted();
  friend void throw_if_stopped();
  friend void tell_progress(double done);

  using Clock = std::chrono::steady_clock;

  void ask();
  void tell(double done);
  void poll(double done) noexcept;
  void throw_if_stopped() const;

  const std::function<bool()>* cancelled_;
  const std::function<void(double)>* progress_;
  detail::Watched before_;
  std::atomic<bool> stopped_{false};
  std::exception_ptr thrown_;  // by a callback
  Clock::time_point next_question_;
  Clock::time_point next_report_;
  // The part of the call that is being done, and the share that was told last.
  double from_ = 0;
  double to_ = 1;
  double told_ = 0;
};

/// Whether this thread's work should be given up. On the caller's thread it asks, if the last time was a few
/// milliseconds ago, and tells that the share `done` of the current part is done.
[[nodiscard]] bool stop_requested(double done = 0) noexcept;

/// The same as an exception: CancelledError, or what a callback has thrown. Nothing inside a task.
void check_wanted();

/// check_wanted() that always asks: between the steps of a run.
void ask_whether_wanted();
/// check_wanted() that does not ask: where others have.
void throw_if_stopped();

/// A part of the work, from one share of what it is a part of to another, while the object lives. Shares that are told
/// meanwhile are shares of it. On other threads than the caller's it is nothing.
class Part {
 public:
  Part(double from, double to) noexcept;
  ~Part();
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;

 private:
  Watch* watch_;
  double from_ = 0;
  double to_ = 1;
};

/// Number k of n equal parts.
class PartOf : public Part {
 public:
  PartOf(std::int64_t k, std::int64_t n) noexcept
      : Part(static_cast<double>(k) / static_cast<double>(n), static_cast<double>(k + 1) / static_cast<double>(n)) {}
};

/// Parts of the work that follow each other, while the object lives; what is done between them tells nothing.
class Phases {
 public:
  Phases() noexcept;
  ~Phases();
  Phases(const Phases&) = delete;
  Phases& operator=(const Phases&) = delete;

  /// The next one, while the object lives: so much of the whole. Shares add up to at most 1.
  class Phase {
   public:
    ~Phase() { phases_.leave(); }
    Phase(const Phase&) = delete;
    Phase& operator=(const Phase&) = delete;

   private:
    friend class Phases;
    explicit Phase(Phases& phases) noexcept : phases_(phases) {}
    Phases& phases_;
  };
  [[nodiscard]] Phase next(double share) noexcept;

 private:
  void leave() noexcept;

  Watch* watch_;
  double from_ = 0;
  double to_ = 1;
  double done_ = 0;
};

/// While it lives this thread is inside a task, where nothing is thrown.
class Task {
 public:
  Task() noexcept { ++detail::watched().tasks; }
  ~Task() { --detail::watched().tasks; }
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;
};

/// While it lives this thread works for another one's call.
class Helper {
 public:
  explicit Helper(Watch* watch) noexcept : before_(detail::watched()) { detail::watched() = {watch, false, 0}; }
  ~Helper() { detail::watched() = before_; }
  Helper(const Helper&) = delete;
  Helper& operator=(const Helper&) = delete;

 private:
  detail::Watched before_;
};

/// Counts the work of a loop and asks now and then: often enough to be quick, so seldom that it costs nothing.
class Pace {
 public:
  /// `total` is the work of the whole loop, for its share of the progress; 0 where it is not known.
  explicit Pace(double total = 0) noexcept : total_(total) {}

  /// Notes so much more work, in operations of about a nanosecond. True, from then on: the work is to be given up.
  [[nodiscard]] bool stops(std::int64_t work) noexcept {
    since_ += work;
    return since_ >= between_questions && asks();
  }

 private:
  static constexpr std::int64_t between_questions = 1 << 17;
  [[nodiscard]] bool asks() noexcept;

  std::int64_t since_ = 0;
  double done_ = 0;
  double total_;
};

}  // namespace plated::base
