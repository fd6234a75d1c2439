// SPDX-License-Identifier: MIT OR Apache-2.0
// Pickles put together by hand, read as far as their graph.
#pragma once

#include <memory>

#include "src/codec/pickle/machine.h"
#include "src/format/pytorch/pickle_document.h"
#include "tests/support/pickle_writing.h"
#include "tests/support/zip_writing.h"

namespace andiron::test {

/// The graph of a pickle, with where it came from.
inline std::unique_ptr<detail::PickleDocument> content_of(const Py& root) {
  const ByteSourcePtr source = source_of(py::pickle(root), "test.pkl");
  return std::make_unique<detail::PickleDocument>(
      detail::read_pickle(*source, 0, source->size(), {}).value(), source,
      detail::Storage::no_file);
}

}  // namespace andiron::test
