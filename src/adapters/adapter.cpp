// SPDX-License-Identifier: MIT OR Apache-2.0
// What all adapters share, and how two make one.
// Tested by tests/adapters/adapter_test.cpp
#include "andiron/adapter.h"

#include <utility>

#include "src/core/path_segments.h"
#include "src/core/try.h"

namespace andiron::inline v1 {

namespace {

const std::shared_ptr<const Adapter>& identity() {
  static const std::shared_ptr<const Adapter> adapter = std::make_shared<const IdentityAdapter>();
  return adapter;
}

// What the first adapter of a chain makes of a file, for the second to look into.
class AdaptedLookup final : public TensorLookup {
 public:
  AdaptedLookup(const Adapter& adapter, const Place& place, TensorLookup& file)
      : adapter_(adapter), place_(place), file_(file) {}

  Result<std::optional<TensorSnapshot>> find(std::string_view name) override {
    if (name == place_.path) return adapter_.load(place_, file_);
    return adapter_.load(
        Place{std::string(name), detail::container_after_move(place_.path, place_.container, name)},
        file_);
  }

 private:
  const Adapter& adapter_;
  const Place& place_;
  TensorLookup& file_;
};

}  // namespace

Result<std::optional<TensorSnapshot>> Adapter::load(const Place& place, TensorLookup& file) const
    ANDIRON_NO_THROW {
  ANDIRON_ASSIGN(std::optional<TensorSnapshot> found, file.find(place.path));
  if (!found) return found;
  ANDIRON_ASSIGN(found, adapt(Direction::load, place, detail::at_place(*std::move(found), place)));
  return found;
}
ANDIRON_OR_OUT_OF_MEMORY

Result<Snapshots> Adapter::save(Snapshots tensors) const ANDIRON_NO_THROW {
  for (TensorSnapshot& tensor : tensors) {
    const Place place{tensor.full_path(), tensor.container()};
    ANDIRON_ASSIGN(tensor, adapt(Direction::save, place, std::move(tensor)));
  }
  return tensors;
}
ANDIRON_OR_OUT_OF_MEMORY

Result<Snapshots> Adapter::save_back(Snapshots tensors, TensorLookup&) const ANDIRON_NO_THROW {
  return save(std::move(tensors));
}
ANDIRON_OR_OUT_OF_MEMORY

Result<TensorSnapshot> Adapter::adapt(Direction, const Place&, TensorSnapshot tensor) const
    ANDIRON_NO_THROW {
  return tensor;
}
ANDIRON_OR_OUT_OF_MEMORY

Result<AnyAdapter> Adapter::inverse() const ANDIRON_NO_THROW {
  return Error{
      .code = ErrorCode::unsupported,
      .message = "this adapter has no inverse",
      .hint = "override inverse(), or set the adapter of the save with .with_to_adapter()"};
}
ANDIRON_OR_OUT_OF_MEMORY

// Loads and saves without an adapter are the most common, and pass nothing through adapt().
Result<std::optional<TensorSnapshot>> IdentityAdapter::load(const Place& place,
                                                            TensorLookup& file) const
    ANDIRON_NO_THROW {
  ANDIRON_ASSIGN(std::optional<TensorSnapshot> found, file.find(place.path));
  if (found) found = detail::at_place(*std::move(found), place);
  return found;
}
ANDIRON_OR_OUT_OF_MEMORY

Result<Snapshots> IdentityAdapter::save(Snapshots tensors) const ANDIRON_NO_THROW {
  return tensors;
}
ANDIRON_OR_OUT_OF_MEMORY

Result<AnyAdapter> IdentityAdapter::inverse() const ANDIRON_NO_THROW { return AnyAdapter(); }
ANDIRON_OR_OUT_OF_MEMORY

AnyAdapter::AnyAdapter() : adapter_(identity()) {}

bool AnyAdapter::is_set() const noexcept { return adapter_ != identity(); }

AnyAdapter::AnyAdapter(std::shared_ptr<const Adapter> adapter) : adapter_(std::move(adapter)) {
  if (!adapter_) adapter_ = identity();
}

Result<std::optional<TensorSnapshot>> ChainAdapter::load(const Place& place,
                                                         TensorLookup& file) const
    ANDIRON_NO_THROW {
  AdaptedLookup adapted(*first_, place, file);
  return second_->load(place, adapted);
}
ANDIRON_OR_OUT_OF_MEMORY

Result<Snapshots> ChainAdapter::save(Snapshots tensors) const ANDIRON_NO_THROW {
  ANDIRON_ASSIGN(Snapshots adapted, first_->save(std::move(tensors)));
  return second_->save(std::move(adapted));
}
ANDIRON_OR_OUT_OF_MEMORY

// The first looks for its names in the file too: few chains have two adapters that rename.
Result<Snapshots> ChainAdapter::save_back(Snapshots tensors, TensorLookup& file) const
    ANDIRON_NO_THROW {
  ANDIRON_ASSIGN(Snapshots adapted, first_->save_back(std::move(tensors), file));
  return second_->save_back(std::move(adapted), file);
}
ANDIRON_OR_OUT_OF_MEMORY

Result<AnyAdapter> ChainAdapter::inverse() const ANDIRON_NO_THROW {
  ANDIRON_ASSIGN(AnyAdapter first, second_->inverse());
  ANDIRON_ASSIGN(AnyAdapter second, first_->inverse());
  return AnyAdapter(ChainAdapter(std::move(first), std::move(second)));
}
ANDIRON_OR_OUT_OF_MEMORY

std::string_view ChainAdapter::format_mark() const noexcept {
  const std::string_view last = second_->format_mark();
  return last.empty() ? first_->format_mark() : last;
}

Status ChainAdapter::status() const ANDIRON_NO_THROW {
  ANDIRON_TRY(first_->status());
  return second_->status();
}
ANDIRON_OR_OUT_OF_MEMORY

}  // namespace andiron::inline v1
