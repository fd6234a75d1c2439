// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/proposals/trade_words_test.cpp
#include "src/proposals/trade_words.h"

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "src/core/text/digit.h"
#include "src/proposals/name_parts.h"
#include "src/proposals/norm_words.h"
#include "src/proposals/word_similarity.h"

namespace andiron::inline v1::detail {
namespace {

using enum Question;

// Answers, as bits.
enum Part : std::uint16_t {
  attn = 1,
  mlp = 2,
  normed = 4,
  embed = 8,
  head = 16,
  convolved = 32,
  squeezed = 64
};
enum Projection : std::uint16_t { q = 1, k = 2, v = 4, o = 8, fused = 16 };
enum Feed : std::uint16_t { up = 1, gate = 2, down = 4 };
enum Norm : std::uint16_t {
  before_attn = 1,
  before_cross = 2,
  before_mlp = 4,
  last = 8,
  first = 16,
  after_attn = 32,
  after_mlp = 64
};
enum Attention : std::uint16_t { self = 1, cross = 2 };
enum Coder : std::uint16_t { encoder = 1, decoder = 2 };
enum Medium : std::uint16_t { text = 1, image = 2, sound = 4 };
enum Embedding : std::uint16_t {
  token = 1,
  position = 2,
  type = 4,
  patch = 8,
  cls = 16,
  time = 32
};
enum Slope : std::uint16_t { downwards = 1, middle = 2, upwards = 4 };
enum Recurrence : std::uint16_t { from_input = 1, from_state = 2 };
enum Direction : std::uint16_t { forwards = 1, backwards = 2 };
enum Squeeze : std::uint16_t { reduce = 1, expand = 2 };
enum Filter : std::uint16_t { depthwise = 1, pointwise = 2 };
enum Task : std::uint16_t { language = 1, classes = 2, boxes = 4, masks = 8, summary = 16 };
enum Branch : std::uint16_t { straight = 1, shortcut = 2 };
enum Mixing : std::uint16_t { of_tokens = 1, of_channels = 2 };
enum Player : std::uint16_t { actor = 1, critic = 2, generating = 4, judging = 8 };

// A row: segments, as plain_segment() writes them, and what they answer. With a context, only
// below a segment that means it.
struct Row {
  Question question;
  std::uint16_t answer;
  std::initializer_list<std::string_view> segments;
  std::uint16_t below = 0;  // a Part, or at_top
};
// As the first segment of a name, before its parameter; of norms: in no block and no part.
constexpr std::uint16_t at_top = 0x8000;

const Row rows[] = {
    // Parts of a block.
    {part,
     attn,
     {"attn",
      "attention",
      "self_attn",
      "self_attention",
      "sa",
      "mha",
      "mhsa",
      "attn1",
      "attn2",
      "multihead_attn",
      "multi_head_attention",
      "multi_head_attn",
      "cross_attn",
      "cross_attention",
      "crossattention",
      "encoder_attn",
      "encoder_attention",
      "enc_dec_attention",
      "enc_attn",
      "mixer",
      "w_msa",
      "attention_layer",
      "attn_layer",
      "inter_attention",
      "src_attn",
      "encoder_decoder_attention",
      "self_attention_block",
      "token_mixer",
      "cross"}},
    {part,
     mlp,
     {"mlp",
      "ffn",
      "ff",
      "feed_forward",
      "feedforward",
      "dense_relu_dense",
      "intermediate",
      "ffwd",
      "fcs",
      "ff_net",
      "feed_forward_network",
      "channel_mlp",
      "mlp_block",
      "pwff",
      "block_sparse_moe",
      "moe",
      "experts",
      "expert",
      "swiglu",
      "geglu",
      "pff",
      "ffnetwork",
      "positionwise_ffn"}},
    {part,
     normed,
     {"norm", "ln", "layer_norm", "layernorm", "bn", "batch_norm", "batchnorm", "gn", "group_norm",
      "rms_norm", "rmsnorm", "normalization", "in_norm", "norm_layer", "final_layer_norm", "ln_f",
      "instance_norm"}},
    {part,
     embed,
     {"embed", "embedding", "embeddings", "embed_tokens", "tok_embeddings", "wte", "wpe", "emb",
      "word_embeddings", "token_embedding", "position_embeddings", "embedder", "embedding_layer"}},
    {part,
     head,
     {"head", "heads", "lm_head", "classifier", "cls_head", "classification_head", "score",
      "prediction_head", "logits", "output_projection", "fc_out", "last_linear", "embed_out",
      "generator", "predictions", "final_linear"}},
    {part, head, {"output", "out", "fc", "linear", "decoder", "to_logits"}, at_top},
    {part,
     squeezed,
     {"se", "squeeze_excite", "squeeze_excitation", "se_module", "se_block", "se_layer"}},
    {part, convolved, {"conv", "convolution", "conv2d", "conv1d", "conv3d"}},

    // The projections of attention.
    {projection,
     q,
     {"q",
      "wq",
      "q_proj",
      "to_q",
      "query",
      "q_lin",
      "q_linear",
      "query_proj",
      "proj_q",
      "linear_q",
      "q_net",
      "w_q",
      "w_qs",
      "fc_q",
      "query_layer",
      "queries",
      "q_attn",
      "wquery",
      "linear_query",
      "linear_queries",
      "query_projection",
      "q_projection",
      "query_net"}},
    {projection, k, {"k",
                     "wk",
                     "k_proj",
                     "to_k",
                     "key",
                     "k_lin",
                     "k_linear",
                     "key_proj",
                     "proj_k",
                     "linear_k",
                     "k_net",
                     "w_k",
                     "w_ks",
                     "fc_k",
                     "key_layer",
                     "keys",
                     "wkey",
                     "linear_key",
                     "linear_keys",
                     "key_projection",
                     "k_projection",
                     "key_net"}},
    {projection,
     v,
     {"v",
      "wv",
      "v_proj",
      "to_v",
      "value",
      "v_lin",
      "v_linear",
      "value_proj",
      "proj_v",
      "linear_v",
      "v_net",
      "w_v",
      "w_vs",
      "fc_v",
      "value_layer",
      "values",
      "wvalue",
      "linear_value",
      "linear_values",
      "value_projection",
      "v_projection",
      "value_net"}},
    {projection,
     fused,
     {"qkv",     "qkv_proj", "to_qkv",         "wqkv",           "w_qkv",
      "c_attn",  "in_proj",  "in_proj_weight", "in_proj_bias",   "query_key_value",
      "qkv_net", "kv",       "to_kv",          "kv_proj",        "wkv",
      "w_pack",  "attn_qkv", "fused_qkv",      "qkv_projection", "qkv_linear"}},
    {projection,
     o,
     {"o", "o_proj", "out_proj", "to_out", "out_lin", "proj_o", "linear_o", "o_net", "w_o", "fc_o",
      "output_proj", "out_projection", "o_projection", "attn_out", "linear_out", "wout",
      "out_linear"}},
    {projection,
     o,
     {"wo", "proj", "c_proj", "dense", "out", "output", "fc", "projection", "final_linear",
      "fc_out", "proj_out", "linear"},
     attn},

    // The layers of a feed-forward part. With three of them, w1 is the gate.
    {feed,
     up,
     {"c_fc",
      "up_proj",
      "linear1",
      "linear_1",
      "lin1",
      "lin_1",
      "dense_h_to_4h",
      "wi",
      "up",
      "w3",
      "wi_1",
      "fc_in",
      "ffn_in",
      "intermediate_dense",
      "linear_fc1",
      "fc_up",
      "ffn1",
      "w_in",
      "expand_conv_ff",
      "pwconv1",
      "dense1",
      "proj_in_ff",
      "w_1",
      "lin_up",
      "intermediate",
      "linear_in_ff",
      "conv_pw1"}},
    {feed, up | gate, {"w1", "fc_1", "fc1", "c_fc1", "linear_inner"}},
    {feed, up, {"fc11"}},
    {feed, gate, {"fc12"}},
    {feed, up | gate | down, {"w2", "fc2"}},
    {feed, up | down, {"fc3", "fc_2", "fc_3", "c_fc2", "linear_outer"}},
    {feed, gate, {"gate_proj", "wi_0", "gate", "w_gate", "gate_linear", "fc1_gate", "wg"}},
    {feed,
     down,
     {"down_proj", "linear2", "linear_2", "lin2", "lin_2", "dense_4h_to_h", "down", "ffn_out",
      "output_dense", "linear_fc2", "fc_down", "ffn2", "w_out", "pwconv2", "dense2", "w_2",
      "lin_down"}},
    {feed, down, {"wo", "c_proj", "proj", "fc_out", "out_proj", "dense_out", "dense_output"}, mlp},

    // The norms of a block.
    // After the part in models that normalise what it gives, before it in others.
    {norm,
     before_attn | after_attn,
     {"norm1", "norm_1", "ln1", "ln_1", "layer_norm1", "layernorm1"}},
    {norm, before_attn, {"attention_norm",   "attn_norm",
                         "input_layernorm",  "input_layer_norm",
                         "norm_before_attn", "self_attn_layer_norm",
                         "self_attn_norm",   "self_attention_layer_norm",
                         "layernorm_before", "sa_layer_norm",
                         "attn_ln",          "layer_norm_before",
                         "pre_attn_norm",    "norm_attn",
                         "ln_attn",          "pre_attention_norm",
                         "attn_layer_norm",  "attention_layer_norm",
                         "attention_ln",     "pre_attention_layernorm",
                         "layernorm_attn",   "ln_self_attn",
                         "norm_sa",          "before_norm",
                         "norm_before"}},
    {norm,
     after_mlp,
     {"post_feedforward_layernorm", "post_mlp_norm", "post_mlp_layernorm", "post_ffw_norm",
      "post_ffn_norm", "post_feedforward_norm", "post_mlp_layer_norm"}},
    {norm,
     before_cross,
     {"encoder_attn_layer_norm", "cross_attn_layer_norm", "cross_attn_ln", "norm_cross",
      "cross_attn_norm", "encoder_attn_norm", "ln_cross_attn", "encoder_attention_layer_norm",
      "cross_norm", "norm_ca", "crossattention_norm"}},
    {norm,
     before_cross | before_mlp | after_mlp,
     {"norm2", "norm_2", "ln2", "ln_2", "layer_norm2", "layer_norm_2", "layernorm2",
      "layernorm_2"}},
    {norm, before_attn | before_mlp, {"layer_norm_1", "layernorm_1"}},
    {norm,
     before_mlp,
     {"norm3",
      "norm_3",
      "ln3",
      "ln_3",
      "layer_norm3",
      "layernorm3",
      "ffn_norm",
      "mlp_norm",
      "layernorm_after",
      "mlp_ln",
      "output_layer_norm",
      "ff_norm",
      "norm_before_mlp",
      "pre_mlp_norm",
      "norm_mlp",
      "ln_mlp",
      "layer_norm_after",
      "ff_layer_norm",
      "ffn_layer_norm",
      "pre_ff_norm",
      "norm_ff",
      "ln_ff",
      "full_layer_layer_norm",
      "mlp_layer_norm",
      "ffn_ln",
      "pre_feedforward_layernorm",
      "norm_ffn",
      "after_norm",
      "norm_after"}},
    {norm,
     before_mlp | after_attn,
     {"post_attention_layernorm", "post_attention_layer_norm", "post_attention_norm",
      "post_attn_norm", "post_attn_layernorm"}},
    {norm, before_mlp | last, {"final_layer_norm", "final_norm", "final_layernorm"}},
    {norm, first | last, {"norm", "ln", "layer_norm", "layernorm"}, at_top},
    {norm, last, {"norm_out", "out_norm", "output_norm"}, at_top},
    {norm,
     first,
     {"ln_pre", "pre_layrnorm", "pre_layernorm", "norm_pre", "word_embeddings_layernorm",
      "embed_norm", "embedding_norm", "emb_norm", "emb_layer_norm", "embed_layer_norm",
      "layernorm_embedding", "embeddings_layernorm", "emb_ln", "ln_emb"}},
    {norm,
     last,
     {"ln_f", "ln_post", "norm_f", "post_layernorm", "ln_final", "norm_final", "fc_norm"}},
    {norm, before_attn, {"layer_norm", "layernorm", "norm", "ln"}, attn},
    {norm, first, {"layer_norm", "layernorm", "norm", "ln"}, embed},
    {norm, before_mlp, {"layer_norm", "layernorm", "norm", "ln"}, mlp},

    {attention, self, {"self_attn", "self_attention", "attn1", "sa", "self_attention_block"}},
    {attention,
     cross,
     {"cross_attn", "cross_attention", "crossattention", "encoder_attn", "encoder_attention",
      "attn2", "enc_dec_attention", "enc_attn", "multihead_attn", "inter_attention", "src_attn",
      "encoder_decoder_attention", "cross"}},

    {coder, encoder, {"encoder", "enc", "encoder_layers", "encoder_blocks"}},
    {coder, decoder, {"decoder", "dec", "decoder_layers", "decoder_blocks"}},
    {medium,
     text,
     {"text", "text_model", "text_encoder", "language_model", "textual", "text_projection", "txt",
      "context", "context_block", "ff_context", "add_q_proj", "add_k_proj", "add_v_proj",
      "to_add_out", "norm_added_q", "norm_added_k"}},
    {medium,
     image,
     {"visual", "vision", "vision_model", "image", "image_encoder", "vision_tower",
      "visual_projection", "vision_encoder", "img", "x_block"}},
    {medium, sound, {"audio", "audio_encoder", "speech", "audio_model", "acoustic"}},

    {embedding,
     token,
     {"wte",
      "embed_tokens",
      "tok_embeddings",
      "word_embeddings",
      "token_embedding",
      "tok_emb",
      "token_emb",
      "word_emb",
      "token_embeddings",
      "tokens_embed",
      "embed_in",
      "embed_token",
      "tok_embed",
      "word_embedding",
      "shared",
      "embedder",
      "embed_words",
      "tokens",
      "words",
      "token_embd",
      "vocab_embed",
      "token_embedder",
      "lookup"}},
    {embedding,
     position,
     {"wpe",
      "position_embeddings",
      "embed_positions",
      "pos_embed",
      "positional_embedding",
      "pos_emb",
      "position_embedding",
      "position_embed",
      "pos_embedding",
      "positions_embed",
      "positional_embeddings",
      "pos_embeddings",
      "positional_encoding",
      "pos_enc",
      "pe",
      "positions",
      "relative_attention_bias",
      "rel_pos_bias",
      "position_bias",
      "position_embd",
      "pos",
      "relative_position_bias_table",
      "rel_bias"}},
    {embedding,
     type,
     {"token_type_embeddings", "segment_embeddings", "type_embeddings", "token_type_embedding",
      "segment_emb", "seg_embed", "type_embedding", "segment_embedding", "segment"}},
    {embedding,
     patch,
     {"patch_embed", "patch_embeddings", "patch_embedding", "conv_proj", "to_patch_embedding",
      "patch_proj", "patchify", "patch_embedder", "embed_patches", "patch", "patches",
      "patch_embd"}},
    {embedding,
     cls,
     {"cls_token", "class_embedding", "class_token", "cls_embed", "cls", "cls_embedding",
      "class_embed"}},
    {embedding,
     time,
     {"time_embed", "time_embedding", "time_mlp", "t_embedder", "time_proj", "time_emb",
      "time_emb_proj", "emb_layers", "timestep_embedder"}},

    {slope,
     downwards,
     {"down", "down_blocks", "input_blocks", "downs", "down_path", "contracting"}},
    {slope,
     middle,
     {"mid", "mid_block", "middle_block", "middle", "bottleneck_block", "mid_blocks"}},
    {slope, upwards, {"up", "up_blocks", "output_blocks", "ups", "up_path", "expanding"}},

    {recurrence,
     from_input,
     {"weight_ih", "bias_ih", "w_ih", "b_ih", "kernel", "input_gate_weight", "i2h", "x2h",
      "w_input", "b_input", "w_x", "b_x", "w_xh", "input_weight", "weight_input", "input_transform",
      "input_bias", "bias_input"}},
    {recurrence,
     from_state,
     {"weight_hh",
      "bias_hh",
      "w_hh",
      "b_hh",
      "recurrent_kernel",
      "h2h",
      "w_state",
      "b_state",
      "w_hidden",
      "b_hidden",
      "w_h",
      "b_h",
      "hidden_weight",
      "weight_hidden",
      "hidden_transform",
      "w_recurrent",
      "recurrent_weight",
      "weight_recurrent",
      "hidden_bias",
      "bias_hidden"}},
    {direction, forwards, {"forward", "fwd", "forward_layer", "fw"}},
    {direction, backwards, {"reverse", "backward", "bwd", "backward_layer", "bw"}},

    {squeeze, reduce, {"conv_reduce", "reduce", "se_reduce", "squeeze"}},
    {squeeze, expand, {"conv_expand", "se_expand", "excitation", "excite"}},
    {filter,
     depthwise,
     {"conv_dw", "depthwise", "dwconv", "dw_conv", "dw", "conv_depthwise", "depthwise_conv",
      "conv_3x3"}},
    {filter,
     pointwise,
     {"conv_pw", "conv_pwl", "pointwise", "pwconv", "pw", "conv_1x1", "reduce_1x1", "expand_1x1",
      "pointwise_conv"}},

    {branch, straight, {"conv1", "conv2", "conv3", "in_layers", "out_layers", "f"}},
    {branch,
     shortcut,
     {"downsample", "shortcut", "skip", "skip_connection", "conv_shortcut", "nin_shortcut",
      "identity_conv", "residual_conv", "res_conv", "conv_skip", "projection_shortcut",
      "skip_conv"}},
    {mixing,
     of_tokens,
     {"mlp_tokens", "token_mix", "token_mixing", "tokens_mlp", "token_mlp", "tm"}},
    {mixing, of_channels, {"mlp_channels", "channel_mix", "channel_mixing", "channels_mlp", "cm"}},
    {player,
     actor,
     {"actor", "policy", "pi", "action_net", "actor_mean", "policy_net", "policy_head", "mu",
      "actor_net"}},
    {player,
     critic,
     {"critic", "value_net", "vf", "value_head", "v_net", "critic_net", "value_function"}},
    {player, generating, {"generator", "gen", "net_g", "netg"}},
    {player, judging, {"discriminator", "disc", "net_d", "netd"}},

    {task,
     boxes,
     {"bbox_embed", "bbox_head", "box_head", "bbox_predictor", "bbox_regressor", "reg_head",
      "regression_head", "bbox_subnet", "box_subnet", "bbox_tower", "box_tower", "bbox_pred",
      "reg_convs", "reg_preds", "reg_branches", "box_predictor"}},
    {task, masks, {"mask_head", "mask_embed"}},
    {task,
     classes,
     {"class_embed", "class_head", "cls_score", "class_labels_classifier", "cls_logits",
      "cls_subnet", "cls_tower", "class_subnet", "class_tower", "cls_convs", "cls_preds",
      "cls_branches"}},
    {task, summary, {"pooler", "pooled", "pooling"}},
    {task,
     language,
     {"lm_head", "embed_out", "predictions", "output_projection", "generator", "vocab_transform",
      "vocab_layer_norm", "vocab_projector", "mlm_head", "mlm"}},
    {task,
     language | classes | summary,
     {"output", "out", "fc", "linear", "to_logits", "head"},
     at_top},
    {task, language | classes, {"final_linear"}},
    {task,
     classes,
     {"classifier", "classification_head", "cls_head", "score", "logits_proj", "pre_classifier"}},
};

struct Told {
  Question question;
  std::uint16_t answer;
  std::uint16_t below;
};

const std::unordered_multimap<std::string_view, Told>& told_by_segments() {
  static const auto* const all = [] {
    auto* told = new std::unordered_multimap<std::string_view, Told>();
    for (const Row& row : rows) {
      for (const std::string_view segment : row.segments) {
        told->emplace(segment, Told{row.question, row.answer, row.below});
      }
    }
    return told;
  }();
  return *all;
}

// Which norms of a block a segment may mean by its words; 0 if it means none.
std::uint16_t norms_beside(std::string_view segment) {
  const NormWords words = norm_words(segment);
  const bool is_after = words.side == NormSide::after;
  switch (words.beside) {
    case NormBeside::attention:
      return is_after ? before_mlp | after_attn : before_attn;
    case NormBeside::cross_attention:
      return before_cross;
    case NormBeside::feed_forward:
      return is_after ? after_mlp : before_mlp;
    case NormBeside::nothing:
      break;
  }
  return 0;
}

std::string_view without_number(std::string_view segment) {
  while (!segment.empty() && (is_digit(segment.back()) || segment.back() == '_')) {
    segment.remove_suffix(1);
  }
  return segment;
}

}  // namespace

Meaning meaning_of(std::span<const std::string> segments, std::size_t begin) {
  Meaning meaning = {};
  std::uint16_t parts = 0;  // that the segments so far have named last
  bool is_inside = false;   // the segments so far have named a block or a part
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const std::string_view segment = segments[i];
    const bool has_number = std::any_of(segment.begin(), segment.end(), is_digit);
    std::uint16_t here = 0;
    const auto tell = [&](Question question, std::uint16_t answer) {
      if (question == part) here |= answer;
      if (i >= begin) meaning[static_cast<std::size_t>(question)] |= answer;
    };
    const auto look_up = [&](std::string_view text) {
      const auto [begin_of_rows, end] = told_by_segments().equal_range(text);
      for (auto at = begin_of_rows; at != end; ++at) {
        const auto& [question, answer, below] = at->second;
        const bool is_at_top = question == norm ? !is_inside : i == 0 && segments.size() <= 2;
        const bool is_there = below == at_top ? is_at_top : below == 0 || (parts & below) != 0;
        if (!is_there) continue;
        tell(question, answer);
        if (question == norm) tell(part, normed);
        // The norms of a whole model may have numbers, too.
        if (question == norm && !is_inside && has_number) tell(norm, first | last);
      }
      return begin_of_rows != end;
    };
    const std::string_view stem = without_number(segment);
    const std::uint16_t beside = norms_beside(stem);
    if (look_up(segment) || (stem != segment && look_up(stem))) {
      // Known as a whole.
    } else if (beside != 0) {
      tell(norm, beside);
      tell(part, normed);
    } else {
      // Words at its beginning or at its end: encoder_norm is a norm of the encoder.
      for (std::size_t cut = stem.find('_'); cut != stem.npos; cut = stem.find('_', cut + 1)) {
        look_up(stem.substr(0, cut));
        look_up(stem.substr(cut + 1));
      }
    }
    if ((here & (attn | mlp | embed)) != 0) parts = here;
    is_inside = is_inside || has_number || here != 0;
  }
  return meaning;
}

