// SPDX-License-Identifier: MIT OR Apache-2.0
// The text of a shard index, read once in a folder without shards and once in a folder with two:
// a.safetensors with x and y, b.safetensors with y and z.
#include <stdlib.h>

#include <filesystem>

#include "andiron/file.h"
#include "andiron/open.h"
#include "andiron/value.h"
#include "andiron/write.h"
#include "fuzz/property.h"

using namespace andiron;
using namespace andiron::fuzz;

namespace {

// A folder with the shards, removed when the fuzzer ends in good order.
class ShardFolder {
 public:
  ShardFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "andiron-fuzz-XXXXXX").string();
    ANDIRON_HOLDS(::mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
    write_shard("a.safetensors", {"x", "y"});
    write_shard("b.safetensors", {"y", "z"});
  }
  ~ShardFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  void write_shard(const char* file, std::initializer_list<const char*> names) {
    Archive archive;
    for (const char* name : names) {
      Tensor tensor = must(Tensor::from_values<std::uint8_t>({2}, {1, 2}));
      must(archive.add(TensorSnapshot(name, std::move(tensor))));
    }
    archive.set_metadata({{"format", file}});
    must(write(archive, path_ + "/" + file, {.sync = false}));
  }
  std::string path_;
};

constexpr const char* index_name = "model.safetensors.index.json";

// The shards of a folder beside an index in memory.
class IndexedShards final : public FileSet {
 public:
  IndexedShards(FileSetPtr shards, Bytes index) : shards_(std::move(shards)), index_(index) {}
  std::string name() const override { return shards_->name(); }
  Result<ByteSourcePtr> open(const std::string& name) const override {
    return name == index_name ? memory_source(index_, name) : shards_->open(name);
  }

 private:
  FileSetPtr shards_;
  Bytes index_;
};

void check_archive(const Archive& archive, std::string_view index) {
  for (std::size_t i = 0; i < archive.size(); ++i) {
    ANDIRON_HOLDS(archive.find(archive.info(i).name) == i);
    must(archive.snapshot(i).read());
  }
  if (archive.packaging() != "sharded") return;
  // What the index lists is what the archive has. The rest of the text is only skipped, and may
  // hold what parse_json refuses: keys given twice, numbers beyond double.
  const Result<Value> parsed = parse_json(index);
  if (!parsed) return;
  const Value* map = parsed->find("weight_map");
  ANDIRON_HOLDS(map != nullptr && map->get<ValueDict>() != nullptr);
  ANDIRON_HOLDS(map->get<ValueDict>()->size() == archive.size());
  for (const auto& [name, file] : *map->get<ValueDict>()) {
    const auto found = archive.find(name);
    ANDIRON_HOLDS(found.has_value() && archive.info(*found).file == *file.get<std::string>());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const ShardFolder folder;
  const Bytes text = Bytes::borrow(std::as_bytes(std::span(data, size)));
  for (const char* place : {"/nowhere", ""}) {
    const IndexedShards files(folder_files(folder.path() + place), text);
    const Result<Archive> archive = open(files, index_name);
    if (archive) {
      check_archive(*archive, text.text());
    } else {
      ANDIRON_HOLDS(!archive.error().to_string().empty());
    }
  }
  return 0;
}
