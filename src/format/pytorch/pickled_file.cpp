// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/format/pytorch_reader_test.cpp
#include "src/format/pytorch/pickled_file.h"

#include <algorithm>

#include "src/core/check_limit.h"
#include "src/core/try.h"
#include "src/format/formats.h"
#include "src/format/pytorch/repeated_tensors.h"
#include "src/format/pytorch/tensor_notes.h"
#include "src/format/pytorch/value_tree.h"

namespace andiron::inline v1::detail {
namespace {

// What a snapshot takes with its expression, and a tensor in RepeatedTensors.
constexpr std::uint64_t snapshot_bytes = 2048;
constexpr std::uint64_t repeated_bytes = 512;

class ArchiveFiller {
 public:
  // Names go below `prefix`, if there is one.
  ArchiveFiller(PickledFile& file, const OpenOptions& options, NameBudget& names,
                TensorNotes& notes, ArchiveBuilder& builder, std::string_view prefix = {})
      : file_(file),
        options_(options),
        names_(names),
        notes_(notes),
        builder_(builder),
        prefix_(prefix) {}

  Status fill() {
    PickleWalk walk = walk_file(file_, options_, names_.memory());
    while (!walk.is_done()) {
      ANDIRON_TRY(walk.next());
      WalkEvent& event = walk.event();
      if (event.kind == WalkEvent::Kind::again) note_repeated(*event.plain);
      if (event.kind != WalkEvent::Kind::tensor && event.remarks.empty()) continue;
      const std::string_view name = full_name(event.name);
      if (event.kind == WalkEvent::Kind::tensor) {
        if (Status added = add_tensors(name, event.resolved); !added) {
          ANDIRON_TRY(walk.refuse(std::move(added).error()));
        }
      }
      for (auto& [is_skip, text] : event.remarks) {
        if (is_skip) {
          ANDIRON_TRY(skip(name, std::move(text)));
        } else {
          notes_.add(name, text);
        }
      }
    }
    return {};
  }

 private:
  const std::string& origin() const { return builder_.state().origin; }

  void note_repeated(std::size_t container) {
    if (file_.repeated.empty()) file_.repeated.resize(file_.content.graph().container_count());
    file_.repeated[container] = true;
  }

  std::string_view full_name(std::string_view name) {
    if (prefix_.empty()) return name;
    full_name_ = prefix_;
    if (!name.empty()) full_name_.append(".").append(name);
    return full_name_;
  }

  Status add_tensors(std::string_view name, Resolution& resolved) {
    for (const auto& [part, tensor] : resolved.tensors()) {
      ANDIRON_TRY(part.empty() ? add_tensor(name, tensor)
                               : add_tensor(std::string(name).append(part), tensor));
    }
    return {};
  }

  Status add_tensor(std::string_view name, const TorchTensor& tensor) {
    // In a listing, a dimension can take twenty digits.
    constexpr std::size_t dimension_text = 8;
    ANDIRON_TRY(names_.count(name, builder_.size(), dimension_text * tensor.rank));
    ANDIRON_TRY(names_.memory().charge_data(tensor.byte_size(), name));
    if (file_.check_all_keys) {
      ANDIRON_TRY(names_.memory().charge(repeated_bytes + name.size(), "names that are compared"));
      const auto before = repeated_.find_or_add(std::string(name), tensor, builder_.size());
      if (before && *before != RepeatedTensors::other) return {};
      if (before && options_.strictness == Strictness::lenient) {
        return skip(name, "another tensor has this name");
      }
    }
    const std::string_view stored = builder_.store(name);
    if (tensor.dtype() == DType::raw && options_.strictness == Strictness::strict) {
      return Error{.code = ErrorCode::unsupported_dtype,
                   .message = "unknown dtype",
                   .file = origin(),
                   .tensor = std::string(stored),
                   .found = std::string(tensor.type->torch_name),
                   .hint = "only " + Message(Advice::strict) + " refuses it"};
    }
    const std::size_t snapshots = builder_.state().snapshots.size();
    ANDIRON_TRY(tensor.add_to(builder_, stored));
    const bool is_run = builder_.state().snapshots.size() == snapshots;
    return is_run ? Status() : names_.memory().charge(snapshot_bytes, "views of storages");
  }

  Status skip(std::string_view name, Message reason) {
    // A few bytes of pickle can make many and long ones of these, too.
    name = name.substr(0, static_cast<std::size_t>(
                              std::min<std::uint64_t>(options_.limits.name_bytes, name.size())));
    std::vector<Skipped>& skipped = builder_.state().skipped;
    ANDIRON_TRY(names_.count(name, skipped.size(), reason.to_string().size()));
    skipped.push_back({std::string(name), std::move(reason)});
    return {};
  }