std::optional<double> place_of_norm(const Meaning& meaning) {
  constexpr Norm on_the_way[] = {first,      before_attn, after_attn, before_cross,
                                 before_mlp, after_mlp,   last};
  double sum = 0;
  int count = 0;
  for (int place = 0; const Norm one : on_the_way) {
    if ((meaning[static_cast<std::size_t>(norm)] & one) != 0) {
      sum += place;
      ++count;
    }
    ++place;
  }
  // The first or the last: that is no place.
  const bool is_either =
      (meaning[static_cast<std::size_t>(norm)] & (first | last)) == (first | last);
  return count == 0 || is_either ? std::nullopt : std::optional(sum / count);
}

std::string_view input_told_by(std::span<const std::string> segments, std::size_t rank) {
  std::uint16_t inputs = meaning_of(segments, 0)[static_cast<std::size_t>(medium)];
  for (const std::string& segment : segments) {
    const auto [begin, end] = told_by_segments().equal_range(segment);
    for (auto at = begin; at != end; ++at) {
      if (at->second.question != embedding) continue;
      if (at->second.answer == token && rank == 2) inputs |= text;
      if (at->second.answer == patch && rank >= 2) inputs |= image;
    }
  }
  switch (inputs) {
    case text:
      return "text";
    case image:
      return "images";
    case sound:
      return "sound";
    default:
      return {};
  }
}

