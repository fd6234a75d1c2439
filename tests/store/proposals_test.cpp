// SPDX-License-Identifier: MIT OR Apache-2.0
// Loads that are refused, and whether what the report proposes, pasted, makes them succeed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <regex>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "andiron/nn/linear.h"
#include "andiron/stores.h"
#include "andiron/write.h"
#include "tests/store/puzzle_models.h"

namespace andiron {
namespace {

using namespace puzzle;

// ---- Files ----

class File {
 public:
  explicit File(Snapshots tensors) : tensors_(std::move(tensors)) {}

  File& rename(const std::string& pattern, const std::string& replacement) {
    const std::regex regex(pattern);
    for (TensorSnapshot& tensor : tensors_) {
      tensor.set_full_path(std::regex_replace(tensor.full_path(), regex, replacement));
    }
    return *this;
  }
  File& add(const std::string& name, Shape shape) {
    tensors_.push_back(TensorSnapshot(name, param(std::move(shape)).val().value()));
    return *this;
  }
  // A second copy of all tensors, with other numbers.
  File& add_copy(const std::string& prefix) {
    const Snapshots originals = tensors_;
    for (const TensorSnapshot& tensor : originals) {
      add(prefix + tensor.full_path(), tensor.shape());
    }
    return *this;
  }
  File& cast(const std::string& pattern, DType dtype) {
    const std::regex regex(pattern);
    for (TensorSnapshot& tensor : tensors_) {
      if (std::regex_search(tensor.full_path(), regex)) tensor = tensor.cast(dtype).value();
    }
    return *this;
  }
  File& drop(const std::string& pattern) {
    const std::regex regex(pattern);
    tensors_.remove_if(
        [&](const TensorSnapshot& tensor) { return std::regex_search(tensor.full_path(), regex); });
    return *this;
  }
  Bytes bytes() const {
    Archive archive;
    for (const TensorSnapshot& tensor : tensors_) archive.add(tensor).value();
    return write_to_memory(archive).value();
  }

 private:
  Snapshots tensors_;
};

// ---- Pasting: the calls in a text, as a compiler would make them ----

class Paster {
 public:
  Paster(std::string_view code, SafetensorsStore& store) : rest_(code), store_(store) {}

  // Whether all of the text was understood. Guesses have a comment.
  bool paste() {
    while (!rest_.empty()) {
      if (!call()) return false;
      if (take("  //")) rest_.remove_prefix(std::min(rest_.find('\n'), rest_.size()));
      if (!rest_.empty() && !take("\n")) return false;
    }
    return true;
  }

 private:
  bool take(std::string_view text) {
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }
  bool string(std::string& value) {
    if (take("R\"")) {
      const std::size_t open = rest_.find('(');
      if (open == std::string_view::npos) return false;
      const std::string end = ")" + std::string(rest_.substr(0, open)) + "\"";
      const std::size_t close = rest_.find(end, open + 1);
      if (close == std::string_view::npos) return false;
      value = rest_.substr(open + 1, close - open - 1);
      rest_.remove_prefix(close + end.size());
      return true;
    }
    if (!take("\"")) return false;
    for (value.clear(); !rest_.empty(); rest_.remove_prefix(1)) {
      if (take("\"")) return true;
      if (rest_[0] == '\\') rest_.remove_prefix(1);
      if (rest_.empty()) return false;
      value += rest_[0];
    }
    return false;
  }
  bool boolean(bool& value) {
    value = rest_.starts_with("true");
    return take("true") || take("false");
  }
  bool adapter(AnyAdapter& value) {
    if (take("PyTorchToBurnAdapter()")) return value = PyTorchToBurnAdapter(), true;
    if (take("BurnToPyTorchAdapter()")) return value = BurnToPyTorchAdapter(), true;
    if (take("IdentityAdapter()")) return value = IdentityAdapter(), true;
    return false;
  }
  bool call() {
    std::string first;
    std::string second;
    bool flag = false;
    AnyAdapter value;
    if (take(".with_top_level_key(")) {
      if (!string(first)) return false;
      store_.with_top_level_key(first);
    } else if (take(".with_key_remapping(")) {
      if (!string(first) || !take(", ") || !string(second)) return false;
      store_.with_key_remapping(first, second);
    } else if (take(".transpose_tensors(")) {
      if (!string(first)) return false;
      store_.transpose_tensors(first);
    } else if (take(".map_indices_contiguous(")) {
      if (!boolean(flag)) return false;
      store_.map_indices_contiguous(flag);
    } else if (take(".exclude_regex(")) {
      if (!string(first)) return false;
      store_.exclude_regex(first);
    } else if (take(".with_from_adapter(")) {
      if (!adapter(value)) return false;
      store_.with_from_adapter(value);
    } else if (take(".skip_enum_variants(")) {
      if (!boolean(flag)) return false;
      store_.skip_enum_variants(flag);
    } else {
      return false;
    }
    return take(")");
  }

