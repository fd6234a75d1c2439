// SPDX-License-Identifier: MIT OR Apache-2.0
// Lists the tensors of files with their hashes, as tests/embedded/host.cpp does on the host, and
// tells how much stack each use of the library took at most.
#include <andiron/bind.h>
#include <andiron/view_writer.h>

#include <array>

#include "semihosting.h"
#include "src/analysis/sha256_portable.h"
#include "stack_use.h"

namespace {

using namespace andiron;

struct Layer {
  TensorView<float, 4, 4> weight;
  TensorView<float> bias;
  ANDIRON_MODULE(Layer, weight, bias)
};
struct Net {
  std::array<Layer, 2> layers;
  ANDIRON_MODULE(Net, layers)
};

alignas(256) std::byte memory[100 * 1024];
char name[8 * 1024];

struct StackUse {
  const char* what;
  std::size_t most = 0;

  template <class Function>
  void measure(const Function& function) {
    const std::size_t used = stack_used_by(function);
    if (used > most) most = used;
  }
  void tell() const {
    board::print("stack\t");
    board::print(what);
    board::print("\t");
    board::print(most);
    board::print("\n");
  }
};

template <class Text>
void print_name(const Text& text) {
  if (text.raw.size() > sizeof name) return board::print("(long)");
  board::print(std::string_view(name, text.decode(name)));
}

template <class Entry>
void list(std::string_view path, const Entry& entry, std::span<const std::byte> data) {
  board::print(path);
  board::print("\t");
  print_name(entry.name);
  board::print("\t");
  board::print(dtype_name(entry.dtype));
  for (const std::uint64_t dim : entry.dims()) {
    board::print(" ");
    board::print(static_cast<unsigned long>(dim));
  }
  board::print("\t");
  detail::Sha256Portable sha;
  sha.update(data);
  for (const std::uint8_t byte : sha.finish()) {
    const char digits[] = {"0123456789abcdef"[byte >> 4], "0123456789abcdef"[byte & 15]};
    board::print(std::string_view(digits, 2));
  }
  board::print("\n");
}

template <class View, class Entry>
void inspect(std::string_view path, std::span<const std::byte> file, StackUse& open,
             StackUse& bound) {
  View view;
  ViewStatus status;
  open.measure([&] { status = View::open(file, view); });
  if (!status.ok()) return;
  auto header = view.header();
  using Item = typename decltype(header)::Item;
  static Entry entry;
  for (Item item = header.next(entry); item != Item::end; item = header.next(entry)) {
    if (item == Item::error) break;
    if (item == Item::tensor) list(path, entry, view.data(entry));
  }
  Net net;
  bound.measure([&] { static_cast<void>(bind(net, view, {.allow_partial = true})); });
}

void measure_saving() {
  static constexpr float numbers[16] = {};
  static Net net;
  const std::uint64_t shape[] = {4};
  for (Layer& layer : net.layers) layer.weight = TensorView<float, 4, 4>(numbers);
  const TensorToWrite bias[] = {
      {"layers.0.bias", DType::f32, shape, std::as_bytes(std::span(numbers).first(4))},
      {"layers.1.bias", DType::f32, shape, std::as_bytes(std::span(numbers).first(4))}};
  // The model's own biases, which take any shape, come from a file.
  static std::byte biases[512];
  const MetadataToWrite metadata[] = {{"b", "1"}, {"a", "2"}};
  static_cast<void>(save_safetensors(bias, biases, metadata));
  SafetensorsView view;
  static_cast<void>(SafetensorsView::open(biases, view));
  Net from_file;
  static_cast<void>(bind(from_file, view, {.allow_partial = true}));
  for (std::size_t i = 0; i < 2; ++i) net.layers[i].bias = from_file.layers[i].bias;
  StackUse safetensors{"save_safetensors"};
  StackUse burnpack{"save_burnpack"};
  SaveResult result;
  safetensors.measure([&] { result = save_safetensors(net, memory, metadata); });
  if (!result.ok()) board::print("save_safetensors failed\n");
  burnpack.measure([&] { result = save_burnpack(net, memory, metadata); });
  if (!result.ok()) board::print("save_burnpack failed\n");
  safetensors.tell();
  burnpack.tell();
}

}  // namespace

int main() {
  static char line[16 * 1024];
  std::string_view rest = board::command_line(line);
  StackUse uses[] = {
      {"open_safetensors"}, {"bind_safetensors"}, {"open_burnpack"}, {"bind_burnpack"}};
  bool is_first = true;  // which is the program's name
  while (!rest.empty()) {
    std::size_t end = 0;
    while (end < rest.size() && rest[end] != ' ') ++end;
    char* const path = line + (rest.data() - line);
    path[end] = '\0';
    const std::string_view shown(path, end);
    rest.remove_prefix(end < rest.size() ? end + 1 : end);
    if (is_first) {
      is_first = false;
      continue;
    }
    const board::File file(path, board::File::Mode::read);
    const std::size_t size = file.is_open() ? file.read(memory) : 0;
    if (size == 0) {
      board::print("cannot read ");
      board::print(shown);
      board::print("\n");
      return 1;
    }
    const std::span<const std::byte> bytes = std::span(memory).first(size);
    if (shown.back() == 's') {
      inspect<SafetensorsView, SafetensorsEntry>(shown, bytes, uses[0], uses[1]);
    } else {
      inspect<BurnpackView, BurnpackEntry>(shown, bytes, uses[2], uses[3]);
    }
  }
  for (const StackUse& use : uses) use.tell();
  measure_saving();
  return 0;
}
