// SPDX-License-Identifier: MIT OR Apache-2.0
// Everything a weight file says.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "andiron/dtype.h"
#include "andiron/error.h"
#include "andiron/snapshot.h"
#include "andiron/value.h"

namespace andiron::inline v1 {

/// String metadata, sorted by key.
using Metadata = std::map<std::string, std::string, std::less<>>;

/// Tied names: name to the name that holds the data.
using Aliases = std::map<std::string, std::string, std::less<>>;

/// What is known of a tensor without reading it. The views are valid until the archive is changed
/// or destroyed.
struct TensorInfo {
  std::string_view name;
  DType dtype = DType::f32;
  std::string_view file_dtype;  ///< as the file spells it; empty where it does not. Of a quantized
                                ///< tensor, its scheme (quantized.h)
  std::span<const std::uint64_t> shape;
  std::uint64_t byte_size = 0;
  std::optional<std::uint64_t> offset;  ///< absolute in its file, where it lies there in one run
  std::string_view file;                ///< shard that holds it; empty when there is one file
  std::optional<ParamId> param_id;
};

/// Something in the file that was not taken, and why.
struct Skipped {
  std::string name;
  std::string reason;
};

/// What gave a tensor its name.
enum class NameStage : std::uint8_t {
  file,           ///< the file itself, or whoever added the tensor
  top_level_key,  ///< at_top_level_key()
  remap,          ///< remap()
  index_gaps,     ///< close_index_gaps()
  rename,         ///< Archive::rename() by anyone else
};

/// "file", "top-level key", "remap", "index gaps", "rename".
std::string_view stage_name(NameStage stage) noexcept;

/// A name that a tensor has or had. The view is valid until the archive is changed or destroyed.
struct NameStep {
  NameStage stage = NameStage::file;
  std::string_view name;
};

namespace detail {
struct ArchiveState;
class ArchiveBuilder;
}  // namespace detail

/// An index of named tensors in header order, with metadata. Opening a file fills it in one scan
/// without a step per tensor beyond that scan; snapshots are made when asked for. Copies are cheap
/// and share the index; the first change to a shared one copies it. Reading from several threads is
/// safe.
class Archive {
 public:
  Archive();

  /// The file, index or source it was opened from, for messages; empty for an archive made in
  /// memory.
  const std::string& origin() const& noexcept;
  /// "safetensors", "pytorch", "burnpack", "numpy", "mpk" (a record of Burn's older releases);
  /// empty for an archive made in memory.
  const std::string& format() const& noexcept;
  /// How the tensors are packaged: "single" or "sharded"; of a record "msgpack" or "json", with
  /// ".gz" after it where it is compressed; of a PyTorch file "zip", "legacy", "tar",
  /// "torchscript", "pickle", "sharded", "distributed" or "pt2"; of NumPy's "npz" or "npy".
  const std::string& packaging() const& noexcept;
  /// Whether PyTorch pickled the tensors: names are then paths in what was saved, which may wrap
  /// the model, and the weights of Linear layers lie the other way round than Burn's.
  bool is_pickled() const noexcept;
  /// Bytes of all files together; 0 for an archive made in memory.
  std::uint64_t file_bytes() const noexcept;

  std::size_t size() const noexcept;
  bool empty() const noexcept { return size() == 0; }
  /// REQUIRES: index < size().
  TensorInfo info(std::size_t index) const;
  TensorSnapshot snapshot(std::size_t index) const;

  /// Position of a tensor, O(1). A name that the file records as tied to another one (Hugging
  /// Face's metadata for shared tensors) gives that other one.
  std::optional<std::size_t> find(std::string_view name) const;
  /// Snapshot by name; MissingTensor with the nearest name when there is none.
  Result<TensorSnapshot> get(std::string_view name) const;

  /// For each tensor the first one, before it in the file, that consists of the very same bytes in
  /// the same arrangement, as the tied weights of a PyTorch file do; nothing for the others, for
  /// tensors without elements, and beyond 64 arrangements of one place. O(n log n).
  std::vector<std::optional<std::size_t>> ties() const;

  /// Names that the file records as tied, each with the name its data is stored under.
  const Aliases& aliases() const& noexcept;
  /// Changes the metadata that records them, too.
  void set_aliases(Aliases aliases);
  /// The archive with a tensor for each of them, behind the others: of the same data, unread.
  Result<Archive> with_ties_as_copies() const;

  const Metadata& metadata() const& noexcept;
  void set_metadata(Metadata metadata);
  /// Nested content, null where there is none: in Burnpack a dict of scalars, in records and
  /// PyTorch files all there is, with tensors as their indices, built when first asked for; of
  /// distributed checkpoints what is no tensor. Shards and torch.export have none.
  const Value& value() const&;
  void set_value(Value value);
  /// What a reader should know: oddities that were tolerated, tensors tied by metadata. Text from
  /// the file is in them as it is: escape what you show (display_line).
  const std::vector<std::string>& notes() const& noexcept;
  void add_note(std::string note);
  /// Their names change with those of the tensors, where stages rename or leave out.
  const std::vector<Skipped>& skipped() const& noexcept;
  void set_skipped(std::vector<Skipped> skipped);

  // Of a temporary, by value: `for (const Skipped& one : open(path).value().skipped())` is right.
  std::string origin() && { return origin(); }
  std::string format() && { return format(); }
  std::string packaging() && { return packaging(); }
  Aliases aliases() && { return aliases(); }
  Metadata metadata() && { return metadata(); }
  Value value() && { return value(); }
  std::vector<std::string> notes() && { return notes(); }
  std::vector<Skipped> skipped() && { return skipped(); }

  /// Appends a tensor under its full path. DuplicateKey when the name is taken.
  Status add(TensorSnapshot snapshot);
  /// Puts another tensor in the place of one, under the same name. REQUIRES: index < size().
  Status replace(std::size_t index, TensorSnapshot snapshot);

  /// The tensors at `indices`, each less than size(), in that order. DuplicateKey when one is given
  /// twice. Aliases of tensors that are left out go too; in value() they become null.
  Result<Archive> select(std::span<const std::size_t> indices) const;
  /// The same tensors under new names, one for each. NameCollision names both old names when two
  /// would become one. Aliases keep their names and follow their tensors. value() stays: its
  /// keys are the old names, its tensors the same.
  Result<Archive> rename(std::span<const std::string> names,
                         NameStage stage = NameStage::rename) const;

  /// The name of a tensor in the file, whatever stages have made of it since. Costs a step for each
  /// stage. REQUIRES: index < size().
  std::string_view name_in_file(std::size_t index) const;
  /// All names of a tensor: in the file, then after each stage that renamed tensors of the archive.
  /// REQUIRES: index < size().
  std::vector<NameStep> name_history(std::size_t index) const;
  /// The archive as it was before a stage last renamed tensors; nothing where it did not.
  std::optional<Archive> before(NameStage stage) const;

  /// Indices in natural order of names: layers.2 before layers.10.
  std::vector<std::size_t> natural_order() const;

 private:
  friend class detail::ArchiveBuilder;
  explicit Archive(std::shared_ptr<detail::ArchiveState> state);
  detail::ArchiveState& change();
  std::shared_ptr<detail::ArchiveState> state_;
};

}  // namespace andiron::inline v1