  std::string_view rest_;
  SafetensorsStore& store_;
};

// ---- Puzzles ----

class Puzzles {
 public:
  using Disguise = std::function<void(File&)>;
  using Present = std::function<void(SafetensorsStore&)>;

  // `present`: what the stores do already.
  explicit Puzzles(Present present = {}) : present_(std::move(present)) {}

  // A file that holds what a module has, in disguise. `left_out`: parameters that it cannot feed.
  template <class Make>
  void add(const std::string& name, Make make, const CollectOptions& options,
           const Disguise& disguise, const std::set<std::string>& left_out = {}) {
    ++count_;
    const auto truth = make();
    File file(collect(truth, options).value());
    disguise(file);
    auto module = make();
    const Snapshots before = collect(module).value();
    auto store = SafetensorsStore::from_bytes(file.bytes());
    if (present_) present_(store);
    const Result<ApplyResult> refused = load_from(module, store);
    ASSERT_FALSE(refused) << name << ": the load should be refused";
    ASSERT_TRUE(refused.error().report) << name << ": " << refused.error().to_string();
    const std::vector<Proposal>& proposals = refused.error().report->proposals;
    if (proposals.empty()) return report(name, "no proposal", "");
    for (const Proposal& one : proposals) {
      SafetensorsStore changed = store;
      ASSERT_TRUE(Paster(one.code, changed).paste()) << name << ": " << one.code;
      const Result<Plan> planned = plan(module, changed);
      ASSERT_TRUE(planned) << name << ": " << one.code << ": " << planned.error().to_string();
      EXPECT_EQ(planned->result.applied.size(), one.matched) << name << ": " << one.code;
    }
    const Proposal& proposal = proposals.front();
    const std::string shown = proposal.text + "\n" + proposal.code;

    SafetensorsStore fresh = store;
    Paster(proposal.code, fresh).paste();
    const Result<ApplyResult> loaded = load_from(module, fresh);
    if (!loaded) return report(name, "refused: " + loaded.error().to_string(), shown);
    const Snapshots now = collect(module).value();
    const Snapshots right = collect(truth).value();
    for (std::size_t i = 0; i < now.size(); ++i) {
      const bool is_left_out = left_out.contains(now[i].full_path());
      const TensorSnapshot& expected = is_left_out ? before[i] : right[i];
      if (numbers(now[i]) != numbers(expected.cast(now[i].dtype()).value())) {
        return report(name, "wrong numbers in " + now[i].full_path(), shown);
      }
    }
    ++solved_;
    if (is_verbose()) std::cout << name << ": solved\n" << shown << "\n";
  }

  std::size_t count() const { return count_; }
  std::size_t solved() const { return solved_; }

 private:
  static std::vector<float> numbers(const TensorSnapshot& tensor) {
    return tensor.cast(DType::f32).value().read().value().to_vector<float>().value();
  }
  static bool is_verbose() { return std::getenv("ANDIRON_SHOW_PROPOSALS") != nullptr; }
  static void report(const std::string& name, const std::string& why, const std::string& shown) {
    std::cout << "not solved: " << name << ": " << why << "\n" << shown << "\n";
  }