TensorRole role_of(std::string_view last_segment, bool is_in_module) {
  const std::string plain = plain_segment(last_segment);
  static const std::unordered_set<std::string_view> biases = {"bias", "beta", "shift", "offset"};
  if (biases.contains(plain) || (plain == "b" && is_in_module) || plain.ends_with("_bias") ||
      plain.starts_with("bias_") || plain.starts_with("b_") || plain.ends_with("_shift") ||
      plain.find("_bias_") != std::string::npos) {
    return TensorRole::bias;
  }
  if (plain.ends_with("running_mean") || plain == "moving_mean") return TensorRole::mean;
  if (plain.ends_with("running_var") || plain == "moving_variance" || plain == "moving_var") {
    return TensorRole::variance;
  }
  if (plain.ends_with("num_batches_tracked")) return TensorRole::counter;
  return TensorRole::weight;
}

std::vector<std::string_view> fused_parts(std::string_view segment) {
  static const std::unordered_map<std::string_view, std::vector<std::string_view>> known = {
      {"qkv", {"q", "k", "v"}},     {"wqkv", {"q", "k", "v"}},   {"c_attn", {"q", "k", "v"}},
      {"in_proj", {"q", "k", "v"}}, {"pack", {"q", "k", "v"}},   {"att", {"q", "k", "v"}},
      {"kv", {"k", "v"}},           {"wkv", {"k", "v"}},         {"qk", {"q", "k"}},
      {"wqk", {"q", "k"}},          {"gate_up", {"gate", "up"}}, {"gateup", {"gate", "up"}},
      {"w12", {"gate", "up"}},      {"w13", {"gate", "up"}},     {"gate_and_up", {"gate", "up"}},
      {"ff", {"up", "gate"}}};
  std::string plain = plain_segment(segment);
  for (const std::string_view end : {"_weight", "_bias"}) {
    if (plain.ends_with(end)) plain.resize(plain.size() - end.size());
  }
  // What they are called beside what they hold: to_qkv, qkv_proj.
  std::string_view rest = plain;
  if (!known.contains(rest)) {
    for (const std::string_view begin : {"to_", "w_", "attn_", "fused_", "linear_"}) {
      if (rest.starts_with(begin)) rest.remove_prefix(begin.size());
    }
    for (const std::string_view end :
         {"_proj", "_linear", "_lin", "_net", "_projection", "_layer"}) {
      if (rest.ends_with(end)) rest.remove_suffix(end.size());
    }
  }
  const auto found = known.find(rest);
  return found == known.end() ? std::vector<std::string_view>() : found->second;
}

