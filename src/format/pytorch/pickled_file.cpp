// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/format/pytorch_reader_test.cpp
#include "src/format/pytorch/pickled_file.h"

#include <algorithm>

#include "src/core/try.h"
#include "src/format/header_findings.h"
#include "src/format/pytorch/repeated_tensors.h"
#include "src/format/pytorch/tensor_notes.h"
#include "src/format/pytorch/value_tree.h"

namespace andiron::inline v1::detail {
namespace {

class ArchiveFiller : public StructureVisitor {
 public:
  ArchiveFiller(const PickledFile& file, const OpenOptions& options, ArchiveBuilder& builder)
      : file_(file),
        limits_(options.limits),
        strictness_(options.strictness),
        builder_(builder),
        names_(builder.state().origin, options.limits) {}

  Status tensor(std::string_view name, std::string_view, std::string_view part,
                const TorchTensor& tensor) override {
    if (!part.empty()) {
      name_ = name;
      name_ += part;
      name = name_;
    }
    ANDIRON_TRY(names_.count(name, builder_.size()));
    if (file_.check_all_keys) {
      const auto before = repeated_.find_or_add(std::string(name), tensor, builder_.size());
      if (before && *before != RepeatedTensors::other) return {};
      if (before && strictness_ == Strictness::lenient) {
        skip(name, "another tensor has this name");
        return {};
      }
    }
    const std::string_view stored = builder_.store(name);
    if (tensor.dtype() == DType::raw && strictness_ == Strictness::strict) {
      return Error{.code = ErrorCode::unsupported_dtype,
                   .message = "a type that we do not know",
                   .file = origin(),
                   .tensor = std::string(stored),
                   .found = std::string(tensor.type->torch_name)};
    }
    return tensor.add_to(builder_, stored);
  }

  void skip(std::string_view name, std::string_view reason) override {
    // A few bytes of pickle can make many and long ones of these, too.
    name = name.substr(0, limits_.name_bytes);
    std::vector<Skipped>& skipped = builder_.state().skipped;
    if (!names_.count(name, skipped.size())) return;
    skipped.push_back({std::string(name), std::string(reason)});
  }

  void note(std::string_view name, std::string_view text) override { notes_.add(name, text); }

  Status finish() {
    notes_.move_to(builder_.state().notes);
    ANDIRON_ASSIGN(const auto taken, builder_.index_names());
    if (!taken) return {};
    return Error{.code = ErrorCode::name_collision,
                 .message = "two tensors of the file have this name",
                 .file = origin(),
                 .tensor = std::string(builder_.state().name_at(*taken)),
                 .hint =
                     "names join keys with dots, and a key may have a dot of its own; a lenient "
                     "reading takes the first"};
  }

 private:
  const std::string& origin() const { return builder_.state().origin; }

