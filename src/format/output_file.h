// SPDX-License-Identifier: MIT OR Apache-2.0
// A file that is being written, or that a dry run would write.
#pragma once

#include <memory>
#include <string>

#include "andiron/error.h"
#include "andiron/file.h"
#include "andiron/sink.h"
#include "andiron/write.h"

namespace andiron::inline v1::detail {

class OutputFile : public Sink {
 public:
  // Fails with AlreadyExists if the file may not be replaced.
  static Result<std::unique_ptr<OutputFile>> create(const std::string& path,
                                                    const WriteOptions& options);

  Status reserve(std::uint64_t total) override;
  Status write(std::span<const std::byte> data) override;
  // Gives the file its name.
  Status commit();

 private:
  explicit OutputFile(std::unique_ptr<AtomicFile> file) : file_(std::move(file)) {}

  std::unique_ptr<AtomicFile> file_;  // none in a dry run
};

}  // namespace andiron::inline v1::detail
