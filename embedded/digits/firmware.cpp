// SPDX-License-Identifier: MIT OR Apache-2.0
// A network in flash reads handwritten digits, is changed, and is saved.
#include <andiron/bind.h>
#include <andiron/view_writer.h>

#include "embedded/digits.h"
#include "embedded/digits_half.h"
#include "embedded/test.h"
#include "net.h"
#include "semihosting.h"

namespace {

using namespace andiron;

// Ends the program with the reason if something failed.
void expect(const ViewStatus& status) {
  if (status.ok()) return;
  board::print(status.what);
  board::print("\n");
  board::exit(1);
}

template <class View, class Model>
void load(std::span<const std::byte> file, Model& model, std::span<std::byte> arena = {}) {
  View view;
  expect(View::open(file, view));
  const BindResult result = bind(model, view, {.arena = arena});
  if (!result.ok()) {
    char text[200];
    board::print(result.describe(text));
    board::print("\n");
    board::exit(1);
  }
}

float answers[digits::image_count][10];

void run(const char* what, const digits::Net& net, const digits::TestSet& test) {
  unsigned long right = 0;
  for (std::size_t i = 0; i < digits::image_count; ++i) {
    net.forward(test.images.data() + i * 64, answers[i]);
    right += digits::largest_of(answers[i]) == test.labels[i] ? 1 : 0;
  }
  board::print(what);
  board::print(": ");
  board::print(right);
  board::print(" of 360 right\n");
}

bool write_to_file(void* file, std::span<const std::byte> bytes) {
  return static_cast<const board::File*>(file)->write(bytes);
}

}  // namespace

int main() {
  digits::TestSet test;
  load<SafetensorsView>(embedded::test(), test);

  // Weights stay in flash: the network itself is 14 pointers.
  digits::Net net;
  load<BurnpackView>(embedded::digits(), net);
  run("f32 in flash", net, test);
  const std::uint64_t shape[] = {digits::image_count, 10};
  const TensorToWrite outputs[] = {
      {"outputs", DType::f32, shape, std::as_bytes(std::span(&answers[0][0], 3600))}};
  board::File outputs_file("outputs.safetensors", board::File::Mode::write);
  expect(save_safetensors(outputs, {write_to_file, &outputs_file}));

  // A new bias, which makes zero the answer to everything.
  float bias[10];
  for (std::size_t i = 0; i < 10; ++i) bias[i] = net.output.bias[i];
  bias[0] += 100;
  net.output.bias = TensorView<float, 10>(bias);
  run("with another bias", net, test);
  static std::byte memory[48 * 1024];
  const SaveResult saved = save_burnpack(net, memory);
  expect(saved);
  const board::File changed("changed.bpk", board::File::Mode::write);
  changed.write(std::span(memory).first(static_cast<std::size_t>(saved.bytes)));

  // Half the flash, and memory for what the processor computes with.
  alignas(8) static std::byte arena[40 * 1024];
  load<SafetensorsView>(embedded::digits_half(), net, arena);
  run("f16 in flash", net, test);
  return 0;
}
