// SPDX-License-Identifier: MIT OR Apache-2.0
// A range of the output is cut into boxes (all inner dimensions whole), a box into blocks of the
// source that fit the scratch buffer, and a block is moved by two nested loops over tiles. Tested
// by tests/core/gather_test.cpp
#include "src/core/kernels/gather.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <utility>

#include "andiron/limits.h"
#include "src/core/kernels/convert.h"
#include "src/core/sort.h"
#include "src/core/strides.h"
#include "src/core/try.h"

namespace andiron::inline v1::detail {
namespace {

constexpr std::uint64_t scratch_bytes = std::uint64_t{1} << 20;  // stays in the second-level cache
constexpr std::uint64_t page_bytes = 4096;
constexpr std::uint64_t tile_side = 64;

struct Dim {
  std::uint64_t size;
  std::int64_t source_stride;
  std::int64_t out_stride;
  std::uint64_t source_step() const { return stride_size(source_stride); }
};

// Dimensions of a block, most significant first.
struct Dims {
  std::array<Dim, max_rank> items;
  std::size_t count = 0;
  void push(Dim dim) { items[count++] = dim; }
  std::span<const Dim> all() const { return {items.data(), count}; }
};

template <std::size_t Width>
void copy_run(const std::byte* source, std::int64_t source_stride, std::byte* out,
              std::int64_t out_stride, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) {
    std::memcpy(out, source, Width);
    source += source_stride;
    out += out_stride;
  }
}

void copy_elements(std::size_t width, const std::byte* source, std::int64_t source_stride,
                   std::byte* out, std::int64_t out_stride, std::uint64_t count) {
  const auto step = static_cast<std::int64_t>(width);
  if (source_stride == step && out_stride == step) {
    std::memcpy(out, source, static_cast<std::size_t>(count) * width);
    return;
  }
  switch (width) {
    case 1:
      return copy_run<1>(source, source_stride, out, out_stride, count);
    case 2:
      return copy_run<2>(source, source_stride, out, out_stride, count);
    case 4:
      return copy_run<4>(source, source_stride, out, out_stride, count);
    case 8:
      return copy_run<8>(source, source_stride, out, out_stride, count);
    default:
      return copy_run<16>(source, source_stride, out, out_stride, count);
  }
}

// Moves blocks that lie in memory.
class BlockMover {
 public:
  explicit BlockMover(const ElementMap& map)
      : map_(map),
        in_width_(bit_width(map.stored()) / 8),
        out_width_(bit_width(map.result()) / 8) {}

  void move(std::span<const Dim> dims, const std::byte* source, std::byte* out) {
    Dims ordered;
    for (const Dim& dim : dims) ordered.push(dim);
    // The two dimensions with the smallest steps, on either side, go innermost, where tiles are.
    Dim* items = ordered.items.data();
    if (ordered.count > 2) {
      auto last = items + ordered.count - 1;
      std::iter_swap(last, std::min_element(items, last + 1, [](const Dim& a, const Dim& b) {
                       return a.out_stride < b.out_stride;
                     }));
      std::iter_swap(last - 1, std::min_element(items, last, [](const Dim& a, const Dim& b) {
                       return a.source_step() < b.source_step();
                     }));
    }
    loop(ordered.all(), source, out);
  }

 private:
  void loop(std::span<const Dim> dims, const std::byte* source, std::byte* out) {
    if (dims.empty()) return run(source, 0, out, 0, 1);
    if (dims.size() == 1) {
      return run(source, dims[0].source_stride, out, dims[0].out_stride, dims[0].size);
    }
    if (dims.size() == 2) return move_matrix(dims[0], dims[1], source, out);
    for (std::uint64_t i = 0; i < dims[0].size; ++i) {
      loop(dims.subspan(1), source, out);
      source += dims[0].source_stride;
      out += dims[0].out_stride;
    }
  }

