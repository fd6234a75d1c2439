// SPDX-License-Identifier: MIT OR Apache-2.0
// Saves that fail, are killed or lose power: a model is the old one or the new one, whole.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <thread>

#include "andiron/file.h"
#include "andiron/open.h"
#include "andiron/write.h"
#include "tests/support/faulty_system.h"
#include "tests/support/long_tests.h"
#include "tests/support/power_cut.h"
#include "tests/support/temp_dir.h"
#include "tests/support/uniform_archive.h"

namespace andiron {
namespace {

constexpr int tensors = 5;

// Every element of a model is its version, so that a mix of two shows.
Archive version(int number) { return test::uniform_archive(tensors, static_cast<float>(number)); }

// The version of a model; nothing for one that cannot be opened or read, or is a mix.
std::optional<int> version_at(const std::string& path) {
  const Result<Archive> archive = open(path);
  if (!archive || archive->size() != tensors) return {};
  std::optional<int> number;
  for (std::size_t i = 0; i < archive->size(); ++i) {
    const Result<Tensor> tensor = archive->snapshot(i).read();
    if (!tensor) return {};
    for (const float value : tensor->to_vector<float>().value()) {
      if (number && *number != static_cast<int>(value)) return {};
      number = static_cast<int>(value);
    }
  }
  return number;
}

struct Form {
  const char* name;
  std::uint64_t shard_bytes;  // 0 for one file
};
constexpr Form single{"single", 0};
constexpr Form shards{"shards", 80};

Result<WriteReport> save(int number, const std::string& path, const Form& form) {
  return write(version(number), path, {.overwrite = true, .max_shard_bytes = form.shard_bytes});
}

std::size_t files_of(const Form& form) { return form.shard_bytes == 0 ? 1 : 4; }

struct Change {
  std::optional<Form> from;  // nothing: there is no old model
  Form to;

  friend void PrintTo(const Change& change, std::ostream* out) {
    *out << (change.from ? change.from->name : "nothing") << "_to_" << change.to.name;
  }
};

// Flushing takes most of the time of a save, and these make thousands.
class WithoutFlushing {
 public:
  WithoutFlushing() {
    system_calls().fsync = [](int) { return 0; };
  }
  ~WithoutFlushing() { system_calls() = saved_; }
  WithoutFlushing(const WithoutFlushing&) = delete;
  WithoutFlushing& operator=(const WithoutFlushing&) = delete;

 private:
  const System saved_ = system_calls();
};

class SaveFaults : public ::testing::TestWithParam<Change> {
 protected:
  void start_over() {
    for (const std::string& name : folder_.names()) std::filesystem::remove(folder_.file(name));
    if (GetParam().from) save(1, path_, *GetParam().from).value();
  }
  std::optional<int> old_version() const {
    return GetParam().from ? std::optional<int>(1) : std::nullopt;
  }

