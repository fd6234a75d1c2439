// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/nn/plain_loops_test.cpp
#include "src/nn/forward/onednn.h"

#ifdef ANDIRON_HAVE_ONEDNN

#include <array>
#include <atomic>
#include <cstdio>
#include <dnnl.hpp>
#include <new>
#include <unordered_map>

#include "src/nn/forward/parallel.h"

namespace andiron::inline v1 {
namespace nn::onednn {
namespace {

using dnnl::memory;

constexpr auto f32 = memory::data_type::f32;
constexpr auto any = memory::format_tag::any;

const dnnl::engine& cpu() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

// oneDNN follows null pointers where it has no memory for its many small objects. They take at most
// 1.3 MB; where more can be had in one piece, they can.
bool has_memory_for_small_objects() noexcept {
  constexpr std::size_t enough = std::size_t{4} << 20;
  void* const memory = ::operator new(enough, std::nothrow);
  ::operator delete(memory);
  return memory != nullptr;
}

memory::dim dim(std::size_t size) { return static_cast<memory::dim>(size); }

// The last `rank` of three sizes; what is added to each tells dilations from distances.
memory::dims dims(const ConvSize& size, const ConvSize::Sizes& sizes, memory::dim added = 0) {
  memory::dims result;
  for (std::size_t d = 3 - size.rank; d < 3; ++d) result.push_back(dim(sizes[d]) + added);
  return result;
}

memory::dims dims(std::initializer_list<std::size_t> first, const ConvSize& size,
                  const ConvSize::Sizes& sizes) {
  memory::dims result;
  for (const std::size_t one : first) result.push_back(dim(one));
  const memory::dims rest = dims(size, sizes);
  result.insert(result.end(), rest.begin(), rest.end());
  return result;
}

memory::dims row_major(const memory::dims& shape) {
  memory::dims strides(shape.size());
  memory::dim stride = 1;
  for (std::size_t d = shape.size(); d-- > 0;) {
    strides[d] = stride;
    stride *= shape[d];
  }
  return strides;
}

memory wrap(const memory::desc& layout, const float* data) {
  // oneDNN has no memory that is only read.
  return memory(layout, cpu(), const_cast<float*>(data));
}

// What a tensor is on our side and in the layout that oneDNN has chosen.
class Reordered {
 public:
  Reordered(memory ours, const memory::desc& wanted)
      : ours_(std::move(ours)),
        theirs_(ours_.get_desc() == wanted ? ours_ : memory(wanted, cpu())) {}
  void to_theirs(dnnl::stream& stream) {
    if (is_copy()) dnnl::reorder(ours_, theirs_).execute(stream, ours_, theirs_);
  }
  void to_ours(dnnl::stream& stream) {
    if (is_copy()) dnnl::reorder(theirs_, ours_).execute(stream, theirs_, ours_);
  }
  const memory& theirs() const { return theirs_; }

