// Lifeline: lets callbacks outlive the object they speak to.
#pragma once

#include <memory>
#include <utility>

namespace gang::binder {

/// A member of an object that hands out callbacks: a guarded callback does nothing once the object
/// is gone. Owned by that object; guarded functions run on the binder's thread only, so the test
/// and the call cannot be separated by a destruction.
class Lifeline {
 public:
  Lifeline() : token_(std::make_shared<const char>('x')) {}
  Lifeline(const Lifeline&) = delete;
  Lifeline& operator=(const Lifeline&) = delete;

  /// `function`, run only while this object lives.
  template <class Function>
  [[nodiscard]] auto guard(Function function) const {
    return [watch = watch(), function = std::move(function)](auto&&... arguments) mutable {
      if (!watch.expired()) function(std::forward<decltype(arguments)>(arguments)...);
    };
  }

  /// Expired once this object is gone.
  [[nodiscard]] std::weak_ptr<const char> watch() const { return token_; }

 private:
  std::shared_ptr<const char> token_;
};

}  // namespace gang::binder
