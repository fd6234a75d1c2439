// SPDX-License-Identifier: MIT OR Apache-2.0
// Exceptions of the caller's own code pass through and leave everything as it was.
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "andiron/andiron.h"
#include "tests/support/sample_net.h"
#include "tests/support/temp_dir.h"

namespace andiron::test {
namespace {

struct Refusal : std::runtime_error {
  Refusal() : std::runtime_error("the caller's own") {}
};

bool throwing_progress(std::uint64_t, std::uint64_t) { throw Refusal(); }
bool throwing_predicate(std::string_view, const Container&) { throw Refusal(); }

Bytes saved_net(float first) {
  SafetensorsStore store;
  save_into(sample_net(first), store).value();
  return store.get_bytes().value();
}

class ThrowingSource final : public ByteSource {
 public:
  explicit ThrowingSource(Bytes bytes, std::uint64_t good)
      : bytes_(std::move(bytes)), good_(good) {}
  std::uint64_t size() const noexcept override { return bytes_.size(); }
  const std::string& name() const noexcept override { return name_; }

 private:
  Status do_read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    if (offset + out.size() > good_) throw Refusal();
    std::copy_n(bytes_.data() + offset, out.size(), out.data());
    return {};
  }

  Bytes bytes_;
  std::uint64_t good_;
  std::string name_ = "throws";
};

class ThrowingSink final : public Sink {
  Status write(std::span<const std::byte>) override { throw Refusal(); }
};

class ThrowingAdapter final : public Chainable<ThrowingAdapter> {
  Result<TensorSnapshot> adapt(Direction, const Place& place,
                               TensorSnapshot tensor) const override {
    if (place.path == "scale") throw Refusal();
    return tensor;
  }
};

TEST(ThrowingCallbacks, ALoadChangesNothing) {
  SampleNet net = sample_net(0);
  const std::string before = fingerprint(net);
  const Bytes bytes = saved_net(500);
  auto store = SafetensorsStore::from_bytes(bytes);
  EXPECT_THROW(static_cast<void>(load_from(net, store.progress(throwing_progress))), Refusal);
  EXPECT_EQ(fingerprint(net), before);
  auto filtered = SafetensorsStore::from_bytes(bytes).with_predicate(throwing_predicate);
  EXPECT_THROW(static_cast<void>(load_from(net, filtered)), Refusal);
  auto adapted = SafetensorsStore::from_bytes(bytes).with_from_adapter(ThrowingAdapter());
  EXPECT_THROW(static_cast<void>(load_from(net, adapted)), Refusal);
  EXPECT_EQ(fingerprint(net), before);
  EXPECT_TRUE(load_from(net, store.progress({})).ok());
}

TEST(ThrowingCallbacks, ASourceMayThrowAtAnyByte) {
  const Bytes bytes = saved_net(500);
  for (std::uint64_t good = 0; good < bytes.size(); good += 7) {
    SampleNet net = sample_net(0);
    const std::string before = fingerprint(net);
    EXPECT_THROW(
        {
          Result<Archive> archive = open(std::make_shared<ThrowingSource>(bytes, good));
          static_cast<void>(andiron::apply(net, archive.value()));
        },
        Refusal);
    EXPECT_EQ(fingerprint(net), before);
  }
}

TEST(ThrowingCallbacks, ASaveKeepsTheOldFile) {
  const TempDir folder;
  for (const char* name : {"net.safetensors", "net.bpk", "net.mpk", "net.mpk.gz", "net.npz"}) {
    const std::string path = folder.file(name);
    write_file(path, "what was there");
    const Archive archive = collect_archive(sample_net(0)).value();
    WriteOptions options = {.overwrite = true, .sync = false, .progress = throwing_progress};
    EXPECT_THROW(static_cast<void>(write(archive, path, options)), Refusal) << name;
    EXPECT_EQ(read_file(path), "what was there");
    EXPECT_EQ(folder.names(), std::vector<std::string>{name});
    std::filesystem::remove(path);
  }
}

TEST(ThrowingCallbacks, ASinkMayThrow) {
  const Archive archive = collect_archive(sample_net(0)).value();
  ThrowingSink sink;
  EXPECT_THROW(static_cast<void>(write(archive, sink)), Refusal);
}

TEST(ThrowingCallbacks, AnAtomicFileWhoseSourceThrewIsNotCommitted) {
  const TempDir folder;
  const std::string path = folder.file("data");
  auto file = AtomicFile::create(path, {.sync = false}).value();
  const ThrowingSource source(saved_net(0), 0);
  EXPECT_THROW(static_cast<void>(file->copy_from(source, 0, 10)), Refusal);
  EXPECT_EQ(file->commit().error().code, ErrorCode::io);
  file.reset();
  EXPECT_TRUE(folder.names().empty());
}

}  // namespace
}  // namespace andiron::test