 private:
  bool is_copy() const { return theirs_.get_data_handle() != ours_.get_data_handle(); }
  memory ours_;
  memory theirs_;
};

// oneDNN 2 has descriptions of operations, oneDNN 3 only those of primitives.
template <class Forward, class... Arguments>
typename Forward::primitive_desc describe(const Arguments&... arguments) {
  // It would not notice that it has no memory to work in.
  dnnl::primitive_attr with_our_scratchpad;
  with_our_scratchpad.set_scratchpad_mode(dnnl::scratchpad_mode::user);
#if DNNL_VERSION_MAJOR >= 3
  return typename Forward::primitive_desc(cpu(), dnnl::prop_kind::forward_inference, arguments...,
                                          with_our_scratchpad);
#else
  return typename Forward::primitive_desc(
      typename Forward::desc(dnnl::prop_kind::forward_inference, arguments...), with_our_scratchpad,
      cpu());
#endif
}

template <class Forward>
bool run(const ConvSize& size, const ConvOperands<float>& operands, dnnl::algorithm algorithm,
         const memory::dims& weight_shape, const memory::dims& weight_strides) {
  if (!has_memory_for_small_objects()) return false;
  const ThreadCap cap;
  const memory::dims in = dims({size.batch, size.channels_in}, size, size.in);
  const memory::dims out = dims({size.batch, size.channels_out}, size, size.out);
  const memory::dims channels = {dim(size.channels_out)};
  const memory::desc our_in(in, f32, row_major(in));
  const memory::desc our_out(out, f32, row_major(out));
  const memory::desc bias(channels, f32, memory::format_tag::a);
  const memory::desc in_any(in, f32, any);
  const memory::desc out_any(out, f32, any);
  const memory::desc our_weight(weight_shape, f32, weight_strides);
  const memory::desc weight_any(weight_shape, f32, any);
  const memory::dims stride = dims(size, size.stride);
  const memory::dims dilation = dims(size, size.dilation, -1);
  const memory::dims padding = dims(size, size.padding);
  const memory::dims padding_end = dims(size, size.padding_end);
  const auto description = operands.bias == nullptr
                               ? describe<Forward>(algorithm, in_any, weight_any, out_any, stride,
                                                   dilation, padding, padding_end)
                               : describe<Forward>(algorithm, in_any, weight_any, bias, out_any,
                                                   stride, dilation, padding, padding_end);

  Reordered input(wrap(our_in, operands.input), description.src_desc());
  Reordered weight(wrap(our_weight, operands.weight), description.weights_desc());
  Reordered output(wrap(our_out, operands.output), description.dst_desc());
  const Forward forward(description);
  std::unordered_map<int, memory> arguments = {
      {DNNL_ARG_SRC, input.theirs()},
      {DNNL_ARG_WEIGHTS, weight.theirs()},
      {DNNL_ARG_DST, output.theirs()},
      {DNNL_ARG_SCRATCHPAD, memory(description.scratchpad_desc(), cpu())}};
  if (operands.bias != nullptr) arguments.emplace(DNNL_ARG_BIAS, wrap(bias, operands.bias));
  dnnl::stream stream(cpu());
  input.to_theirs(stream);
  weight.to_theirs(stream);
  forward.execute(stream, arguments);
  output.to_ours(stream);
  stream.wait();
  return true;
}

// Whether an element of the output is made of padding alone.
bool has_window_without_input(const ConvSize& size) {
  for (std::size_t d = 3 - size.rank; d < 3; ++d) {
    for (std::size_t o = 0; o < size.out[d]; ++o) {
      bool has_input = false;
      for (std::size_t k = 0; k < size.kernel[d] && !has_input; ++k) {
        const std::size_t padded = o * size.stride[d] + k * size.dilation[d];
        has_input = padded >= size.padding[d] && padded - size.padding[d] < size.in[d];
      }
      if (!has_input) return true;
    }
  }
  return false;
}

}  // namespace

bool multiply(ProductSize size, MatrixView<float> a, MatrixView<float> b,
              ProductTarget<float> out) noexcept try {
  // Only the first product makes objects that stay.
  static std::atomic<bool> is_ready = false;
  if (!is_ready && !has_memory_for_small_objects()) return false;
  const ThreadCap cap;
  const auto letter = [](bool is_transposed) { return is_transposed ? 'T' : 'N'; };
  const dnnl_status_t status =
      dnnl_sgemm(letter(a.is_transposed), letter(b.is_transposed), dim(size.rows),
                 dim(size.columns), dim(size.inner), 1, a.data, dim(a.stride), b.data,
                 dim(b.stride), out.adds ? 1.0f : 0.0f, out.data, dim(out.stride));
  is_ready = is_ready || status == dnnl_success;
  return status == dnnl_success;
} catch (...) {
  return false;  // even its C functions throw when there is no memory
}

bool convolve(const ConvSize& size, const ConvOperands<float>& operands) noexcept try {
  // oneDNN 3.6 follows a null pointer there.
  if (has_window_without_input(size)) return false;
  const std::size_t in_group = size.channels_in / size.groups;
  const std::size_t out_group = size.channels_out / size.groups;
  const memory::dims shape = size.groups == 1
                                 ? dims({out_group, in_group}, size, size.kernel)
                                 : dims({size.groups, out_group, in_group}, size, size.kernel);
  return run<dnnl::convolution_forward>(size, operands, dnnl::algorithm::convolution_direct, shape,
                                        row_major(shape));
} catch (...) {
  return false;
}

bool convolve_transposed(const ConvSize& size, const ConvOperands<float>& operands) noexcept try {
#ifdef __aarch64__
  // oneDNN 2.6 computes those of single channels wrong where vectors have 512 bits.
  if (size.groups > 1) return false;
#endif
  const std::size_t in_group = size.channels_in / size.groups;
  const std::size_t out_group = size.channels_out / size.groups;
  memory::dims shape = size.groups == 1
                           ? dims({in_group, out_group}, size, size.kernel)
                           : dims({size.groups, in_group, out_group}, size, size.kernel);
  memory::dims strides = row_major(shape);
  // oneDNN counts the channels out first.
  const std::size_t first = size.groups == 1 ? 0 : 1;
  std::swap(shape[first], shape[first + 1]);
  std::swap(strides[first], strides[first + 1]);
  return run<dnnl::deconvolution_forward>(size, operands, dnnl::algorithm::deconvolution_direct,
                                          shape, strides);
} catch (...) {
  return false;
}

const char* name() noexcept {
  static const std::array<char, 32> text = [] {
    const dnnl_version_t* const version = dnnl_version();
    std::array<char, 32> made = {};
    std::snprintf(made.data(), made.size(), "oneDNN %d.%d.%d", version->major, version->minor,
                  version->patch);
    return made;
  }();
  return text.data();
}

}  // namespace nn::onednn
}  // namespace andiron::inline v1

#else

namespace andiron::inline v1 {
namespace nn::onednn {

bool multiply(ProductSize, MatrixView<float>, MatrixView<float>, ProductTarget<float>) noexcept {
  return false;
}
bool convolve(const ConvSize&, const ConvOperands<float>&) noexcept { return false; }
bool convolve_transposed(const ConvSize&, const ConvOperands<float>&) noexcept { return false; }
const char* name() noexcept { return nullptr; }

}  // namespace nn::onednn
}  // namespace andiron::inline v1

#endif
