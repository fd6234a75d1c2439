// SPDX-License-Identifier: MIT OR Apache-2.0
// Opens a model, converts its f32 tensors to f16, writes it, and checks that it reads back
// unchanged. usage: 005-open-and-write INPUT [OUTPUT.safetensors]
#include <andiron/andiron.h>

#include <cstdio>
#include <string>

using namespace andiron;

namespace {

int fail(const Error& error) {
  std::fprintf(stderr, "%s\n", error.to_string().c_str());
  return 1;
}

// Every tensor of `model`, f32 as f16, all others unchanged. Reads nothing: elements are converted
// when they are written.
Result<Archive> halved(const Archive& model) {
  Archive half;
  for (std::size_t i : model.natural_order()) {
    TensorSnapshot tensor = model.snapshot(i);
    if (tensor.dtype() == DType::f32) {
      Result<TensorSnapshot> cast = tensor.cast(DType::f16);
      if (!cast) return cast.error();
      tensor = *cast;
    }
    if (Status added = half.add(tensor); !added) return added.error();
  }
  Metadata metadata = model.metadata();
  metadata["precision"] = "half";
  half.set_metadata(metadata);
  return half;
}

// Writes to the file `path`, or to memory if it is empty, and opens the result.
Result<Archive> written_and_opened(const Archive& archive, const std::string& path) {
  if (path.empty()) {
    Result<Bytes> file = write_to_memory(archive);
    return file ? open(*file) : file.error();
  }
  Result<WriteReport> report = write(archive, path, {.overwrite = true});
  return report ? open(path) : report.error();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    std::fprintf(stderr, "usage: %s INPUT [OUTPUT.safetensors]\n", argv[0]);
    return 4;
  }
  Result<Archive> model = open(argv[1]);
  if (!model) return fail(model.error());
  Result<Archive> half = halved(*model);
  if (!half) return fail(half.error());
  Result<Archive> copy = written_and_opened(*half, argc == 3 ? argv[2] : "");
  if (!copy) return fail(copy.error());

  for (std::size_t i : half->natural_order()) {
    const TensorSnapshot expected = half->snapshot(i);
    Result<TensorSnapshot> found = copy->get(expected.full_path());
    if (!found) return fail(found.error());
    Result<Sha256Digest> expected_hash = sha256(expected);
    if (!expected_hash) return fail(expected_hash.error());
    Result<Sha256Digest> found_hash = sha256(*found);
    if (!found_hash) return fail(found_hash.error());
    if (*expected_hash != *found_hash) {
      std::fprintf(stderr, "'%s' has changed\n", expected.full_path().c_str());
      return 1;
    }
    std::printf("%s %s %s\n", expected.full_path().c_str(), expected.dtype_text().c_str(),
                expected.shape().to_string().c_str());
  }
  std::printf("%zu tensors written and read back, all equal\n", copy->size());
  return 0;
}
