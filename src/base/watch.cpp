// Asks and tells the callbacks of a call, at intervals.
#include "base/watch.hpp"

#include <algorithm>

#include "plated/error.hpp"

namespace plated::base {
namespace {

// A callback may be slow: inside of a step it is asked and told no more often than this.
constexpr auto question_interval = std::chrono::milliseconds(2);
constexpr auto report_interval = std::chrono::milliseconds(20);

/// What a callback does is not this call's work.
class OffDuty {
 public:
  OffDuty() : before_(detail::watched()) { detail::watched() = {}; }
  ~OffDuty() { detail::watched() = before_; }
  OffDuty(const OffDuty&) = delete;
  OffDuty& operator=(const OffDuty&) = delete;

 private:
  detail::Watched before_;
};

}  // namespace

detail::Watched& detail::watched() noexcept {
  thread_local Watched here;
  return here;
}

Watch::Watch(const std::function<bool()>& cancelled, const std::function<void(double)>& progress)
    : cancelled_(cancelled ? &cancelled : nullptr),
      progress_(progress ? &progress : nullptr),
      before_(detail::watched()) {
  if (cancelled_ == nullptr && progress_ == nullptr) return;
  const Clock::time_point now = Clock::now();
  next_question_ = now + question_interval;
  next_report_ = now + report_interval;
  detail::watched() = {this, true, 0};
}

Watch::~Watch() { detail::watched() = before_; }

void Watch::ask() {
  if (cancelled_ == nullptr) return;
  const OffDuty callback;
  if ((*cancelled_)()) stopped_.store(true, std::memory_order_relaxed);
}

/// Shares never fall: what comes after a part that was cut short starts behind it.
void Watch::tell(double done) {
  if (progress_ == nullptr) return;
  const double share = done < 1 ? from_ + (to_ - from_) * done : to_;
  if (share <= told_) return;
  told_ = share;
  const OffDuty callback;
  (*progress_)(share);
}

void Watch::poll(double done) noexcept {
  if (stopped_.load(std::memory_order_relaxed)) return;  // its caller is not asked again
  const Clock::time_point now = Clock::now();
  if (now < next_question_) return;
  try {
    ask();
    if (now >= next_report_) {
      tell(done);
      next_report_ = Clock::now() + report_interval;
    }
  } catch (...) {
    thrown_ = std::current_exception();
    stopped_.store(true, std::memory_order_relaxed);
  }
  next_question_ = Clock::now() + question_interval;
}

void Watch::throw_if_stopped() const {
  if (!stopped_.load(std::memory_order_relaxed)) return;
  if (thrown_) std::rethrow_exception(thrown_);
  throw CancelledError("the run was cancelled");
}

bool stop_requested(double done) noexcept {
  const detail::Watched& here = detail::watched();
  if (here.watch == nullptr) return false;
  if (here.is_caller) here.watch->poll(done);
  return here.watch->stopped_.load(std::memory_order_relaxed);
}

namespace {

/// The watch of this thread's own call, where exceptions may be thrown.
Watch* own_watch() {
  const detail::Watched& here = detail::watched();
  return here.is_caller && here.tasks == 0 ? here.watch : nullptr;
}

}  // namespace

void check_wanted() {
  Watch* const watch = own_watch();
  if (watch == nullptr) return;
  watch->poll(0);
  watch->throw_if_stopped();
}

void ask_whether_wanted() {
  Watch* const watch = own_watch();
  if (watch == nullptr) return;
  watch->throw_if_stopped();
  watch->ask();
  watch->throw_if_stopped();
}

void throw_if_stopped() {
  if (const Watch* const watch = own_watch()) watch->throw_if_stopped();
}

void tell_progress(double done) {
  if (Watch* const watch = own_watch()) watch->tell(done);
}

Part::Part(double from, double to) noexcept : watch_(detail::watched().is_caller ? detail::watched().watch : nullptr) {
  if (watch_ == nullptr) return;
  from_ = watch_->from_;
  to_ = watch_->to_;
  watch_->from_ = from_ + (to_ - from_) * from;
  if (to < 1) watch_->to_ = from_ + (to_ - from_) * to;
}

Part::~Part() {
  if (watch_ == nullptr) return;
  watch_->from_ = from_;
  watch_->to_ = to_;
}

Phases::Phases() noexcept : watch_(detail::watched().is_caller ? detail::watched().watch : nullptr) {
  if (watch_ == nullptr) return;
  from_ = watch_->from_;
  to_ = watch_->to_;
  leave();
}

Phases::~Phases() {
  if (watch_ == nullptr) return;
  watch_->from_ = from_;
  watch_->to_ = to_;
}

Phases::Phase Phases::next(double share) noexcept {
  done_ = std::min(1.0, done_ + share);
  if (watch_ != nullptr) watch_->to_ = from_ + (to_ - from_) * done_;
  return Phase(*this);
}

void Phases::leave() noexcept {
  if (watch_ != nullptr) watch_->from_ = watch_->to_ = from_ + (to_ - from_) * done_;
}

bool Pace::asks() noexcept {
  done_ += static_cast<double>(since_);
  // Once stopped it stops every time, so that nested loops all end.
  if (stop_requested(total_ > 0 ? std::min(1.0, done_ / total_) : 0)) return true;
  since_ = 0;
  return false;
}

}  // namespace plated::base
