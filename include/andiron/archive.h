// SPDX-License-Identifier: MIT OR Apache-2.0
// The index of a weight file: its tensors, metadata and other values.
//
//   Archive file = open("model.safetensors").value();
//   for (std::size_t i = 0; i < file.size(); ++i) print(file.info(i).name);
//   Tensor weight = file.get("conv1.weight").value().read().value();
//
// Functions that return no Result may throw std::bad_alloc (error.h).
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

/// Tied names. Maps a name to the name that its data is stored under.
using Aliases = std::map<std::string, std::string, std::less<>>;

/// What the header says about a tensor. The views are valid until the archive is changed or
/// destroyed.
struct TensorInfo {
  std::string_view name;
  DType dtype = DType::f32;
  std::string_view file_dtype;  ///< as the file spells it; may be empty. For a quantized tensor,
                                ///< its scheme (quant_scheme_text)
  std::span<const std::uint64_t> shape;
  std::uint64_t byte_size = 0;  ///< size of read()'s result
  /// Where the data starts in its file. Empty if it is not one run of bytes there: strided, in
  /// pieces, compressed, or added in memory.
  std::optional<std::uint64_t> offset;
  std::string_view file;  ///< the shard that contains it. Empty if the model is one file, and for
                          ///< tensors without an offset
  std::optional<ParamId> param_id;
};

/// Whose names and layouts the tensors of a file have.
enum class Layout : std::uint8_t {
  pytorch,  ///< Linear weights are [out, in]; norms have weight and bias
  burn,     ///< Linear weights are [in, out]; norms have gamma and beta; PRelu has alpha
};

/// Returns "pytorch" or "burn".
std::string_view layout_name(Layout layout) noexcept;

/// The layout of a file, and how the file shows it.
struct KnownLayout {
  Layout layout = Layout::pytorch;
  std::string reason;  ///< "the metadata says that burn wrote this file"
};

/// Something in the file that the reader did not take, and why.
struct Skipped {
  std::string name;
  Message reason;
};

/// The stage that gave a tensor its name.
enum class NameStage : std::uint8_t {
  file,           ///< the file itself, or the caller of add()
  top_level_key,  ///< at_top_level_key()
  remap,          ///< remap()
  index_gaps,     ///< close_index_gaps()
  rename,         ///< Archive::rename() called directly
  made,           ///< add() after a stage: made from other tensors (weight norm, edits), or new
};

/// Returns "file", "top-level key", "remap", "index gaps", "rename" or "made".
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

/// An index of named tensors in file order, with metadata. Opening a file builds it in one scan of
/// the header. Snapshots are created on request.
///
/// Copies are cheap: they share the index until one of them is changed. Const calls are safe from
/// several threads at once.
class Archive {
 public:
  /// An empty archive.
  Archive();

  /// The path of the file, index or source, for messages. Empty for an archive built in memory.
  const std::string& origin() const& noexcept;
  /// "safetensors", "pytorch", "burnpack", "numpy", "mpk" (a named record of older Burn releases)
  /// or "bincode" (a .bin record of those). Empty for an archive built in memory.
  const std::string& format() const& noexcept;
  /// How the tensors are packaged:
  ///   SafeTensors, Burnpack, .bin records  "single"
  ///   any sharded model                    "sharded"
  ///   records                              "msgpack", "json"
  ///   PyTorch                              "zip", "legacy", "tar", "torchscript", "pickle",
  ///                                        "distributed", "pt2"
  ///   NumPy                                "npz", "npy"
  /// A gzipped record or PyTorch file has ".gz" appended: "msgpack.gz", "zip.gz".
  const std::string& packaging() const& noexcept;
  /// True if PyTorch pickled the tensors. Then a name is a path in the saved object, which may wrap
  /// the model, and Linear weights are transposed compared with Burn's.
  bool is_pickled() const noexcept;
  /// Total size of all files; 0 for an archive built in memory.
  std::uint64_t file_bytes() const noexcept;

  /// Number of tensors.
  std::size_t size() const noexcept;
  bool empty() const noexcept { return size() == 0; }
  /// Describes a tensor, O(1). REQUIRES: index < size().
  TensorInfo info(std::size_t index) const;
  /// Returns a tensor, unread. REQUIRES: index < size().
  TensorSnapshot snapshot(std::size_t index) const;

  /// Returns the index of a tensor, or nothing. O(1). An alias returns the index of the tensor it
  /// is tied to.
  std::optional<std::size_t> find(std::string_view name) const;
  /// Returns a tensor by name, unread. Fails with MissingTensor if there is none; the hint names
  /// the nearest one.
  Result<TensorSnapshot> get(std::string_view name) const;

  /// For each tensor, returns the first earlier tensor that has exactly the same bytes in the same
  /// arrangement, as tied weights in a PyTorch file do. Returns nothing for the other tensors and
  /// for tensors without elements. Compares at most 64 arrangements that start at one offset.
  /// O(n log n).
  std::vector<std::optional<std::size_t>> ties() const;

