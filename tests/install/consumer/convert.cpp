// SPDX-License-Identifier: MIT OR Apache-2.0
// A program that converts a weight file for another program.
// usage: convert INPUT OUTPUT
#include <andiron/open.h>
#include <andiron/write.h>

int main(int, char** arguments) {
  andiron::Archive file = andiron::open(arguments[1]).value();
  andiron::Archive classifier;
  for (const std::string name : {"weight", "bias"}) {
    andiron::TensorSnapshot tensor = file.get("head." + name).value();
    tensor.set_full_path("classifier." + name);
    classifier.add(tensor).value();
  }
  andiron::write(classifier, arguments[2]).value();
}
