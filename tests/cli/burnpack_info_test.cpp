// SPDX-License-Identifier: MIT OR Apache-2.0
// andiron info of Burnpack files: header, layout, scalars, quantization, and the bytes one by one.
#include <cmath>
#include <limits>

#include "andiron/tensor.h"
#include "andiron/write.h"
#include "tests/cli/sample_files.h"

namespace andiron::test {
namespace {

class BurnpackPage : public ToolTest {
 protected:
  static void add(Archive& archive, const std::string& name, std::uint64_t elements) {
    archive
        .add(TensorSnapshot(name, Tensor::zeros(DType::f32, {elements}).value())
                 .with_param_id(ParamId{7}))
        .value();
  }

  std::string pack(const Archive& archive,
                   BurnpackGeneration release = BurnpackGeneration::burn_0_22) const {
    const std::string file = path("m.bpk");
    andiron::write(archive, file, {.settings = BurnpackSettings{release}, .overwrite = true})
        .value();
    return file;
  }

  // Two tensors, the second by name first in the file.
  static Archive pair() {
    Archive archive;
    add(archive, "b", 3);
    add(archive, "a", 2);
    archive.set_metadata({{"author", "nobody"}});
    return archive;
  }

  // The page without its first line: the path is as long as the temporary folder's name.
  static std::string page_of(const Outcome& run) {
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_EQ(run.err, "");
    return run.out.substr(run.out.find("format "));
  }
};

TEST_F(BurnpackPage, ShowsHeaderAndLayout) {
  EXPECT_EQ(page_of(tool({"info", pack(pair())})),
            "format      burnpack, single\n"
            "magic       NRUB (4e 52 55 42)\n"
            "version     1\n"
            "generation  Burn 0.20 or later\n"
            "header      10 bytes, then 132 of metadata and 114 of padding\n"
            "data start  256, tensors on multiples of 256\n"
            "file size   520 B\n"
            "tensors     2\n"
            "parameters  5\n"
            "data        20 B\n"
            "\n"
            "DTYPE  TENSORS  PARAMETERS  SIZE\n"
            "f32          2           5  20 B\n"
            "\n"
            "METADATA  VALUE\n"
            "author    nobody\n"
            "\n"
            "TENSORS IN FILE ORDER  DTYPE  SHAPE  SIZE  OFFSET  PADDING\n"
            "b                      f32    [3]    12 B     256        0\n"
            "a                      f32    [2]     8 B     512      244\n");
}

TEST_F(BurnpackPage, TheOldLayoutHasNoGaps) {
  const std::string page = page_of(tool({"info", pack(pair(), BurnpackGeneration::burn_0_19)}));
  EXPECT_TRUE(contains(page, "generation  Burn 0.19")) << page;
  EXPECT_TRUE(contains(page, "metadata and 0 of padding\n")) << page;
  EXPECT_TRUE(contains(page, ", tensors without gaps\n")) << page;
  EXPECT_TRUE(contains(page, " 150        0\n")) << page;
}

TEST_F(BurnpackPage, PaddingIsThatOfTheFileWhateverIsShown) {
  const std::string page = page_of(tool({"info", "--include", "a", pack(pair())}));
  EXPECT_TRUE(contains(page, "8 B     512      244\n")) << page;
}

TEST_F(BurnpackPage, JsonHasTheHeaderAndTheScalars) {
  Archive archive = pair();
  const double infinity = std::numeric_limits<double>::infinity();
  archive.set_value(ValueDict{{"big", Value(std::numeric_limits<std::uint64_t>::max())},
                              {"down", Value(-infinity)},
                              {"lr", Value(0.001)},
                              {"minus", Value(std::int64_t{-3})},
                              {"nan", Value(std::nan(""))},
                              {"on", Value(true)},
                              {"up", Value(infinity)}});
  const auto object = objects_of(tool({"info", "--json", pack(archive)})).at(0);
  EXPECT_EQ(object.at("format"), "burnpack");
  EXPECT_EQ(object.at("scalars"),
            (nlohmann::json{{"big", {{"UInt", std::numeric_limits<std::uint64_t>::max()}}},
                            {"down", {{"Float", "-Infinity"}}},
                            {"lr", {{"Float", 0.001}}},
                            {"minus", {{"Int", -3}}},
                            {"nan", {{"Float", "NaN"}}},
                            {"on", {{"Bool", true}}},
                            {"up", {{"Float", "Infinity"}}}}));
  const auto& burnpack = object.at("burnpack");
  EXPECT_EQ(burnpack.at("version"), 1);
  EXPECT_FALSE(burnpack.at("generation").get<std::string>().empty());
  EXPECT_EQ(burnpack.at("alignment"), 256);
  EXPECT_EQ(burnpack.at("data_offset"), 10 + burnpack.at("metadata_bytes").get<int>() +
                                            burnpack.at("padding_bytes").get<int>());
  EXPECT_FALSE(burnpack.contains("fields"));
}

TEST_F(BurnpackPage, ListsScalarsWithTheirTypes) {
  Archive archive = pair();
  archive.set_value(ValueDict{{"lr", Value(0.001)}, {"step", Value(std::uint64_t{42})}});
  const std::string page = page_of(tool({"info", pack(archive)}));
  EXPECT_TRUE(contains(page,
                       "SCALAR  TYPE   VALUE\n"
                       "lr      Float  0.001\n"
                       "step    UInt   42\n"))
      << page;
}

TEST_F(BurnpackPage, ShowsTheFirstTensorsOfManyUnlessAskedForAll) {
  Archive archive;
  for (std::uint64_t i = 0; i < 25; ++i) add(archive, "t" + std::to_string(i), i + 1);
  const std::string file = pack(archive);
  const std::string some = page_of(tool({"info", file}));
  EXPECT_TRUE(contains(some, "\nt19 ")) << some;
  EXPECT_TRUE(contains(some, "\n5 more; --all lists them\n")) << some;
  EXPECT_TRUE(contains(some, "LARGEST TENSORS")) << some;
  const std::string all = page_of(tool({"info", "--all", file}));
  EXPECT_TRUE(contains(all, "\nt24 ")) << all;
  EXPECT_FALSE(contains(all, "more;")) << all;
  EXPECT_FALSE(contains(all, "LARGEST")) << all;
}

TEST_F(BurnpackPage, NamesQuantizationSchemes) {
  Archive archive = pair();
  QuantScheme scheme;
  scheme.value = QuantValue::q8s;
  scheme.store = QuantStore::native;
  const std::vector<std::byte> payload(12);
  archive
      .add(TensorSnapshot(
          "q", Tensor::qfloat(scheme, {8}, Bytes::copy(std::span(payload)).value()).value()))
      .value();
  const std::string file = pack(archive);
  const std::string page = page_of(tool({"info", file}));
  EXPECT_TRUE(contains(page, "QUANTIZATION")) << page;
  EXPECT_TRUE(contains(page, quant_scheme_text(scheme))) << page;
  const auto object = objects_of(tool({"info", "--json", file})).at(0);
  EXPECT_EQ(object.at("tensors").at(2).at("dtype"), "qfloat");
  EXPECT_EQ(object.at("tensors").at(2).at("file_dtype"), quant_scheme_text(scheme));
}

TEST_F(BurnpackPage, HexShowsEveryFieldOnALineOfItsOwn) {
  const Outcome run = tool({"info", "--hex", pack(pair())});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  const auto lines = lines_of(run.out);
  ASSERT_GT(lines.size(), 12u);
  EXPECT_EQ(lines[0].rfind("OFFSET    BYTES                    TEXT      MEANING", 0), 0u);
  EXPECT_EQ(lines[1].rfind("00000000  4e 52 55 42              NRUB      magic", 0), 0u)
      << lines[1];
  EXPECT_EQ(lines[2].rfind("00000004  01 00                    ..        ", 0), 0u) << lines[2];
  EXPECT_EQ(lines[3].rfind("00000006  84 00 00 00              ....      ", 0), 0u) << lines[3];
  for (const char* part : {"'tensors'", "'dtype'", "'F32'", "'param_id'", "'author'", "padding"}) {
    EXPECT_TRUE(contains(run.out, part)) << part;
  }
  // Padding is the same all the way.
  EXPECT_EQ(lines.end()[-2], "*") << run.out;
  for (const std::string& line : lines) EXPECT_LE(line.size(), 80u) << line;
}

TEST_F(BurnpackPage, LongTextsAreContinued) {
  Archive archive;
  add(archive, "encoder.layers.0.weight", 1);
  const std::string file = pack(archive);
  const std::string narrow = tool({"info", "--hex", file}).out;
  EXPECT_TRUE(contains(narrow, "77 65 6e 63 6f 64 65 72  wencoder  ")) << narrow;
  EXPECT_TRUE(contains(narrow, "2e 6c 61 79 65 72 73 2e  .layers.\n")) << narrow;
  const std::string wide = tool({"info", "--hex", "--wide", file}).out;
  EXPECT_TRUE(contains(wide, "77 65 6e 63 6f 64 65 72 2e 6c 61 79 65 72 73 2e  wencoder.layers."))
      << wide;
}

TEST_F(BurnpackPage, HexInJsonCoversTheHeaderWithoutGaps) {
  const std::string file = pack(pair());
  const auto object = objects_of(tool({"info", "--hex", "--json", file})).at(0);
  std::string digits;
  std::uint64_t at = 0;
  for (const auto& field : object.at("burnpack").at("fields")) {
    EXPECT_EQ(field.at("offset"), at);
    EXPECT_FALSE(field.at("meaning").get<std::string>().empty());
    const std::string bytes = field.at("bytes");
    at += (bytes.size() + 1) / 3;
    digits += bytes + " ";
  }
  EXPECT_EQ(at, 256u);
  std::string expected;
  for (const char c : read_file(file).substr(0, 256)) {
    char text[8];
    std::snprintf(text, sizeof text, "%02x ", static_cast<unsigned>(static_cast<unsigned char>(c)));
    expected += text;
  }
  EXPECT_EQ(digits, expected);
}

TEST_F(BurnpackPage, HexShowsTheBytesOfAFileThatDoesNotOpen) {
  const std::string file = pack(pair());
  const Outcome whole = tool({"info", "--hex", file});
  const auto fields = objects_of(tool({"info", "--hex", "--json", file})).at(0).at("burnpack");
  write_text("m.bpk", read_file(file).substr(0, 300));  // within the data

  const Outcome cut = tool({"info", "--hex", file});
  EXPECT_EQ(cut.exit_code, 2);
  EXPECT_EQ(cut.out, whole.out);
  EXPECT_EQ(lines_of(cut.err).size(), 1u) << cut.err;
  EXPECT_TRUE(contains(cut.err, file)) << cut.err;

  const Outcome json = tool({"info", "--hex", "--json", file});
  EXPECT_EQ(json.exit_code, 2);
  const auto objects = objects_of(json);
  ASSERT_EQ(objects.size(), 1u);
  EXPECT_EQ(objects[0].at("path"), file);
  EXPECT_EQ(objects[0].at("error").at("code"), "Truncated");
  EXPECT_EQ(objects[0].at("burnpack"), fields);
}

TEST_F(BurnpackPage, HexIsForBurnpackAlone) {
  const std::string file = write("m.safetensors", {{"a"}});
  const Outcome run = tool({"info", "--hex", file});
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_EQ(run.out, "");
  EXPECT_EQ(lines_of(run.err).size(), 1u) << run.err;
  EXPECT_TRUE(contains(run.err, "Burnpack")) << run.err;
}

TEST_F(BurnpackPage, NamesInTheHeaderCannotSpeakToTheTerminal) {
  Archive archive;
  add(archive, "a\x1b[31m\n", 1);
  const Outcome run = tool({"info", "--hex", pack(archive)});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_FALSE(contains(run.out, "\x1b"));
}

TEST_F(BurnpackPage, AFolderWithOneModelWillDo) {
  pack(pair());
  const Outcome run = tool({"info", path("")});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_TRUE(contains(run.out, "magic       NRUB"));
}

}  // namespace
}  // namespace andiron::test