  // Rows when both sides run the same way, square tiles when one side is transposed: a tile's cache
  // lines are then used whole.
  void move_matrix(Dim rows, Dim columns, const std::byte* source, std::byte* out) {
    if (rows.out_stride < columns.out_stride) std::swap(rows, columns);
    const bool transposed = rows.source_step() < columns.source_step();
    if (transposed && rows.source_stride == static_cast<std::int64_t>(in_width_)) {
      return transpose(rows, columns, source, out);
    }
    const std::uint64_t side = transposed ? tile_side : columns.size;
    for (std::uint64_t r0 = 0; r0 < rows.size; r0 += tile_side) {
      const std::uint64_t r1 = std::min(rows.size, r0 + tile_side);
      for (std::uint64_t c = 0; c < columns.size; c += side) {
        for (std::uint64_t r = r0; r < r1; ++r) {
          const auto row = static_cast<std::int64_t>(r);
          const auto column = static_cast<std::int64_t>(c);
          run(source + row * rows.source_stride + column * columns.source_stride,
              columns.source_stride, out + row * rows.out_stride + column * columns.out_stride,
              columns.out_stride, std::min(side, columns.size - c));
        }
      }
    }
  }

  // A tile is first brought together: rows of the source are often a power of two apart, and would
  // push each other out of the cache.
  void transpose(Dim rows, Dim columns, const std::byte* source, std::byte* out) {
    const std::uint64_t pitch = (tile_side + 1) * in_width_;
    for (std::uint64_t c0 = 0; c0 < columns.size; c0 += tile_side) {
      const std::uint64_t width = std::min(tile_side, columns.size - c0);
      for (std::uint64_t r0 = 0; r0 < rows.size; r0 += tile_side) {
        const std::uint64_t height = std::min(tile_side, rows.size - r0);
        const std::byte* from = source + static_cast<std::int64_t>(c0) * columns.source_stride +
                                static_cast<std::int64_t>(r0) * rows.source_stride;
        for (std::uint64_t c = 0; c < width; ++c) {
          std::memcpy(tile_.data() + c * pitch, from, static_cast<std::size_t>(height) * in_width_);
          from += columns.source_stride;
        }
        std::byte* to = out + static_cast<std::int64_t>(r0) * rows.out_stride +
                        static_cast<std::int64_t>(c0) * columns.out_stride;
        for (std::uint64_t r = 0; r < height; ++r) {
          run(tile_.data() + r * in_width_, static_cast<std::int64_t>(pitch), to,
              columns.out_stride, width);
          to += rows.out_stride;
        }
      }
    }
  }

  void run(const std::byte* source, std::int64_t source_stride, std::byte* out,
           std::int64_t out_stride, std::uint64_t count) {
    if (map_.is_identity()) {
      return copy_elements(in_width_, source, source_stride, out, out_stride, count);
    }
    const bool contiguous = out_stride == static_cast<std::int64_t>(out_width_);
    if (contiguous && map_.is_cast() && source_stride == static_cast<std::int64_t>(in_width_)) {
      return convert(map_.stored(), source, map_.result(), out, static_cast<std::size_t>(count));
    }
    while (count != 0) {
      const auto n = static_cast<std::size_t>(std::min<std::uint64_t>(count, ElementMap::tile));
      copy_elements(in_width_, source, source_stride, stored_.data(),
                    static_cast<std::int64_t>(in_width_), n);
      if (contiguous) {
        map_.run(stored_, out, n);
      } else {
        map_.run(stored_, mapped_.data(), n);
        copy_elements(out_width_, mapped_.data(), static_cast<std::int64_t>(out_width_), out,
                      out_stride, n);
      }
      source += static_cast<std::int64_t>(n) * source_stride;
      out += static_cast<std::int64_t>(n) * out_stride;
      count -= n;
    }
  }

  const ElementMap& map_;
  std::size_t in_width_;
  std::size_t out_width_;
  ElementMap::Buffer stored_;
  ElementMap::Buffer mapped_;
  std::array<std::byte, tile_side*(tile_side + 1) * ElementMap::max_element_bytes> tile_;
};

// A piece of a box that is read at once.
struct Block {
  Dims dims;
  std::uint64_t offset;  // of its first element in the source
  std::byte* out;        // where that goes
  std::uint64_t bytes;   // from the first to the last byte in the source
  std::uint64_t before;  // of these, those that backward strides reach below the first element
  bool is_run;           // one run on both sides, which needs no scratch
};

// Cuts a box into blocks, in the order of the source: what lies close enough together is read along
// with what is between, as far as the scratch buffer goes.
class BoxCutter {
 public:
  BoxCutter(const ElementMap& map, bool in_memory)
      : width_(bit_width(map.stored()) / 8), may_run_(map.is_identity()), in_memory_(in_memory) {}

