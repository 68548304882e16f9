// annotations.h — Clang's thread-safety attributes, and nothing elsewhere.
// SPDX-License-Identifier: MIT
#pragma once

#if defined(__clang__)
#define CONVOY_TSA(x) __attribute__((x))
#else
#define CONVOY_TSA(x)
#endif

#define CONVOY_CAPABILITY(name) CONVOY_TSA(capability(name))
#define CONVOY_SCOPED_CAPABILITY CONVOY_TSA(scoped_lockable)
#define CONVOY_ACQUIRE(...) CONVOY_TSA(acquire_capability(__VA_ARGS__))
#define CONVOY_ACQUIRE_SHARED(...) CONVOY_TSA(acquire_shared_capability(__VA_ARGS__))
#define CONVOY_RELEASE(...) CONVOY_TSA(release_capability(__VA_ARGS__))
#define CONVOY_RELEASE_SHARED(...) CONVOY_TSA(release_shared_capability(__VA_ARGS__))
#define CONVOY_RELEASE_GENERIC(...) CONVOY_TSA(release_generic_capability(__VA_ARGS__))
#define CONVOY_TRY_ACQUIRE(...) CONVOY_TSA(try_acquire_capability(__VA_ARGS__))
#define CONVOY_TRY_ACQUIRE_SHARED(...) CONVOY_TSA(try_acquire_shared_capability(__VA_ARGS__))
#define CONVOY_GUARDED_BY(x) CONVOY_TSA(guarded_by(x))
#define CONVOY_REQUIRES(...) CONVOY_TSA(requires_capability(__VA_ARGS__))
#define CONVOY_NO_TSA CONVOY_TSA(no_thread_safety_analysis)
