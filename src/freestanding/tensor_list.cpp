// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/freestanding/view_writer_test.cpp
#include "src/freestanding/tensor_list.h"

#include "andiron/safetensors_view.h"

namespace andiron::inline v1::detail {
namespace {

// Numbers the tensors and lays them out, one after the other.
struct Lister {
  void (*function)(void*, const ListedTensor&);
  void* take;
  std::uint64_t alignment;
  std::size_t index = 0;
  std::uint64_t end = 0;

  void add(ListedTensor& listed) noexcept {
    listed.index = index++;
    listed.begin = (end + alignment - 1) / alignment * alignment;
    end = listed.begin + listed.tensor.data.size();
    function(take, listed);
  }
};

void add_field(void* lister, const FieldWalk& walk, const ViewSlot& slot) noexcept {
  std::size_t bytes = bit_width(slot.dtype) / 8;
  const std::size_t rank = slot.any != nullptr ? slot.any->rank : slot.rank;
  for (std::size_t i = 0; i < rank; ++i) bytes *= static_cast<std::size_t>(slot.dims[i]);
  ListedTensor listed;
  listed.tensor.name = walk.path();
  listed.tensor.dtype = slot.dtype;
  listed.tensor.shape = {slot.dims, rank};
  listed.tensor.data = {static_cast<const std::byte*>(*slot.data), bytes};
  listed.is_transposed = slot.is_transposed;
  listed.has_long_name = walk.is_cut_off();
  static_cast<Lister*>(lister)->add(listed);
}

int compare_names(std::string_view a, std::string_view b) noexcept {
  const std::size_t size = a.size() < b.size() ? a.size() : b.size();
  const int order = size == 0 ? 0 : __builtin_memcmp(a.data(), b.data(), size);
  if (order != 0) return order;
  return a.size() < b.size() ? -1 : static_cast<int>(a.size() > b.size());
}

}  // namespace

void TensorList::each(void* take, Function function) const noexcept {
  Lister lister{function, take, alignment_};
  if (model_ != nullptr) {
    FieldWalk walk(add_field, &lister);
    model_->walk(model_->model, walk);
    return;
  }
  for (const TensorToWrite& tensor : tensors_) {
    ListedTensor listed;
    listed.tensor = tensor;
    lister.add(listed);
  }
}

int InOrder::compare(const ListedTensor& a, const ListedTensor& b) const noexcept {
  if (order_ == Order::by_type) {
    const int ranks =
        safetensors_dtype_rank(b.tensor.dtype) - safetensors_dtype_rank(a.tensor.dtype);
    if (ranks != 0) return ranks;
  }
  return compare_names(a.tensor.name, b.tensor.name);
}

void InOrder::keep(const ListedTensor& tensor, ListedTensor& out, char* name) const noexcept {
  out = tensor;
  if (list_.has_lasting_names()) return;
  const std::size_t size = tensor.tensor.name.size();
  __builtin_memcpy(name, tensor.tensor.name.data(), size);
  out.tensor.name = {name, size};
}

bool InOrder::next() noexcept {
  ListedTensor best;
  char best_name[max_path_bytes];
  bool has_best = false;
  is_repeated_ = false;
  list_.each([&](const ListedTensor& tensor) {
    if (has_tensor_ && compare(tensor, tensor_) <= 0) return;
    const int order = has_best ? compare(tensor, best) : -1;
    if (order > 0) return;
    is_repeated_ = order == 0;
    if (order == 0) return;
    has_best = true;
    keep(tensor, best, best_name);
  });
  if (has_best) keep(best, tensor_, name_);
  has_tensor_ = has_best;
  return has_best;
}

}  // namespace andiron::inline v1::detail
