// Returns the message of an exception of an exact type.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <typeinfo>

namespace plated::test {

/// The message of the Expected that `action` throws; a failure where it throws nothing or a type derived from it.
template <class Expected, class Action>
std::string message_of(const Action& action) {
  try {
    action();
  } catch (const Expected& error) {
    EXPECT_EQ(typeid(error), typeid(Expected)) << error.what();
    return error.what();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "threw another type: " << error.what();
    return {};
  }
  ADD_FAILURE() << "threw nothing";
  return {};
}

}  // namespace plated::test

/// Each fragment is part of the message.
#define EXPECT_SAYS(message, fragment) \
  EXPECT_NE(std::string(message).find(fragment), std::string::npos) << "the message was: " << (message)
