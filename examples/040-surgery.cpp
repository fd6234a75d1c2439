// SPDX-License-Identifier: MIT OR Apache-2.0
// Moves tensors between models: parts, other names, mixtures, tied parameters, other dtypes, a
// custom adapter and a custom tensor type.
#include <andiron/andiron.h>

#include <cstdio>
#include <exception>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

using namespace andiron;

// Lets a module keep a tensor in a type that the library does not know.
template <>
struct andiron::Leaf<std::vector<float>> {
  static LeafInfo info(const std::vector<float>& v) { return {DType::f32, {v.size()}}; }
  static Result<Tensor> get(const std::vector<float>& v) {
    return Tensor::from_values<float>({v.size()}, v);
  }
  static Result<std::vector<float>> make(const std::vector<float>&, const Tensor& tensor) {
    return tensor.to_vector<float>();
  }
};

namespace {

struct Encoder {
  nn::Embedding tokens = nn::EmbeddingConfig(10, 4).init();
  nn::Linear hidden = nn::LinearConfig(4, 4).init();
  ANDIRON_MODULE(Encoder, tokens, hidden)
};

struct Tagger {
  Encoder encoder;
  nn::Linear head = nn::LinearConfig(4, 3).init();
  std::vector<float> calibration = {0, 0, 0};
  ANDIRON_MODULE(Tagger, encoder, head, calibration)
};

struct Student {
  Encoder backbone;
  ANDIRON_MODULE(Student, backbone)
};

// Some frameworks pad the token table. This adapter takes only the rows the module has.
class DropPaddedRows final : public Chainable<DropPaddedRows> {
 public:
  explicit DropPaddedRows(std::int64_t rows) : rows_(rows) {}

 protected:
  Result<TensorSnapshot> adapt(Direction direction, const Place& place,
                               TensorSnapshot tensor) const override {
    if (direction == Direction::save || !place.container.is("Embedding")) return tensor;
    return tensor.slice(0, 0, rows_);
  }

 private:
  std::int64_t rows_;
};

void expect(bool holds, const char* what) {
  if (!holds) throw std::runtime_error(std::string("this does not hold: ") + what);
  std::printf("ok: %s\n", what);
}

bool equal(const Param& a, const Param& b) {
  return a.val().value().to_vector<float>().value() == b.val().value().to_vector<float>().value();
}

void move_parts() {
  const Tagger teacher, specialist;
  const PathFilter encoder = PathFilter().with_regex(R"(^encoder\.)");
  Tagger target;
  const ApplyResult part =
      apply(target, collect(teacher, {.filter = encoder}).value(), {.allow_partial = true}).value();
  expect(part.applied.size() == 3 && part.missing.size() == 3, "the encoder alone was moved");

  Student student;
  Snapshots renamed = collect(teacher, {.filter = encoder}).value();
  for (TensorSnapshot& tensor : renamed) {
    tensor.set_full_path("backbone" + tensor.full_path().substr(std::string("encoder").size()));
  }
  apply(student, renamed).value();
  expect(equal(student.backbone.hidden.weight, teacher.encoder.hidden.weight),
         "a tensor goes by the name that it was given");

  Snapshots merged = collect(teacher).value();
  merged.extend(collect(specialist, {.filter = encoder}).value());  // the later one wins
  apply(target, merged).value();
  expect(equal(target.head.weight, teacher.head.weight) &&
             equal(target.encoder.hidden.weight, specialist.encoder.hidden.weight),
         "the head is the teacher's, the encoder the specialist's");

  Tagger calibrated;
  calibrated.calibration = {1, 2, 3};
  apply(target, collect(calibrated).value()).value();
  expect(target.calibration == std::vector<float>{1, 2, 3}, "a std::vector<float> moves, too");
}

void share_a_table() {
  std::map<std::string, nn::Embedding> model, copy;
  for (auto* tables : {&model, &copy}) {
    (*tables)["input"] = nn::EmbeddingConfig(10, 4).init();
    tie((*tables)["input"].weight, (*tables)["output"].weight);
  }
  auto file = SafetensorsStore().write_ties_once(true);
  save_into(model, file).value();
  expect(file.keys().value() == std::vector<std::string>{"input.weight"}, "it is written once");
  load_from(copy, file).value();
  expect(equal(copy["output"].weight, model["input"].weight), "one tensor feeds both places");
}

void change_dtypes() {
  auto half = SafetensorsStore().with_to_adapter(HalfPrecisionAdapter());
  save_into(Encoder(), half).value();
  Encoder copy;
  expect(!load_from(copy, half.dtype_policy(DTypePolicy::strict)), "strict: f16 is refused");
  load_from(copy, half.dtype_policy(DTypePolicy::cast_to_module)).value();
  expect(copy.hidden.weight.dtype() == DType::f32, "cast_to_module: it becomes f32");
  load_from(copy, half.dtype_policy(DTypePolicy::from_file)).value();
  expect(copy.hidden.weight.dtype() == DType::f16, "from_file: it stays f16");
}

void use_an_adapter() {
  const Snapshots padded = collect(nn::EmbeddingConfig(64, 4).init()).value();
  nn::Embedding tokens = nn::EmbeddingConfig(10, 4).init();
  expect(!apply(tokens, padded), "64 rows do not fit 10");
  const AnyAdapter adapter = DropPaddedRows(10).chain(FloatCastAdapter::to(DType::f64));
  apply(tokens, padded, {.adapter = adapter}).value();
  expect(tokens.weight.shape() == Shape{10, 4} && tokens.weight.dtype() == DType::f64,
         "one adapter takes the first rows, the next converts them");
}

}  // namespace

int main() {
  try {
    move_parts();
    share_a_table();
    change_dtypes();
    use_an_adapter();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