  const PickledFile& file_;
  const Limits& limits_;
  Strictness strictness_;
  ArchiveBuilder& builder_;
  NameBudget names_;
  std::string name_;
  RepeatedTensors repeated_;
  TensorNotes notes_;
};

}  // namespace

Status NameBudget::count(std::string_view name, std::size_t tensors) {
  if (name.size() > limits_.name_bytes) {
    return over_limit(file_, "a name that is too long", long_name(name), limits_.name_bytes);
  }
  bytes_ += name.size();
  if (bytes_ > limits_.name_bytes_in_all) {
    return over_limit(file_, "all names together are too long", "", limits_.name_bytes_in_all);
  }
  if (tensors >= limits_.tensors) {
    return over_limit(file_, "too many tensors", "", limits_.tensors);
  }
  return {};
}

Status walk_file(PickledFile& file, const OpenOptions& options, StructureVisitor& visitor) {
  const bool is_of_torch =
      file.lies_within_another || !file.content.graph().persistent_ids().empty();
  TensorResolver resolver(file.content, *file.storages, file.big_endian,
                          options.numpy_arrays || !is_of_torch,
                          most_tensor_bytes(file.file_bytes, options.limits), options);
  return walk_structure(file.content, resolver, file.classes.get(), options, file.check_all_keys,
                        visitor);
}

namespace {

Status fill(PickledFile& file, const OpenOptions& options, ArchiveBuilder& builder) {
  ArchiveFiller filler(file, options, builder);
  ANDIRON_TRY(walk_file(file, options, filler));
  return filler.finish();
}

}  // namespace

Status fill_archive(std::shared_ptr<PickledFile> file, const OpenOptions& options,
                    ArchiveBuilder& builder) {
  // A tensor is a storage, with some exceptions.
  const auto expected = static_cast<std::size_t>(std::min<std::uint64_t>(
      file->content.graph().persistent_ids().size(), options.limits.tensors));
  ANDIRON_TRY(builder.reserve(expected, 2 * expected));
  const std::size_t notes = builder.state().notes.size();
  Status filled = fill(*file, options, builder);
  if (!filled && filled.error().code == ErrorCode::name_collision) {
    builder.remove_tensors();
    builder.state().notes.resize(notes);
    file->check_all_keys = true;
    filled = fill(*file, options, builder);
  }
  if (!filled) return std::move(filled).error();
  if (builder.size() == 0) {
    builder.state().notes.push_back(builder.state().skipped.empty()
                                        ? "there are no tensors in the file"
                                        : "no tensor of the file can be taken");
  }
  if (file->content.graph().has_leftovers()) {
    builder.state().notes.push_back("the pickle leaves values on its stack, which none uses");
  }
  builder.state().value = LazyValue([file = std::move(file), options] {
    std::uint64_t room = options.limits.metadata_bytes;
    ValueTree tree(*file, options.limits, 0, room);
    // What the first walk took, this one takes.
    if (!walk_file(*file, options, tree)) return Value();
    return tree.take();
  });
  return {};
}

Status add_below(PickledFile& file, const std::string& prefix, const OpenOptions& options,
                 NameBudget& names, TensorNotes& notes, ArchiveBuilder& builder) {
  file.lies_within_another = true;
  class Below : public StructureVisitor {
   public:
    Below(const std::string& prefix, NameBudget& names, TensorNotes& notes, ArchiveBuilder& builder)
        : prefix_(prefix), names_(names), notes_(notes), builder_(builder) {}
    Status tensor(std::string_view below, std::string_view, std::string_view part,
                  const TorchTensor& tensor) override {
      const std::string name = name_of(below) + std::string(part);
      ANDIRON_TRY(names_.count(name, builder_.size()));
      return tensor.add_to(builder_, builder_.store(name));
    }
    void skip(std::string_view below, std::string_view reason) override {
      std::vector<Skipped>& skipped = builder_.state().skipped;
      std::string name = name_of(below);
      if (!names_.count(name, skipped.size())) return;
      skipped.push_back({std::move(name), std::string(reason)});
    }
    void note(std::string_view below, std::string_view text) override {
      notes_.add(name_of(below), text);
    }

   private:
    std::string name_of(std::string_view below) const {
      return below.empty() ? prefix_ : prefix_ + "." + std::string(below);
    }

    const std::string& prefix_;
    NameBudget& names_;
    TensorNotes& notes_;
    ArchiveBuilder& builder_;
  } visitor(prefix, names, notes, builder);
  return walk_file(file, options, visitor);
}

Result<TensorSnapshot> only_tensor(PickledFile& file, const OpenOptions& options) {
  class OneTensor : public StructureVisitor {
   public:
    Status tensor(std::string_view name, std::string_view, std::string_view part,
                  const TorchTensor& tensor) override {
      if (!name.empty() || !part.empty() || found) return {};
      ANDIRON_ASSIGN(found, tensor.snapshot(""));
      return {};
    }
    std::optional<TensorSnapshot> found;
  } one;
  ANDIRON_TRY(walk_file(file, options, one));
  if (one.found) return *std::move(one.found);
  return Error{.code = ErrorCode::bad_pickle,
               .message = "expected a tensor and nothing else",
               .file = file.content.source()->name()};
}

}  // namespace andiron::inline v1::detail