bool may_hold_projections_in_order(std::string_view name) {
  const auto is_below = [&](std::string_view list, std::string_view part) {
    const std::size_t at = name.find(list);
    const bool is_start = at == 0 || (at != std::string_view::npos && name[at - 1] == '.');
    if (!is_start) return false;
    const std::string_view rest = name.substr(at + list.size());
    const auto end = std::find_if_not(rest.begin(), rest.end(), is_digit);
    return end != rest.begin() && std::string_view(end, rest.end()).starts_with(part);
  };
  return is_below("layers.", ".self_attention.query_key_value.") ||
         is_below("transformer.layers.", ".attention.query_key_value.");
}

bool is_order_doubtful(std::string_view name) {
  if (may_hold_projections_in_order(name)) return true;
  // InternLM2 stores heads by turns in wqkv, CodeGen in qkv_proj; metaseq's order is k, v, q.
  return name.find("attention.wqkv.") != std::string_view::npos ||
         (name.find("qkv_proj.") != std::string_view::npos &&
          (name.find("h.") == 0 || name.find(".h.") != std::string_view::npos ||
           name.find("decoder.layers.") != std::string_view::npos || name.find("layers.") == 0));
}

bool is_embedding(std::string_view name) {
  const Meaning meaning = meaning_of(plain_segments(name), 0);
  return meaning[static_cast<std::size_t>(embedding)] != 0 ||
         (meaning[static_cast<std::size_t>(part)] & embed) != 0;
}

bool counts_backwards(std::string_view segment) {
  // MiDaS and DPT go from refinenet4 to refinenet1.
  return without_number(plain_segment(segment)) == "refinenet";
}

bool is_common_word(std::string_view word) {
  static const std::unordered_set<std::string_view> common = {
      "layer", "layers", "block",  "blocks", "module", "model", "net",    "weight",
      "bias",  "proj",   "linear", "gamma",  "beta",   "the",   "main",   "stages",
      "stage", "base",   "h",      "fn",     "params", "list",  "modules"};
  return common.contains(word);
}

}  // namespace andiron::inline v1::detail