  void begin(const Dims& box, std::uint64_t offset, std::byte* out) {
    box_ = box;
    offset_ = offset;
    out_ = out;
    outer_ = 0;
    together_ = 1;
    at_ = {};
    is_done_ = false;
    if (in_memory_) return;
    detail::sort(box_.items.begin(), box_.items.begin() + static_cast<std::ptrdiff_t>(box_.count),
                 [](const Dim& a, const Dim& b) { return a.source_step() > b.source_step(); });
    // Dimensions that are stepped through, and how many steps of the last are taken at once.
    while (outer_ < box_.count && !is_run(inner(outer_)) && together_ == 1) {
      if (is_dense(inner(outer_))) {
        const std::uint64_t least = extent(inner(outer_ + 1));
        const std::uint64_t step = std::max<std::uint64_t>(box_.items[outer_].source_step(), 1);
        if (least < scratch_bytes) together_ += (scratch_bytes - least) / step;
      }
      ++outer_;
    }
  }

  // The next block; false after the last.
  bool next(Block& block) {
    if (is_done_) return false;
    block.dims.count = 0;
    block.offset = offset_;
    block.out = out_;
    for (std::size_t d = 0; d < outer_; ++d) {
      const Dim& dim = box_.items[d];
      const auto index = static_cast<std::int64_t>(at_[d]);
      block.offset += static_cast<std::uint64_t>(index * dim.source_stride);
      block.out += index * dim.out_stride;
    }
    if (together_ > 1) {
      Dim last = box_.items[outer_ - 1];
      last.size = std::min(together_, last.size - at_[outer_ - 1]);
      block.dims.push(last);
    }
    for (const Dim& dim : inner(outer_)) block.dims.push(dim);
    block.bytes = extent(block.dims.all());
    block.before = 0;
    for (const Dim& dim : block.dims.all()) {
      if (dim.source_stride < 0) block.before += (dim.size - 1) * dim.source_step();
    }
    block.is_run = together_ == 1 && !in_memory_ && is_run(inner(outer_));
    step();
    return true;
  }

 private:
  std::span<const Dim> inner(std::size_t d) const { return box_.all().subspan(d); }

  // Bytes from the first to the last element.
  std::uint64_t extent(std::span<const Dim> dims) const {
    std::uint64_t bytes = width_;
    for (const Dim& dim : dims) bytes += (dim.size - 1) * dim.source_step();
    return bytes;
  }

  // Whether neighbours along every dimension are close enough to be read together.
  bool is_dense(std::span<const Dim> dims) const {
    for (; !dims.empty(); dims = dims.subspan(1)) {
      if (dims[0].source_step() > extent(dims.subspan(1)) + page_bytes) return false;
    }
    return true;
  }

  bool is_run(std::span<const Dim> dims) const {
    if (!may_run_ || dims.size() > 1) return false;
    const auto width = static_cast<std::int64_t>(width_);
    return dims.empty() || (dims[0].source_stride == width && dims[0].out_stride == width);
  }

  void step() {
    for (std::size_t d = outer_; d-- > 0;) {
      at_[d] += d + 1 == outer_ ? together_ : 1;
      if (at_[d] < box_.items[d].size) return;
      at_[d] = 0;
    }
    is_done_ = true;
  }

  std::uint64_t width_;
  bool may_run_;
  bool in_memory_;
  Dims box_;
  std::uint64_t offset_ = 0;
  std::byte* out_ = nullptr;
  std::size_t outer_ = 0;
  std::uint64_t together_ = 1;
  std::array<std::uint64_t, max_rank> at_;
  bool is_done_ = true;
};

// The box of `count` steps along `dim` with all inner dimensions whole. Neighbouring dimensions
// that continue each other on both sides become one.
Dims make_box(const StridedView& view, std::size_t dim, std::uint64_t count, std::uint64_t width) {
  Dims reversed;
  std::uint64_t out_step = width;
  for (std::size_t d = view.shape.size(); d-- > dim;) {
    const std::uint64_t size = d == dim ? count : view.shape[d];
    const Dim next{size, view.strides[d], static_cast<std::int64_t>(out_step)};
    out_step *= size;
    if (size == 1) continue;
    if (reversed.count != 0) {
      Dim& inner = reversed.items[reversed.count - 1];
      const std::uint64_t inner_extent =
          inner.size * static_cast<std::uint64_t>(inner.source_stride);
      if (next.source_stride == static_cast<std::int64_t>(inner_extent)) {
        inner.size *= size;
        continue;
      }
    }
    reversed.push(next);
  }
  std::reverse(reversed.items.begin(),
               reversed.items.begin() + static_cast<std::ptrdiff_t>(reversed.count));
  return reversed;
}

}  // namespace