  Present present_;
  std::size_t count_ = 0;
  std::size_t solved_ = 0;
};

const CollectOptions as_burn = {};
const CollectOptions as_pytorch = {.adapter = PyTorchToBurnAdapter()};

TEST(Proposals, SolveWhatCheckpointsDoToNames) {
  const CollectOptions torch = {.adapter = BurnToPyTorchAdapter()};
  Puzzles puzzles;

  puzzles.add("DataParallel", mlp, as_burn, [](File& f) { f.rename("^", "module."); });
  puzzles.add("torch.compile", mlp, as_burn, [](File& f) { f.rename("^", "_orig_mod."); });
  puzzles.add("both", gpt, as_burn, [](File& f) { f.rename("^", "module._orig_mod."); });
  puzzles.add("Lightning", mlp, as_burn, [](File& f) {
    f.rename("^", "model.").add("loss.weight", {2}).add("hyper_parameters.lr", {1});
  });
  puzzles.add("state_dict beside optimizer", mlp, as_burn, [](File& f) {
    f.rename("^", "state_dict.");
    for (const char* state : {"exp_avg", "exp_avg_sq"}) {
      f.add(std::string("optimizer.state.0.") + state, {5, 3});
      f.add(std::string("optimizer.state.1.") + state, {3});
      f.add(std::string("optimizer.state.2.") + state, {3, 2});
      f.add(std::string("optimizer.state.3.") + state, {2});
    }
  });
  puzzles.add("state_dict of a Lightning module", mlp, as_burn, [](File& f) {
    f.rename("^", "state_dict.model.").add("epoch", {1}).add("state_dict.loss.pos_weight", {2});
  });
  puzzles.add("three wrappers", gpt, as_burn, [](File& f) {
    f.rename("^", "checkpoint.model.module.").add("checkpoint.optimizer.step", {1});
  });
  puzzles.add("EMA beside the model", mlp, as_burn,
              [](File& f) { f.add_copy("ema.").rename("^fc", "model.fc"); });
  puzzles.add("params and params_ema", stack, as_burn,
              [](File& f) { f.add_copy("params_ema.").rename("^layers", "params.layers"); });
  puzzles.add("EMA with renames", gpt, as_burn, [](File& f) {
    f.add_copy("model_ema.").rename("^(?!model_ema)", "model.").rename("attention", "attn");
  });
  puzzles.add("index gaps", stack, as_burn,
              [](File& f) { f.rename("layers\\.2", "layers.4").rename("layers\\.1", "layers.2"); });
  puzzles.add("numbers from one", equal_stack, as_burn, [](File& f) {
    f.rename("layers\\.2", "layers.3")
        .rename("layers\\.1", "layers.2")
        .rename("layers\\.0", "layers.1");
  });
  puzzles.add("renamed list with gaps", stack, as_burn, [](File& f) {
    f.rename("layers\\.2", "net.4").rename("layers\\.1", "net.2").rename("layers\\.0", "net.0");
  });
  puzzles.add("transposed Linears", mlp, torch, [](File&) {});
  puzzles.add("norm names alone tell", bert, torch, [](File&) {});
  puzzles.add("transposed, in DataParallel", stack, torch,
              [](File& f) { f.rename("^", "module."); });
  puzzles.add("DataParallel, compiled, Lightning, gaps and PyTorch", stack, torch, [](File& f) {
    f.rename("layers\\.2", "layers.6")
        .rename("layers\\.1", "layers.3")
        .rename("^", "state_dict.model.module._orig_mod.")
        .add("optimizer.lr", {1});
  });
  puzzles.add("GPT-2", gpt, as_burn, [](File& f) {
    f.rename("^token_embedding", "transformer.wte")
        .rename("^position_embedding", "transformer.wpe")
        .rename("^layers", "transformer.h")
        .rename("^norm", "transformer.ln_f")
        .rename("^head", "lm_head")
        .rename("norm1", "ln_1")
        .rename("norm2", "ln_2")
        .rename("attention", "attn");
  });
  puzzles.add("GPT-2 from PyTorch", gpt, torch, [](File& f) {
    f.rename("^layers", "h").rename("attention", "attn").rename("norm1", "ln_1");
    f.rename("norm2", "ln_2").rename("mlp.up", "mlp.c_fc").rename("mlp.down", "mlp.c_proj");
  });
  puzzles.add("torchvision", resnet, torch, [](File& f) {
    f.rename("^layers\\.2", "layer3").rename("^layers\\.1", "layer2");
    f.rename("^layers\\.0", "layer1").add("bn1.num_batches_tracked", {1});
  });
  puzzles.add(
      "another head", [] { return classifier(4); }, as_burn,
      [](File& f) { f.drop("^head").add("head.weight", {2, 1000}).add("head.bias", {1000}); },
      {"head.weight", "head.bias"});
  puzzles.add(
      "no head", [] { return classifier(4); }, as_burn, [](File& f) { f.drop("^head"); },
      {"head.weight", "head.bias"});
  puzzles.add(
      "another head in DataParallel", [] { return classifier(4); }, torch,
      [](File& f) {
        f.drop("^head")
            .add("head.weight", {1000, 2})
            .add("head.bias", {1000})
            .rename("^", "module.");
      },
      {"head.weight", "head.bias"});
  puzzles.add("a lost bias", gpt, as_burn, [](File& f) { f.drop("^head.bias"); }, {"head.bias"});
  puzzles.add("no names of variants", choice, {.skip_enum_variants = true}, [](File&) {});
  puzzles.add("no names of variants, wrapped", choice, {.skip_enum_variants = true},
              [](File& f) { f.rename("^", "model."); });
  puzzles.add(
      "the backbone alone has a prefix", [] { return classifier(4); }, as_burn,
      [](File& f) { f.rename("^backbone\\.", ""); });
  puzzles.add(
      "a prefix is wanted", [] { return Classifier{stack(), linear(2, 4)}; }, as_burn,
      [](File& f) { f.rename("^backbone\\.", "").rename("^head", "fc"); });
  puzzles.add("the module is the encoder", stack, as_burn, [](File& f) {
    f.rename("^", "encoder.").add("decoder.layers.0.weight", {2, 9}).add("decoder.bias", {9});
  });
  puzzles.add("digits attached", stack, as_burn,
              [](File& f) { f.rename("layers\\.(\\d)", "layers$1"); });
  puzzles.add("digits attached to another word", equal_stack, as_burn,
              [](File& f) { f.rename("layers\\.(\\d)", "fc$1"); });
  puzzles.add("digits apart", mlp, as_burn, [](File& f) { f.rename("fc(\\d)", "fc.$1"); });
  puzzles.add("digits after an underscore", gpt, as_burn,
              [](File& f) { f.rename("norm(\\d)", "norm_$1").rename("layers\\.", "layer_"); });
  puzzles.add("BERT", bert, torch, [](File& f) {
    f.rename("^embedding", "bert.embeddings.word_embeddings")
        .rename("^layers", "bert.encoder.layer")
        .rename("\\.(query|key|value)", ".attention.self.$1")
        .rename("\\.out\\.", ".attention.output.dense.")
        .rename("norm1", "attention.output.LayerNorm")
        .rename("\\.up\\.", ".intermediate.dense.")
        .rename("\\.down\\.", ".output.dense.")
        .rename("norm2", "output.LayerNorm");
  });
  puzzles.add("Llama", llama, torch, [](File& f) {
    f.rename("^layers", "model.layers")
        .rename("^tok_embeddings", "model.embed_tokens")
        .rename("^norm", "model.norm")
        .rename("^output", "lm_head")
        .rename("attention\\.w([qkvo])", "self_attn.$1_proj")
        .rename("feed_forward\\.w1", "mlp.gate_proj")
        .rename("feed_forward\\.w2", "mlp.down_proj")
        .rename("feed_forward\\.w3", "mlp.up_proj")
        .rename("attention_norm", "input_layernorm")
        .rename("ffn_norm", "post_attention_layernorm");
  });
  puzzles.add("camelCase", gpt, as_burn, [](File& f) {
    f.rename("token_embedding", "tokenEmbedding").rename("position_embedding", "positionEmbedding");
  });
  puzzles.add("query for q_proj, all square", attention, as_burn, [](File& f) {
    f.rename("query", "q_proj").rename("key", "k_proj").rename("value", "v_proj");
    f.rename("^out", "out_proj").rename("^", "self_attn.");
  });
  puzzles.add("Sequential for named fields", named, torch, [](File& f) {
    f.rename("^conv", "0").rename("^hidden", "3").rename("^output", "5");
  });
  puzzles.add("kernels for weights", named, as_burn,
              [](File& f) { f.rename("weight", "kernel").rename("^", "params."); });
  puzzles.add("layer for layers", gpt, torch, [](File& f) {
    f.rename("^layers", "decoder.layer").rename("^norm", "decoder.norm");
  });
  puzzles.add("Burn's file for a module like PyTorch's", torch_net, as_pytorch, [](File&) {});
  puzzles.add("a prefix for some", gpt, as_burn,
              [](File& f) { f.rename("^(layers|norm)", "backbone.$1"); });

  puzzles.add("mixture of experts", mixture, torch, [](File& f) {
    f.rename("^layers\\.(\\d+)", "model.layers.$1.block_sparse_moe")
        .rename("router", "gate")
        .rename("\\.up\\.", ".w1.")
        .rename("\\.down\\.", ".w2.")
        .rename("^embedding", "model.embed_tokens");
  });
  puzzles.add("encoder and decoder", translator, torch, [](File& f) {
    f.rename("^(encoder|decoder)", "$1.layers")
        .rename("attention", "self_attn")
        .rename("(query|key|value)", "$1_proj")
        .rename("mlp.up", "linear1")
        .rename("mlp.down", "linear2")
        .rename("^generator", "lm_head")
        .rename("^", "model.");
  });
  puzzles.add("UNet", unet, torch, [](File& f) {
    f.rename("^down\\.(\\d+)\\.conv", "downs.$1.0")
        .rename("^down\\.(\\d+)\\.norm", "downs.$1.1")
        .rename("^up\\.(\\d+)\\.conv", "ups.$1.0")
        .rename("^up\\.(\\d+)\\.norm", "ups.$1.1")
        .rename("^bottleneck.conv", "mid.0")
        .rename("^bottleneck.norm", "mid.1");
  });
  puzzles.add("VGG", vgg, torch, [](File& f) {
    f.rename("^features\\.2", "features.5")
        .rename("^features\\.1", "features.2")
        .rename("^classifier\\.2", "classifier.6")
        .rename("^classifier\\.1", "classifier.3")
        .rename("^", "module.");
  });
  puzzles.add("VGG with other names", vgg, torch, [](File& f) {
    f.rename("^features\\.2", "backbone.5")
        .rename("^features\\.1", "backbone.2")
        .rename("^features\\.0", "backbone.0")
        .rename("^classifier\\.2", "head.6")
        .rename("^classifier\\.1", "head.3")
        .rename("^classifier\\.0", "head.0");
  });
  puzzles.add("ViT of timm", vit, torch, [](File& f) {
    f.rename("^patch_embed", "patch_embed.proj")
        .rename("attention", "attn")
        .rename("mlp.up", "mlp.fc1")
        .rename("mlp.down", "mlp.fc2");
  });
  puzzles.add("ViT of Hugging Face", vit, torch, [](File& f) {
    f.rename("^patch_embed", "vit.embeddings.patch_embeddings.projection")
        .rename("^cls_token", "vit.embeddings.cls_token")
        .rename("^pos_embed", "vit.embeddings.position_embeddings")
        .rename("^blocks", "vit.encoder.layer")
        .rename("norm1", "layernorm_before")
        .rename("norm2", "layernorm_after")
        .rename("attention.(query|key|value)", "attention.attention.$1")
        .rename("attention.out\\.", "attention.output.dense.")
        .rename("mlp.up", "intermediate.dense")
        .rename("mlp.down", "output.dense")
        .rename("^norm", "vit.layernorm")
        .rename("^head", "classifier");
  });
  puzzles.add("T5", translator, torch, [](File& f) {
    f.rename("^(encoder|decoder)\\.(\\d+)\\.", "$1.block.$2.")
        .rename("attention\\.query", "layer.0.SelfAttention.q")
        .rename("attention\\.key", "layer.0.SelfAttention.k")
        .rename("attention\\.value", "layer.0.SelfAttention.v")
        .rename("attention\\.out", "layer.0.SelfAttention.o")
        .rename("norm1", "layer.0.layer_norm")
        .rename("norm2", "layer.1.layer_norm")
        .rename("mlp.up", "layer.1.DenseReluDense.wi")
        .rename("mlp.down", "layer.1.DenseReluDense.wo")
        .rename("^generator", "lm_head");
  });
  puzzles.add("GPT-NeoX", gpt, torch, [](File& f) {
    f.rename("^token_embedding", "gpt_neox.embed_in")
        .rename("^position_embedding", "gpt_neox.embed_positions")
        .rename("^layers", "gpt_neox.layers")
        .rename("^norm", "gpt_neox.final_layer_norm")
        .rename("^head", "embed_out")
        .rename("norm1", "input_layernorm")
        .rename("norm2", "post_attention_layernorm")
        .rename("attention.out", "attention.dense")
        .rename("mlp.up", "mlp.dense_h_to_4h")
        .rename("mlp.down", "mlp.dense_4h_to_h");
  });
  puzzles.add(
      "DataParallel around the backbone alone", [] { return classifier(4); }, torch,
      [](File& f) { f.rename("^backbone", "backbone.module"); });
  puzzles.add("Flax", mlp, as_burn, [](File& f) {
    f.rename("^fc1", "params.Dense_0").rename("^fc2", "params.Dense_1").rename("weight", "kernel");
  });
  puzzles.add("a list in a list", resnet, torch, [](File& f) {
    f.rename("^layers\\.(\\d+)\\.(\\d+)", "stages.$1.blocks.$2").rename("^fc", "head.fc");
  });
  puzzles.add("Keras", named, as_burn, [](File& f) {
    f.rename("^conv", "conv2d").rename("^hidden", "dense").rename("^output", "dense_1");
    f.rename("weight", "kernel").rename("^", "layers.");
  });

  std::cout << "solved " << puzzles.solved() << " of " << puzzles.count() << "\n";
  RecordProperty("solved", static_cast<int>(puzzles.solved()));
  RecordProperty("puzzles", static_cast<int>(puzzles.count()));
  EXPECT_GE(puzzles.count(), 24u);
  EXPECT_GE(10 * puzzles.solved(), 9 * puzzles.count());
}

// Parameters of one shape and several dtypes.
struct Lookup {
  Param gain, indices, mask;
  Linear fc;
  ANDIRON_MODULE(Lookup, gain, indices, mask, fc)
};
Lookup lookup() {
  static std::int64_t next = 0;
  ++next;
  return {param({4}), Tensor::from_values<std::int64_t>({4}, {next, 2, 3, 4}).value(),
          Tensor::from_values<bool>({4}, {next % 2 == 0, true, false, true}).value(), linear(4, 4)};
}

TEST(Proposals, TellTensorsApartByDType) {
  const CollectOptions torch = {.adapter = BurnToPyTorchAdapter()};
  Puzzles puzzles;
  puzzles.add("an integer buffer beside weights", lookup, as_burn,
              [](File& f) { f.rename("^gain", "z").rename("^indices", "a"); });
  puzzles.add("a mask in bytes", lookup, as_burn, [](File& f) {
    f.cast("mask", DType::u8).rename("^mask", "a").rename("^gain", "z").rename("^fc", "net.fc");
  });
  puzzles.add("half precision", mlp, torch,
              [](File& f) { f.cast("", DType::f16).rename("^", "module."); });
  puzzles.add("half precision beside integers", lookup, as_burn, [](File& f) {
    f.cast("gain|fc", DType::bf16).rename("^indices", "alpha").rename("^gain", "omega");
  });
  puzzles.add("integers in place of a bias", lookup, as_burn,
              [](File& f) { f.cast("fc.bias", DType::i32).rename("^", "model."); }, {"fc.bias"});
  puzzles.add("counters of batch norms", resnet, torch,
              [](File& f) {
                f.drop("^bn1.running_mean").rename("^", "module.");
                f.add("module.bn1.num_batches", {4}).cast("num_batches", DType::i64);
              },
              {"bn1.running_mean"});
  EXPECT_EQ(puzzles.solved(), puzzles.count());
}

TEST(Proposals, TakeNothingFromAnOptimizer) {
  Puzzles puzzles;
  puzzles.add("a layer that is missing, beside its momentum", mlp, as_burn,
              [](File& f) {
                f.drop("^fc2").rename("^", "model.");
                for (const char* state : {"exp_avg", "exp_avg_sq"}) {
                  f.add(std::string("optimizer.state.0.") + state, {3, 2});
                  f.add(std::string("optimizer.state.1.") + state, {2});
                }
              },
              {"fc2.weight", "fc2.bias"});
  EXPECT_EQ(puzzles.solved(), puzzles.count());
}

TEST(Proposals, AddToWhatTheStoreDoesAlready) {
  const CollectOptions torch = {.adapter = BurnToPyTorchAdapter()};
  Puzzles puzzles([](SafetensorsStore& store) {
    store.with_top_level_key("checkpoint")
        .with_key_remapping("^_orig_mod\\.", "")
        .map_indices_contiguous(true);
  });
  puzzles.add("a prefix is left", mlp, as_burn,
              [](File& f) { f.rename("^", "checkpoint._orig_mod.model."); });
  puzzles.add("PyTorch's layout", mlp, torch,
              [](File& f) { f.rename("^", "checkpoint._orig_mod."); });
  puzzles.add("a renamed list with gaps", stack, as_burn, [](File& f) {
    f.rename("layers\\.2", "net.4").rename("layers\\.1", "net.2").rename("layers\\.0", "net.0");
    f.rename("^", "checkpoint.");
  });
  puzzles.add("a wrapper below the key", mlp, as_burn,
              [](File& f) { f.rename("^", "checkpoint.state_dict.").add("checkpoint.step", {1}); });
  EXPECT_EQ(puzzles.solved(), puzzles.count());
}

TEST(Proposals, PutTheNamesOfVariantsBackIn) {
  Puzzles puzzles([](SafetensorsStore& store) { store.skip_enum_variants(true); });
  puzzles.add("names with variants", choice, as_burn, [](File&) {});
  EXPECT_EQ(puzzles.solved(), puzzles.count());
}

struct OneLayer {
  nn::Linear fc;
  ANDIRON_MODULE(OneLayer, fc)
};
struct TwoLayers {
  OneLayer first, second;
  ANDIRON_MODULE(TwoLayers, first, second)
};
struct LayersNet {
  std::vector<std::variant<OneLayer, TwoLayers>> blocks;
  nn::Linear head;
  ANDIRON_MODULE(LayersNet, blocks, head)
};

TEST(Proposals, LeaveTheChoiceOfAnAlternativeToTheLoad) {
  const auto layer = [] { return OneLayer{nn::LinearConfig(4, 4).init()}; };
  LayersNet saved{{layer()}, nn::LinearConfig(4, 2).init()};
  LayersNet model = saved;
  for (int i = 0; i < 3; ++i) {
    saved.blocks.emplace_back(TwoLayers{layer(), layer()});
    model.blocks.emplace_back(layer());
  }
  auto store = SafetensorsStore::from_bytes().skip_enum_variants(true);
  ASSERT_TRUE(save_into(saved, store));
  store.skip_enum_variants(false);
  const Result<ApplyResult> refused = load_from(model, store);
  ASSERT_FALSE(refused);
  const std::vector<Proposal>& proposals = refused.error().report->proposals;
  ASSERT_FALSE(proposals.empty());
  EXPECT_EQ(proposals.front().code, ".skip_enum_variants(true)");
  ASSERT_TRUE(load_from(model, store.apply(proposals.front())));
  EXPECT_TRUE(std::holds_alternative<TwoLayers>(model.blocks[1]));
}

}  // namespace
}  // namespace andiron