  const test::TempDir folder_;
  const std::string path_ = folder_.file("model.safetensors");
  const WithoutFlushing quickly_;
};

INSTANTIATE_TEST_SUITE_P(Changes, SaveFaults,
                         ::testing::Values(Change{std::nullopt, single},
                                           Change{std::nullopt, shards}, Change{single, single},
                                           Change{shards, shards}, Change{single, shards},
                                           Change{shards, single}),
                         testing::PrintToStringParamName());

TEST_P(SaveFaults, EveryCallFailsOnceAndTheModelIsWhole) {
  std::optional<Result<WriteReport>> result;
  const int runs =
      test::fail_each_call([&] { start_over(); }, [&] { result = save(2, path_, GetParam().to); },
                           [&](const std::string& fault) {
                             SCOPED_TRACE(fault);
                             const std::optional<int> found = version_at(path_);
                             if (*result) {
                               EXPECT_EQ(found, 2);
                             } else {
                               EXPECT_TRUE(found == old_version() || found == 2) << result->error();
                               EXPECT_NE(result->error().code, ErrorCode::already_exists);
                             }
                             // Opened as a folder, it is the same model.
                             EXPECT_EQ(version_at(folder_.path()), found);
                             // The next save tidies up.
                             ASSERT_TRUE(save(3, path_, GetParam().to));
                             EXPECT_EQ(version_at(path_), 3);
                             EXPECT_EQ(folder_.names().size(), files_of(GetParam().to));
                           });
  EXPECT_GT(runs, 20);
}

TEST_P(SaveFaults, AFlushThatFailsSaysWhatIsInPlace) {
  static int flushes_left;
  const auto quickly = system_calls().fsync;
  int failures = 0;
  for (int n = 1;; ++n) {
    start_over();
    flushes_left = n;
    system_calls().fsync = [](int) {
      errno = EIO;
      return --flushes_left == 0 ? -1 : 0;
    };
    const Result<WriteReport> result = save(2, path_, GetParam().to);
    system_calls().fsync = quickly;
    if (flushes_left > 0) break;
    if (result) continue;  // of what a killed save left, nothing was removed
    ++failures;
    const std::string& found = result.error().found;
    const bool says_old = found.find("not in place") != std::string::npos ||
                          found.find("readers take the single file") != std::string::npos;
    const bool says_new = !says_old && found.find("in place") != std::string::npos;
    const std::optional<int> version = version_at(path_);
    EXPECT_EQ(says_old, version == old_version()) << n << ": " << result.error();
    EXPECT_EQ(says_new, version == 2) << n << ": " << result.error();
  }
  EXPECT_GT(failures, 1);
}

TEST_P(SaveFaults, APowerCutLeavesTheOldOrTheNewModel) {
  start_over();
  test::PowerCut disk(folder_.path());
  ASSERT_TRUE(save(2, path_, GetParam().to));
  disk.stop();
  const std::uint32_t seeds = test::is_long_run() ? 200 : 12;
  for (std::size_t count = 0; count <= disk.steps(); ++count) {
    for (std::uint32_t seed = 0; seed < seeds; ++seed) {
      SCOPED_TRACE("after step " + std::to_string(count) + ", seed " + std::to_string(seed));
      const test::TempDir after;
      disk.make_folder(after.path(), count, seed);
      const std::optional<int> found = version_at(after.file("model.safetensors"));
      EXPECT_TRUE(found == 2 || (found == old_version() && count < disk.steps()));
      // A save afterwards works, and leaves nothing of what was lost.
      if (seed > 3) continue;
      ASSERT_TRUE(save(3, after.file("model.safetensors"), GetParam().to));
      EXPECT_EQ(version_at(after.path()), 3);
    }
  }
}

TEST_P(SaveFaults, APowerCutAfterAKillLeavesOneOfTheModels) {
  test::takes_long("it cuts the power after every step that follows every kill");
  const std::uint32_t seeds = test::is_long_run() ? 50 : 2;
  for (std::size_t killed_at = 0, all = 1; killed_at < all; ++killed_at) {
    start_over();
    test::PowerCut disk(folder_.path());
    disk.kill_after(killed_at);
    const bool was_saved = save(2, path_, GetParam().to).ok();
    const std::size_t steps = disk.steps();
    // As many as a save has.
    all = was_saved ? killed_at : killed_at + 2;
    disk.start_another();
    ASSERT_TRUE(save(3, path_, GetParam().to));
    disk.stop();
    for (std::size_t count = steps; count <= disk.steps(); ++count) {
      for (std::uint32_t seed = 0; seed < seeds; ++seed) {
        SCOPED_TRACE("killed at " + std::to_string(killed_at) + ", cut after " +
                     std::to_string(count) + ", seed " + std::to_string(seed));
        const test::TempDir after;
        disk.make_folder(after.path(), count, seed);
        const std::optional<int> found = version_at(after.file("model.safetensors"));
        EXPECT_TRUE(found == 3 || (count < disk.steps() && (found == 2 || found == old_version())));
      }
    }
  }
}

TEST_P(SaveFaults, AKilledProcessLeavesTheOldOrTheNewModelAndTheNextSaveTidiesUp) {
  const int kills = test::is_long_run() ? 500 : 12;
  int killed_early = 0;
  for (int i = 0; i < kills; ++i) {
    start_over();
    const pid_t child = ::fork();
    if (child == 0) {
      static_cast<void>(save(2, path_, GetParam().to));
      ::_exit(0);
    }
    std::this_thread::sleep_for(std::chrono::microseconds(37 * (i % 97)));
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    killed_early += WIFSIGNALED(status);
    const std::optional<int> found = version_at(path_);
    EXPECT_TRUE(found == 2 || found == old_version());
    ASSERT_TRUE(save(3, path_, GetParam().to));
    EXPECT_EQ(version_at(path_), 3);
    EXPECT_EQ(folder_.names().size(), files_of(GetParam().to));
  }
  EXPECT_GT(killed_early, 0);
}

TEST(SaveOverReaders, AReaderGetsOneVersionOrAnErrorThatSaysSo) {
  const WithoutFlushing quickly;
  const test::TempDir folder;
  const std::string path = folder.file("model.safetensors");
  ASSERT_TRUE(save(1, path, shards));
  std::atomic<bool> is_done = false;
  std::thread writer([&] {
    for (int number = 2; number < 60; ++number) {
      // Also between one file and shards.
      static_cast<void>(save(number, path, number % 3 == 0 ? single : shards));
    }
    is_done = true;
  });
  int opened = 0;
  while (!is_done) {
    const Result<Archive> archive = open(path);
    if (!archive) {
      EXPECT_EQ(archive.error().code, ErrorCode::file_changed) << archive.error();
      continue;
    }
    ++opened;
    std::optional<float> number;
    for (std::size_t i = 0; i < archive->size(); ++i) {
      const float value = archive->snapshot(i).read().value().to_vector<float>().value()[0];
      EXPECT_EQ(value, number.value_or(value)) << "a mix";
      number = value;
    }
  }
  writer.join();
  EXPECT_GT(opened, 0);
}

TEST(SaveOverSaves, TwoWritersLeaveOneModel) {
  const WithoutFlushing quickly;
  const test::TempDir folder;
  const std::string path = folder.file("model.safetensors");
  ASSERT_TRUE(save(1, path, shards));
  // One of them also makes a single file of it, now and then.
  const auto save_often = [&](int first, const Form& other_form) {
    for (int number = first; number < first + 30; ++number) {
      EXPECT_TRUE(save(number, path, number % 2 == 0 ? shards : other_form));
    }
  };
  std::thread other(save_often, 100, single);
  save_often(200, shards);
  other.join();
  EXPECT_TRUE(version_at(path));
  ASSERT_TRUE(save(300, path, shards));
  EXPECT_EQ(version_at(path), 300);
  EXPECT_EQ(folder.names().size(), files_of(shards));
}

// File systems that lack what the best way needs, each and all at once.
TEST_P(SaveFaults, SavesWorkWhereTheSystemCannotDoEverything) {
  const System working = system_calls();
  const auto lacks = [](auto& call) { call = [](auto...) -> int { return errno = ENOSYS, -1; }; };
  for (int missing = 0; missing < 16; ++missing) {
    SCOPED_TRACE(missing);
    system_calls() = working;
    start_over();
    if ((missing & 1) != 0) lacks(system_calls().open_nameless);
    if ((missing & 2) != 0) lacks(system_calls().rename_exchange);
    if ((missing & 4) != 0) lacks(system_calls().rename_noreplace);
    if ((missing & 8) != 0) lacks(system_calls().lock);
    for (const int number : {2, 3}) {
      const Result<WriteReport> saved = save(number, path_, GetParam().to);
      ASSERT_TRUE(saved) << saved.error();
      EXPECT_EQ(version_at(path_), number);
      EXPECT_EQ(version_at(folder_.path()), number);
      EXPECT_EQ(folder_.names().size(), files_of(GetParam().to));
    }
  }
}

TEST(ReadFaults, EveryCallFailsOnceAndReadsGiveTheModelOrAnError) {
  const test::TempDir folder;
  const std::string path = folder.file("model.safetensors");
  ASSERT_TRUE(save(1, path, shards));
  std::optional<int> found;
  test::fail_each_call([&] { found.reset(); }, [&] { found = version_at(path); },
                       [&](const std::string& fault) {
                         SCOPED_TRACE(fault);
                         EXPECT_TRUE(!found || found == 1);
                       });
  // A signal or a short count is no failure.
  test::fail_each_call([&] { found.reset(); }, [&] { found = version_at(path); },
                       [&](const std::string& fault) {
                         if (fault.ends_with("pread 1: EINTR") || fault.ends_with("short count")) {
                           EXPECT_EQ(found, 1) << fault;
                         }
                       });
}

TEST(MetadataEditFaults, EveryCallFailsOnceAndTheFileIsTheOldOrTheNewOne) {
  const WithoutFlushing quickly;
  const test::TempDir folder;
  const std::string path = folder.file("model.safetensors");
  Archive archive = version(1);
  archive.set_metadata({{"note", "old"}});
  for (const bool in_place : {false, true}) {
    Status result;
    test::fail_each_call([&] { write(archive, path, {.overwrite = true}).value(); },
                         [&] {
                           result = edit_safetensors_metadata(
                               path, {.set = {{"note", "new"}}, .in_place = in_place});
                         },
                         [&](const std::string& fault) {
                           SCOPED_TRACE(fault + (in_place ? ", in place" : ""));
                           EXPECT_EQ(version_at(path), 1);
                           const std::string note = open(path).value().metadata().at("note");
                           if (result) {
                             EXPECT_EQ(note, "new");
                           } else {
                             EXPECT_TRUE(note == "old" || note == "new");
                           }
                           EXPECT_EQ(folder.names(), std::vector<std::string>{"model.safetensors"});
                         });
  }
}

}  // namespace
}  // namespace andiron
