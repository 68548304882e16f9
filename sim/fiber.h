// fiber.h — A stackful coroutine that may be abandoned and started again.
// SPDX-License-Identifier: MIT
//
// Over Boost.Context's fcontext, with the sanitizers' fibre hooks. An abandoned fibre's stack is reused, never unwound:
// unwinding would run through `noexcept` locks. So nothing on a fibre's stack may own memory when it is abandoned. One
// thread only.
#pragma once

#include <sys/mman.h>

#include <boost/context/detail/fcontext.hpp>
#include <cstddef>
#include <cstdlib>

#if defined(__SANITIZE_ADDRESS__)
#define CONVOY_FIBER_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CONVOY_FIBER_ASAN 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define CONVOY_FIBER_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define CONVOY_FIBER_TSAN 1
#endif
#endif

#if defined(CONVOY_FIBER_ASAN)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(CONVOY_FIBER_TSAN)
#include <sanitizer/tsan_interface.h>
#endif

namespace convoy {

class Fiber {
 public:
  using Body = void (*)(void* argument);

  explicit Fiber(std::size_t stack_bytes = 64 * 1024)
      : Fiber(static_cast<std::byte*>(
                  mmap(nullptr, stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)),
              stack_bytes) {
    owns_stack_ = true;
    if (stack_ == MAP_FAILED) std::abort();
  }
  // On memory of the caller's, which must outlive the fibre.
  Fiber(std::byte* stack, std::size_t stack_bytes) : stack_(stack), stack_bytes_(stack_bytes) {
#if defined(CONVOY_FIBER_TSAN)
    tsan_fiber_ = __tsan_create_fiber(0);
#endif
  }
  ~Fiber() {
#if defined(CONVOY_FIBER_TSAN)
    __tsan_destroy_fiber(tsan_fiber_);
#endif
    if (owns_stack_) munmap(stack_, stack_bytes_);
  }
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // Makes the next resume() begin body(argument) on an empty stack, whatever the fibre was doing before.
  void start(Body body, void* argument) {
    body_ = body;
    argument_ = argument;
#if defined(CONVOY_FIBER_ASAN)
    __asan_unpoison_memory_region(stack_, stack_bytes_);
#endif
#if defined(CONVOY_FIBER_TSAN)
    // The frames that were abandoned stay on the sanitizer's own stack; a new one costs 0.3 ms, so not every time.
    if (++starts_ % 256 == 0) {
      __tsan_destroy_fiber(tsan_fiber_);
      tsan_fiber_ = __tsan_create_fiber(0);
    }
#endif
    context_ = boost::context::detail::make_fcontext(stack_ + stack_bytes_, stack_bytes_, &Fiber::enter);
  }

  // Runs the fibre until it yields. Body must not return: it yields for ever when done.
  void resume() {
#if defined(CONVOY_FIBER_ASAN)
    void* fake_stack = nullptr;
    __sanitizer_start_switch_fiber(&fake_stack, stack_, stack_bytes_);
#endif
#if defined(CONVOY_FIBER_TSAN)
    tsan_resumer_ = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(tsan_fiber_, 0);
#endif
    context_ = boost::context::detail::jump_fcontext(context_, this).fctx;
#if defined(CONVOY_FIBER_ASAN)
    __sanitizer_finish_switch_fiber(fake_stack, nullptr, nullptr);
#endif
  }

  // Called on the fibre: goes back to the resumer.
  void yield() {
#if defined(CONVOY_FIBER_ASAN)
    void* fake_stack = nullptr;
    __sanitizer_start_switch_fiber(&fake_stack, resumer_stack_, resumer_stack_bytes_);
#endif
#if defined(CONVOY_FIBER_TSAN)
    __tsan_switch_to_fiber(tsan_resumer_, 0);
#endif
    resumer_ = boost::context::detail::jump_fcontext(resumer_, nullptr).fctx;
#if defined(CONVOY_FIBER_ASAN)
    __sanitizer_finish_switch_fiber(fake_stack, &resumer_stack_, &resumer_stack_bytes_);
#endif
  }

 private:
  static void enter(boost::context::detail::transfer_t from) {
    auto* fiber = static_cast<Fiber*>(from.data);
    fiber->resumer_ = from.fctx;
#if defined(CONVOY_FIBER_ASAN)
    __sanitizer_finish_switch_fiber(nullptr, &fiber->resumer_stack_, &fiber->resumer_stack_bytes_);
#endif
    fiber->body_(fiber->argument_);
    std::abort();
  }

  std::byte* stack_;
  std::size_t stack_bytes_;
  bool owns_stack_ = false;
  Body body_ = nullptr;
  void* argument_ = nullptr;
  boost::context::detail::fcontext_t context_ = nullptr;
  boost::context::detail::fcontext_t resumer_ = nullptr;
#if defined(CONVOY_FIBER_ASAN)
  const void* resumer_stack_ = nullptr;
  std::size_t resumer_stack_bytes_ = 0;
#endif
#if defined(CONVOY_FIBER_TSAN)
  void* tsan_fiber_ = nullptr;
  void* tsan_resumer_ = nullptr;
  unsigned starts_ = 0;
#endif
};

}  // namespace convoy