  /// Names that the file's metadata ties to another name (Hugging Face's convention for shared
  /// tensors).
  const Aliases& aliases() const& noexcept;
  /// Replaces the aliases, and the metadata entries that record them.
  void set_aliases(Aliases aliases);
  /// Returns the archive with a tensor for each alias, after the other tensors, and without
  /// aliases. Reads nothing.
  Result<Archive> with_ties_as_copies() const;

  /// The string metadata of the file.
  const Metadata& metadata() const& noexcept;
  void set_metadata(Metadata metadata);
  /// Values that are not tensors; null if there are none. Built on first use, then shared by all
  /// copies of the archive. Fails with LimitExceeded if the tree, with everything that is repeated
  /// counted each time, takes more than Limits::memory_bytes; the tensors can be used all the same.
  /// Pointers into the tree are valid until the archive is changed or destroyed.
  ///   Burnpack                 a dict of scalars
  ///   records, PyTorch files   the whole tree, with tensors as their indices
  ///   distributed checkpoints  everything except tensors
  ///   shards, torch.export     null
  Result<Value> value() const;
  void set_value(Value value);
  /// What a user should know: tolerated oddities, tensors tied by metadata. Notes quote the file
  /// unescaped; pass them through display_line() before you print them.
  const std::vector<Message>& notes() const& noexcept;
  void add_note(Message note);
  /// What the reader skipped. Stages that rename or drop tensors do the same to these names.
  const std::vector<Skipped>& skipped() const& noexcept;
  void set_skipped(std::vector<Skipped> skipped);

  // On a temporary these return by value, so that a loop over `open(path).value().skipped()` is
  // safe.
  std::string origin() && { return origin(); }
  std::string format() && { return format(); }
  std::string packaging() && { return packaging(); }
  Aliases aliases() && { return aliases(); }
  Metadata metadata() && { return metadata(); }
  std::vector<Message> notes() && { return notes(); }
  std::vector<Skipped> skipped() && { return skipped(); }

  /// Appends a tensor under its full path. Fails with DuplicateKey if the name is taken.
  Status add(TensorSnapshot snapshot);
  /// Replaces a tensor and keeps its name; the snapshot's own path is ignored. REQUIRES: index <
  /// size().
  Status replace(std::size_t index, TensorSnapshot snapshot);

  /// Returns the tensors at `indices`, in that order. Drops aliases of other tensors; in value(),
  /// other tensors become null. Fails with InvalidArgument if an index is out of range,
  /// DuplicateKey if one appears twice.
  Result<Archive> select(std::span<const std::size_t> indices) const;
  /// Returns the same tensors under new names, one name per tensor. Aliases keep their names and
  /// follow their tensors. value() is unchanged: its keys are the old names. Fails with
  /// NameCollision, naming both old names, if two tensors get one name, and InvalidArgument if the
  /// number of names is not size().
  Result<Archive> rename(std::span<const std::string> names,
                         NameStage stage = NameStage::rename) const;

  /// The name of a tensor in the file, or its first one if it was added since, before any stage
  /// renamed it. Costs one step per stage.
  /// REQUIRES: index < size().
  std::string_view name_in_file(std::size_t index) const;
  /// All names of a tensor: in the file, then after each stage that renamed the archive. That of a
  /// tensor which is not in the file begins with NameStage::made.
  /// REQUIRES: index < size().
  std::vector<NameStep> name_history(std::size_t index) const;
  /// The archive before any stage renamed or dropped tensors: the file as it was opened. key_map.h
  /// compares the two.
  Archive in_file() const;
  /// Where a tensor is in in_file(); nothing if it was added since. Costs one step per stage.
  /// REQUIRES: index < size().
  std::optional<std::size_t> index_in_file(std::size_t index) const;
  /// The archive before `stage` last renamed it, or nothing if it did not.
  std::optional<Archive> before(NameStage stage) const;

  /// Indices in natural order of names: layers.2 before layers.10. O(n log n).
  std::vector<std::size_t> natural_order() const;

 private:
  friend class detail::ArchiveBuilder;
  friend std::optional<KnownLayout> layout_of(const Archive& archive);
  friend void mark_layout(Archive& archive, Layout layout);
  explicit Archive(std::shared_ptr<detail::ArchiveState> state);
  detail::ArchiveState& change();
  std::shared_ptr<detail::ArchiveState> state_;
};

/// Whose layout the tensors have, if the file shows it: PyTorch or an older recorder of Burn wrote
/// it, or its metadata names the writer, or it was marked since. Nothing for other files: a
/// Burnpack file can have either layout.
std::optional<KnownLayout> layout_of(const Archive& archive);

/// Says whose layout the tensors have now. The metadata gets format=pt for PyTorch's layout, which
/// readers look for, and loses it for Burn's.
void mark_layout(Archive& archive, Layout layout);

}  // namespace andiron::inline v1