  PickledFile& file_;
  const OpenOptions& options_;
  NameBudget& names_;
  TensorNotes& notes_;
  ArchiveBuilder& builder_;
  std::string_view prefix_;
  std::string full_name_;
  RepeatedTensors repeated_;
};

// NameCollision where two tensors of the file have one name.
Status fill_once(PickledFile& file, const OpenOptions& options, MemoryBudget& budget,
                 ArchiveBuilder& builder) {
  NameBudget names(builder.state().origin, options.limits, budget);
  TensorNotes notes;
  ANDIRON_TRY(ArchiveFiller(file, options, names, notes, builder).fill());
  notes.move_to(builder.state().notes);
  ANDIRON_ASSIGN(const auto taken, builder.index_names());
  if (!taken) return {};
  return Error{.code = ErrorCode::name_collision,
               .message = "two tensors in the file have this name",
               .file = builder.state().origin,
               .tensor = std::string(builder.state().name_at(*taken)),
               .hint = "names join keys with dots, and a key may contain dots; " +
                       Message(Advice::lenient) + " reads the first"};
}

}  // namespace

Status NameBudget::count(std::string_view name, std::size_t tensors, std::size_t more_text) {
  ANDIRON_TRY(check_name_length(name, limits_, file_));
  ANDIRON_TRY(memory_.charge_entry(name.size() + more_text));
  return check_limit(tensors + 1, limits_.tensors,
                     [&] { return LimitCheck{"too many tensors", &Limits::tensors, "", file_}; });
}

PickleWalk walk_file(PickledFile& file, const OpenOptions& options, const MemoryBudget& budget) {
  // Keys take no memory while they are walked past, but some time.
  constexpr std::uint64_t factor = 8;
  const std::uint64_t most_key_bytes = factor * std::min(budget.most(), ~std::uint64_t{0} / factor);
  const bool is_of_torch =
      file.lies_within_another || !file.content.graph().persistent_ids().empty();
  return {
      file.content,
      TensorResolver(file.content, *file.storages, file.big_endian,
                     settings_in<PytorchSettings>(options.settings).numpy_arrays || !is_of_torch,
                     most_tensor_bytes(file.file_bytes, options.limits), options),
      file.classes,
      options,
      most_key_bytes,
      file.check_all_keys};
}

Status fill_archive(std::shared_ptr<PickledFile> file, const OpenOptions& options,
                    MemoryBudget& budget, ArchiveBuilder& builder) {
  // A tensor is a storage, with some exceptions.
  const auto expected = static_cast<std::size_t>(std::min<std::uint64_t>(
      file->content.graph().persistent_ids().size(), options.limits.tensors));
  ANDIRON_TRY(builder.reserve(expected, 2 * expected));
  const std::size_t notes = builder.state().notes.size();
  const MemoryBudget before = budget;
  Status filled = fill_once(*file, options, budget, builder);
  if (!filled && filled.error().code == ErrorCode::name_collision) {
    builder.remove_tensors();
    builder.state().notes.resize(notes);
    budget = before;
    file->check_all_keys = true;
    filled = fill_once(*file, options, budget, builder);
  }
  if (!filled) return std::move(filled).error();
  if (builder.size() == 0) {
    builder.state().notes.push_back(builder.state().skipped.empty()
                                        ? "the file has no tensors"
                                        : "no tensor in the file can be read");
  }
  if (file->content.graph().has_leftovers()) {
    builder.state().notes.push_back("the pickle leaves unused values on its stack");
  }
  builder.state().value = LazyValue([file = std::move(file), options, budget] {
    MemoryBudget left = budget;
    return value_tree(*file, options, 0, left);
  });
  return {};
}

Status add_below(PickledFile& file, const std::string& prefix, const OpenOptions& options,
                 NameBudget& names, TensorNotes& notes, ArchiveBuilder& builder) {
  file.lies_within_another = true;
  return ArchiveFiller(file, options, names, notes, builder, prefix).fill();
}

Result<TorchTensor> only_tensor(PickledFile& file, const OpenOptions& options,
                                const MemoryBudget& budget) {
  std::optional<TorchTensor> found;
  PickleWalk walk = walk_file(file, options, budget);
  while (!walk.is_done()) {
    ANDIRON_TRY(walk.next());
    WalkEvent& event = walk.event();
    const bool is_whole =
        event.kind == WalkEvent::Kind::tensor && event.name.empty() && event.resolved.parts.empty();
    if (is_whole && !found) found = event.resolved.whole.tensor;
  }
  if (found) return *std::move(found);
  return file.content.bad("expected a tensor and nothing else");
}

}  // namespace andiron::inline v1::detail
