// SPDX-License-Identifier: MIT OR Apache-2.0
// System calls of which the N-th fails once: each call of the table, in each way that it can.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <type_traits>
#include <vector>

#include "src/io/system_calls.h"

namespace andiron::test {

enum class Fault { error, interrupted, short_count };

inline const char* fault_name(Fault fault) {
  return fault == Fault::error ? "EIO" : fault == Fault::interrupted ? "EINTR" : "a short count";
}

struct FaultState {
  System real;
  Fault fault = Fault::error;
  int calls_left = 0;
  bool was_hit = false;
};
inline FaultState fault_state;

template <auto Member>
struct FaultyCall;
template <class R, class... Arguments, R (*System::*Member)(Arguments...)>
struct FaultyCall<Member> {
  static R call(Arguments... arguments) {
    FaultState& state = fault_state;
    const auto real = state.real.*Member;
    if (--state.calls_left != 0) return real(arguments...);
    state.was_hit = true;
    if (state.fault == Fault::short_count) return shortened(real, arguments...);
    // An interrupted or failed close has closed all the same.
    if constexpr (std::is_same_v<decltype(Member), decltype(&System::close)>) {
      if (Member == &System::close) real(arguments...);
    }
    errno = state.fault == Fault::error ? EIO : EINTR;
    if constexpr (std::is_pointer_v<R>) {
      return nullptr;
    } else {
      return static_cast<R>(-1);
    }
  }

 private:
  static R shortened(R (*real)(Arguments...), Arguments... arguments) {
    // The count is the only std::size_t that these calls have.
    const auto halve = [](auto& argument) {
      if constexpr (std::is_same_v<std::remove_reference_t<decltype(argument)>, std::size_t>) {
        argument = std::max<std::size_t>(argument / 2, 1);
      }
    };
    (halve(arguments), ...);
    return real(arguments...);
  }
};

struct FaultyEntry {
  const char* name;
  bool can_be_short;
  void (*install)(System&);
};

template <auto Member>
FaultyEntry faulty_entry(const char* name, bool can_be_short = false) {
  return {name, can_be_short, [](System& system) { system.*Member = FaultyCall<Member>::call; }};
}

// All calls that can fail.
inline std::vector<FaultyEntry> faulty_entries() {
  return {
      faulty_entry<&System::openat>("openat"),
      faulty_entry<&System::open_nameless>("open_nameless"),
      faulty_entry<&System::open_direct>("open_direct"),
      faulty_entry<&System::duplicate>("duplicate"),
      faulty_entry<&System::close>("close"),
      faulty_entry<&System::lock>("lock"),
      faulty_entry<&System::fstat>("fstat"),
      faulty_entry<&System::fstatat>("fstatat"),
      faulty_entry<&System::free_bytes>("free_bytes"),
      faulty_entry<&System::readlinkat>("readlinkat"),
      faulty_entry<&System::pread>("pread", true),
      faulty_entry<&System::map>("map"),
      faulty_entry<&System::unmap>("unmap"),
      faulty_entry<&System::advise_huge_pages>("advise_huge_pages"),
      faulty_entry<&System::pwrite>("pwrite", true),
      faulty_entry<&System::copy_file_range>("copy_file_range", true),
      faulty_entry<&System::clone_range>("clone_range"),
      faulty_entry<&System::fallocate>("fallocate"),
      faulty_entry<&System::ftruncate>("ftruncate"),
      faulty_entry<&System::fchown>("fchown"),
      faulty_entry<&System::fchmod>("fchmod"),
      faulty_entry<&System::flistxattr>("flistxattr"),
      faulty_entry<&System::fgetxattr>("fgetxattr"),
      faulty_entry<&System::fsetxattr>("fsetxattr"),
      faulty_entry<&System::start_writeback>("start_writeback"),
      faulty_entry<&System::fsync>("fsync"),
      faulty_entry<&System::linkat>("linkat"),
      faulty_entry<&System::renameat>("renameat"),
      faulty_entry<&System::rename_noreplace>("rename_noreplace"),
      faulty_entry<&System::rename_exchange>("rename_exchange"),
      faulty_entry<&System::unlinkat>("unlinkat"),
      faulty_entry<&System::real_path>("real_path"),
  };
}

// Runs `operation` again and again, each time with another call failing, until all have:
// prepare(), then the operation under the fault, then check(what failed).
template <class Prepare, class Operation, class Check>
int fail_each_call(Prepare prepare, Operation operation, Check check) {
  int runs = 0;
  const System working = system_calls();
  for (const FaultyEntry& entry : faulty_entries()) {
    for (const Fault fault : {Fault::error, Fault::interrupted, Fault::short_count}) {
      if (fault == Fault::short_count && !entry.can_be_short) continue;
      for (int at = 1;; ++at) {
        prepare();
        fault_state = {working, fault, at, false};
        entry.install(system_calls());
        operation();
        system_calls() = working;
        if (!fault_state.was_hit) break;
        ++runs;
        check(std::string(entry.name) + " " + std::to_string(at) + ": " + fault_name(fault));
      }
    }
  }
  return runs;
}

}  // namespace andiron::test
