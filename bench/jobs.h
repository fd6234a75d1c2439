// SPDX-License-Identifier: MIT OR Apache-2.0
// Jobs that are the same for every format: opening a file, and writing a new one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "andiron/bytes.h"
#include "bench/cases.h"
#include "bench/files.h"

namespace andiron::bench {

// The least that a reader of a format can do: it reads the head of a file into memory that it
// keeps, and takes names, shapes and places out of it in one pass. It trusts every byte, checks
// nothing and cannot look up a name.
class HeadReader {
 public:
  virtual ~HeadReader() = default;
  // Returns how many tensors there are.
  virtual std::size_t read() = 0;
  // Of the file that was read last.
  virtual std::size_t head_bytes() const = 0;
};

// Opening a file, `times` in one run. `raw` outlives the job.
Job open_job(const std::string& name, const std::string& path, HeadReader& raw, std::size_t times);
// The same, counted in tensors, and as often as it takes for `tensors_in_a_run`.
Job open_index_job(const std::string& name, const std::string& path, HeadReader& raw,
                   std::size_t tensors, std::size_t tensors_in_a_run = 100'000);
// `head` is what the format calls it.
Case index_case(const std::string& name, const std::string& head, std::size_t tensors,
                void (*measure)(Harness&, const std::string& name, std::size_t tensors));
// Bytes of a file that lie in the page cache after `work`, which finds none there.
std::uint64_t bytes_cached_by(const std::function<void()>& work, const std::string& path);

// A file that a program makes where there is none.
struct NewFile {
  std::string path;
  std::function<void()> write;
};
Job new_file_job(const std::string& name, std::uint64_t bytes, const NewFile& raw,
                 const NewFile& andiron);
// Saving the tensors of a model that lies in memory to a new file of the same format.
Job save_job(const std::string& name, const TempFolder& folder, const std::string& file_name,
             const Bytes& model, bool sync);

// Moving a model from one file to another, of another format, with both in the page cache.
Job convert_job(const std::string& name, const TempFolder& folder, const std::string& source,
                const std::string& file_name);

}  // namespace andiron::bench