struct Gather::State {
  State(const StridedView& strided, const ElementMap& elements, std::uint64_t first_element,
        std::uint64_t element_count, std::byte* target)
      : view(strided),
        width(bit_width(elements.result()) / 8),
        first(first_element),
        count(element_count),
        out(target),
        mover(elements),
        cutter(elements, strided.source.in_memory()) {
    std::uint64_t product = 1;
    for (std::size_t d = view.shape.size(); d-- > 0;) {
      inner[d] = product;
      product *= view.shape[d];
    }
  }

  // The largest box of whole steps from `first` on. REQUIRES: count != 0.
  void begin_box() {
    const std::size_t rank = view.shape.size();
    // The outermost dimension along which whole steps fit from here.
    std::size_t dim = 0;
    while (dim < rank && (first % inner[dim] != 0 || inner[dim] > count)) ++dim;
    std::uint64_t steps = 1;
    std::uint64_t elements = 1;
    if (dim < rank) {
      const std::uint64_t position = first / inner[dim] % view.shape[dim];
      steps = std::min(count / inner[dim], view.shape[dim] - position);
      elements = steps * inner[dim];
    }
    std::uint64_t offset = view.offset;
    for (std::size_t d = 0; d < rank; ++d) {
      const auto index = static_cast<std::int64_t>(first / inner[d] % view.shape[d]);
      offset += static_cast<std::uint64_t>(index * view.strides[d]);
    }
    cutter.begin(make_box(view, dim, steps, width), offset, out);
    out += elements * width;
    first += elements;
    count -= elements;
  }

  const StridedView view;
  const std::uint64_t width;                  // of an element in the output
  std::array<std::uint64_t, max_rank> inner;  // elements under one step of each dimension
  // What is still to be cut into boxes.
  std::uint64_t first;
  std::uint64_t count;
  std::byte* out;
  BlockMover mover;
  BoxCutter cutter;
  Block block = {};
  Bytes scratch;
  bool is_in_scratch = false;  // the block, which is then to be moved
};

// On the heap: too large for the stacks of small threads.
Gather::Gather(const StridedView& view, const ElementMap& map, std::uint64_t first,
               std::uint64_t count, std::byte* out)
    : state_(std::make_unique<State>(view, map, first, count, out)) {}

Gather::~Gather() = default;

Result<std::span<std::byte>> Gather::next() {
  Block& block = state_->block;
  const ByteSource& source = state_->view.source;
  const auto move_from = [&](const std::byte* bytes) {
    state_->mover.move(block.dims.all(), bytes + block.before, block.out);
  };
  if (std::exchange(state_->is_in_scratch, false)) move_from(state_->scratch.data());
  for (;;) {
    if (!state_->cutter.next(block)) {
      if (state_->count == 0) return std::span<std::byte>();
      state_->begin_box();
      continue;
    }
    const auto bytes = static_cast<std::size_t>(block.bytes);
    if (block.is_run) return std::span(block.out, bytes);
    if (source.in_memory()) {
      ANDIRON_ASSIGN(const Bytes lent, source.view(offset(), bytes));
      move_from(lent.data());
      continue;
    }
    if (state_->scratch.size() < bytes) {
      ANDIRON_ASSIGN(state_->scratch, Bytes::allocate(std::max(block.bytes, scratch_bytes)));
    }
    state_->is_in_scratch = true;
    return state_->scratch.writable().first(bytes);
  }
}

std::uint64_t Gather::offset() const noexcept {
  return state_->block.offset - state_->block.before;
}

}  // namespace andiron::inline v1::detail
