// A call's watch: who is asked, when, and what is told.
#include "base/watch.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>
#include <vector>

#include "base/watched_resize.hpp"
#include "plated/error.hpp"

namespace plated::base {
namespace {

const std::function<bool()> nobody_asks;
const std::function<void(double)> nobody_listens;

void wait_a_little() { std::this_thread::sleep_for(std::chrono::milliseconds(25)); }

TEST(Watch, WithoutCallbacksStopsNothing) {
  const Watch watch(nobody_asks, nobody_listens);
  EXPECT_FALSE(stop_requested());
  EXPECT_NO_THROW(check_wanted());
  EXPECT_NO_THROW(tell_progress(1));
}

TEST(Watch, AsksAtIntervalsAndAlwaysBetweenSteps) {
  int asked = 0;
  const std::function<bool()> cancelled = [&] { return ++asked, false; };
  const Watch watch(cancelled, nobody_listens);
  for (int k = 0; k < 1000; ++k) (void)stop_requested();
  EXPECT_LT(asked, 500);
  asked = 0;
  for (int k = 0; k < 10; ++k) ask_whether_wanted();
  EXPECT_EQ(asked, 10);
  wait_a_little();
  EXPECT_FALSE(stop_requested());
  EXPECT_EQ(asked, 11);
}

TEST(Watch, ThrowsWhatACallbackThrew) {
  const std::function<bool()> cancelled = []() -> bool { throw std::domain_error("its own"); };
  const Watch watch(cancelled, nobody_listens);
  wait_a_little();
  EXPECT_TRUE(stop_requested());
  EXPECT_THROW(check_wanted(), std::domain_error);
}

TEST(Watch, LeavesTheCallbackUnwatched) {
  int asked = 0;
  const std::function<bool()> cancelled = [&] {
    ++asked;
    wait_a_little();
    EXPECT_FALSE(stop_requested()) << "asked while it answers";
    return true;
  };
  const Watch watch(cancelled, nobody_listens);
  EXPECT_THROW(ask_whether_wanted(), CancelledError);
  EXPECT_EQ(asked, 1);
}

TEST(Watch, ReachesIntoCallsThatHaveNone) {
  const std::function<bool()> cancelled = [] { return true; };
  const Watch outer(cancelled, nobody_listens);
  {
    const Watch inner(nobody_asks, nobody_listens);
    EXPECT_THROW(ask_whether_wanted(), CancelledError);
  }
  EXPECT_THROW(ask_whether_wanted(), CancelledError);
}

TEST(Watch, EndsWithItsScope) {
  const std::function<bool()> cancelled = [] { return true; };
  { const Watch watch(cancelled, nobody_listens); }
  EXPECT_NO_THROW(ask_whether_wanted());
}

TEST(Watch, AsksNobodyOnAHelpersThread) {
  int asked = 0;
  const std::function<bool()> cancelled = [&] { return ++asked, false; };
  const Watch watch(cancelled, nobody_listens);
  Watch* const here = detail::watched().watch;
  std::thread([&] {
    const Helper helper(here);
    wait_a_little();
    EXPECT_FALSE(stop_requested());
  }).join();
  EXPECT_EQ(asked, 0);
}

class Shares {
 public:
  const std::function<void(double)> told = [this](double share) { list.push_back(share); };
  std::vector<double> list;
};

TEST(Progress, IsToldInSharesOfParts) {
  Shares shares;
  const Watch watch(nobody_asks, shares.told);
  {
    const Part half(0, 0.5);
    tell_progress(0.5);
    const PartOf last(1, 2);
    tell_progress(0.5);
    tell_progress(1);
  }
  tell_progress(0.75);
  watch.finish();
  EXPECT_EQ(shares.list, (std::vector<double>{0.25, 0.375, 0.5, 0.75, 1}));
}

TEST(Progress, NeverFallsNorRepeats) {
  Shares shares;
  const Watch watch(nobody_asks, shares.told);
  tell_progress(0.5);
  tell_progress(0.25);
  tell_progress(0.5);
  tell_progress(1);
  watch.finish();
  EXPECT_EQ(shares.list, (std::vector<double>{0.5, 1}));
}

TEST(Progress, OfPhasesIsTheirSum) {
  Shares shares;
  const Watch watch(nobody_asks, shares.told);
  {
    Phases phases;
    {
      const auto phase = phases.next(0.25);
      tell_progress(1);
    }
    tell_progress(1);  // between phases: nothing new
    {
      const auto phase = phases.next(0.5);
      tell_progress(0.5);
    }
  }
  watch.finish();
  EXPECT_EQ(shares.list, (std::vector<double>{0.25, 0.5, 1}));
}

TEST(Pace, StopsNestedLoopsOnceStopped) {
  const std::function<bool()> cancelled = [] { return true; };
  const Watch watch(cancelled, nobody_listens);
  wait_a_little();
  Pace pace;
  EXPECT_FALSE(pace.stops(1)) << "too little work to ask";
  EXPECT_TRUE(pace.stops(1'000'000'000));
  EXPECT_TRUE(pace.stops(0));
}

TEST(Pace, TellsTheShareOfItsLoop) {
  Shares shares;
  const Watch watch(nobody_asks, shares.told);
  Pace pace(4e9);
  wait_a_little();
  EXPECT_FALSE(pace.stops(1'000'000'000));
  wait_a_little();
  EXPECT_FALSE(pace.stops(2'000'000'000));
  EXPECT_EQ(shares.list, (std::vector<double>{0.25, 0.75}));
}

TEST(WatchedResize, FillsAndStops) {
  std::vector<int> list;
  watched_resize(list, 3'000'000, 7);
  ASSERT_EQ(list.size(), 3'000'000U);
  EXPECT_EQ(list.front() + list.back(), 14);
  const std::function<bool()> cancelled = [] { return true; };
  const Watch watch(cancelled, nobody_listens);
  wait_a_little();
  std::vector<int> another;
  EXPECT_THROW(watched_resize(another, 1'000), CancelledError);
}

}  // namespace
}  // namespace plated::base
