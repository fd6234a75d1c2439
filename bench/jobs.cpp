// SPDX-License-Identifier: MIT OR Apache-2.0
#include "bench/jobs.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>

#include "andiron/open.h"
#include "andiron/write.h"

namespace andiron::bench {
namespace {

void write_raw(const std::string& path, std::span<const std::byte> bytes, bool sync) {
  const Descriptor file(path, O_WRONLY | O_CREAT | O_EXCL);
  reserve(file, bytes.size());
  write_all(file, 0, bytes);
  if (sync && ::fsync(file.get()) != 0) throw std::runtime_error("fsync failed");
}

}  // namespace

Job open_job(const std::string& name, const std::string& path, HeadReader& raw, std::size_t times) {
  const auto read_raw = [&raw] { raw.read(); };
  const auto open_file = [path] { keep(open(path).value()); };
  read_raw();
  return {.name = name,
          .unit = Unit::runs,
          .amount = times,
          .programs = {repeated({.name = "raw", .run = read_raw}, times),
                       repeated({.name = "andiron", .run = open_file}, times)},
          .note = "reads " + std::to_string(bytes_read_by(open_file)) + " bytes, header " +
                  std::to_string(raw.head_bytes())};
}

Job open_index_job(const std::string& name, const std::string& path, HeadReader& raw,
                   std::size_t tensors, std::size_t tensors_in_a_run) {
  if (raw.read() != tensors || open(path).value().size() != tensors) {
    throw std::runtime_error("tensors are missing");
  }
  const std::size_t times = std::max<std::size_t>(tensors_in_a_run / tensors, 1);
  Job job = open_job(name, path, raw, times);
  job.unit = Unit::tensors;
  job.amount = times * tensors;
  return job;
}

Case index_case(const std::string& name, const std::string& head, std::size_t tensors,
                void (*measure)(Harness&, const std::string& name, std::size_t tensors)) {
  return {name, head + " of " + std::to_string(tensors) + " tensors, warm",
          [=](Harness& harness) { measure(harness, name, tensors); }};
}

std::uint64_t bytes_cached_by(const std::function<void()>& work, const std::string& path) {
  evict(path);
  work();
  return Mapping(path).resident_bytes();
}

Job new_file_job(const std::string& name, std::uint64_t bytes, const NewFile& raw,
                 const NewFile& andiron) {
  // Giving back the pages of an old file is slow, and no part of writing a new one.
  const auto remove_old = [raw_path = raw.path, path = andiron.path] {
    ::unlink(raw_path.c_str());
    ::unlink(path.c_str());
  };
  return {.name = name,
          .amount = bytes,
          .programs = {{.name = "raw", .run = raw.write, .prepare = remove_old},
                       {.name = "andiron", .run = andiron.write, .prepare = remove_old}}};
}

Job save_job(const std::string& name, const TempFolder& folder, const std::string& file_name,
             const Bytes& model, bool sync) {
  const std::string raw_path = folder.file("raw");
  const std::string path = folder.file(file_name);
  const auto raw = [=] { write_raw(raw_path, model.span(), sync); };
  const auto write_file = [=, archive = open(model).value()] {
    if (write(archive, path, {.sync = sync}).value().bytes != model.size()) {
      throw std::runtime_error("the programs disagree");
    }
  };
  return new_file_job(name, model.size(), {raw_path, raw}, {path, write_file});
}

Job convert_job(const std::string& name, const TempFolder& folder, const std::string& source,
                const std::string& file_name) {
  const Archive archive = open(source).value();
  const std::string raw_path = folder.file("raw");
  const std::string path = folder.file(file_name);
  const std::uint64_t size = archive.file_bytes();
  const auto raw = [=] {
    const Descriptor in(source, O_RDONLY);
    const Descriptor out(raw_path, O_WRONLY | O_CREAT | O_EXCL);
    reserve(out, size);
    std::vector<std::byte> window(std::size_t{1} << 20);
    for (std::uint64_t at = 0; at < size; at += window.size()) {
      const std::span part =
          std::span(window).first(std::min<std::uint64_t>(window.size(), size - at));
      read_all(in, at, part);
      write_all(out, at, part);
    }
  };
  const auto write_file = [=] { keep(write(archive, path, {.sync = false}).value()); };
  return new_file_job(name, size, {raw_path, raw}, {path, write_file});
}

}  // namespace andiron::bench
