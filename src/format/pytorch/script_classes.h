// SPDX-License-Identifier: MIT OR Apache-2.0
// The classes of a TorchScript program, as its source code in the archive tells them.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "src/codec/zip_reader.h"
#include "src/format/pytorch/structure.h"

namespace andiron::inline v1::detail {

// The classes in one file of code, by name:
//
//   class Net(Module):
//     __parameters__ = ["weight", "bias", ]
//     __buffers__ = ["running_mean", ]
std::map<std::string, ScriptClass, std::less<>> script_classes_in(std::string_view code);

// Reads the code of a class when it is first asked for.
class ZipScriptClasses : public ScriptClasses {
 public:
  // `root` is the archive's folder, with a slash, or empty.
  ZipScriptClasses(ZipReaderPtr zip, std::string root)
      : zip_(std::move(zip)), root_(std::move(root)) {}
  const ScriptClass* find(const PickleGlobal& global) override;

 private:
  ZipReaderPtr zip_;
  std::string root_;
  // By module: "__torch__.torch.nn".
  std::map<std::string, std::map<std::string, ScriptClass, std::less<>>, std::less<>> modules_;
};

}  // namespace andiron::inline v1::detail
