# SPDX-License-Identifier: MIT OR Apache-2.0
"""Models of different families that have blocks of one form, and names with what tools of training put into them.
The names are those of published checkpoints."""
import re

from corpus import Family


def norm(name, width):
    return [[f"{name}.weight", "f32", [width], "LayerNorm"], [f"{name}.bias", "f32", [width], "LayerNorm"]]


def linear(name, out, inputs):
    return [[f"{name}.weight", "f32", [out, inputs], "Linear"], [f"{name}.bias", "f32", [out], "Linear"]]


def bert(width=24, blocks=4):
    tensors = [["embeddings.word_embeddings.weight", "f32", [120, width], "Embedding"],
               ["embeddings.position_embeddings.weight", "f32", [40, width], "Embedding"],
               ["embeddings.token_type_embeddings.weight", "f32", [2, width], "Embedding"]]
    tensors += norm("embeddings.LayerNorm", width)
    for i in range(blocks):
        block = f"encoder.layer.{i}"
        for part in ("query", "key", "value"):
            tensors += linear(f"{block}.attention.self.{part}", width, width)
        tensors += linear(f"{block}.attention.output.dense", width, width)
        tensors += norm(f"{block}.attention.output.LayerNorm", width)
        tensors += linear(f"{block}.intermediate.dense", 4 * width, width)
        tensors += linear(f"{block}.output.dense", width, 4 * width)
        tensors += norm(f"{block}.output.LayerNorm", width)
    return tensors + linear("pooler.dense", width, width)


def vit(width=24, blocks=4):
    tensors = [["embeddings.cls_token", "f32", [1, 1, width], "ViTEmbeddings"],
               ["embeddings.position_embeddings", "f32", [1, 17, width], "ViTEmbeddings"],
               ["embeddings.patch_embeddings.projection.weight", "f32", [width, 3, 8, 8], "Conv2d"],
               ["embeddings.patch_embeddings.projection.bias", "f32", [width], "Conv2d"]]
    for i in range(blocks):
        block = f"encoder.layer.{i}"
        for part in ("query", "key", "value"):
            tensors += linear(f"{block}.attention.attention.{part}", width, width)
        tensors += linear(f"{block}.attention.output.dense", width, width)
        tensors += linear(f"{block}.intermediate.dense", 4 * width, width)
        tensors += linear(f"{block}.output.dense", width, 4 * width)
        tensors += norm(f"{block}.layernorm_before", width) + norm(f"{block}.layernorm_after", width)
    return tensors + norm("layernorm", width)


def wav2vec2(width=24, blocks=4):
    tensors = [["masked_spec_embed", "f32", [width], "Wav2Vec2Model"]]
    for i, kernel in enumerate((10, 3, 3)):
        tensors.append([f"feature_extractor.conv_layers.{i}.conv.weight", "f32", [16, 16 if i else 1, kernel],
                        "Conv1d"])
    tensors += norm("feature_extractor.conv_layers.0.layer_norm", 16)
    tensors += norm("feature_projection.layer_norm", 16) + linear("feature_projection.projection", width, 16)
    tensors += norm("encoder.layer_norm", width)
    for i in range(blocks):
        block = f"encoder.layers.{i}"
        for part in ("k_proj", "v_proj", "q_proj", "out_proj"):
            tensors += linear(f"{block}.attention.{part}", width, width)
        tensors += norm(f"{block}.layer_norm", width)
        tensors += linear(f"{block}.feed_forward.intermediate_dense", 4 * width, width)
        tensors += linear(f"{block}.feed_forward.output_dense", width, 4 * width)
        tensors += norm(f"{block}.final_layer_norm", width)
    return tensors


def renamed(tensors, *rules):
    for pattern, replacement in rules:
        tensors = [[re.sub(pattern, replacement, name), *rest] for name, *rest in tensors]
    return tensors


def kinds():
    family = Family("kinds", "tuning")
    family.tensors("bert", bert(), "transformers.BertModel")
    family.tensors("vit", vit(), "transformers.ViTModel")
    family.tensors("wav2vec2", wav2vec2(), "transformers.Wav2Vec2Model")
    for file in ("bert", "vit", "wav2vec2"):
        for model in ("bert", "vit", "wav2vec2"):
            if file != model:
                family.unrelated(f"{file}_to_{model}", file, model)
    family.write()


def training_names():
    family = Family("training_names", "tuning")
    family.tensors("bert", bert(), "transformers.BertModel")
    family.tensors("vit", vit(), "transformers.ViTModel")
    own = ((r"^encoder\.layer\.", "blocks."), (r"\.attention\.self\.", ".attn."), (r"^pooler\.", "summary."))
    family.tensors("own", renamed(bert(), *own), "typed model")
    # Some layers are wrapped, with their attention, and all of the model.
    wrapper = "_fsdp_wrapped_module."
    unwrap = [(re.escape(wrapper), "")]
    wrapped = renamed(bert(), (r"^encoder\.layer\.(0|2|3)\.", rf"encoder.layer.\1.{wrapper}"),
                      (r"\.attention\.", rf".attention.{wrapper}"), ("^", wrapper))
    family.tensors("fsdp", wrapped, "transformers.BertModel")
    family.case("fsdp_to_bert", "fsdp", "bert", kind="wrapped", rules=unwrap)
    family.case("fsdp_to_own", "fsdp", "own", kind="renamed", rules=[*unwrap, *own])
    # Each tensor under a key below its name, and beside the states of an optimizer.
    family.tensors("values", renamed(bert(), ("$", ".value")), "transformers.BertModel")
    family.case("values_to_own", "values", "own", kind="renamed", rules=[(r"\.value$", ""), *own])
    states = [tensor for name, *rest in bert() for tensor in ([name, *rest], [name + ".exp_avg", *rest])]
    family.tensors("states", states, "transformers.BertModel")
    family.case("states_to_own", "states", "own", kind="renamed", rules=own)
    # Parameters that are modules on the other side.
    modules = ((r"^(embeddings\.(cls_token|position_embeddings))$", r"\1.weight"),)
    family.tensors("modules", renamed(vit(), *modules), "typed model")
    family.case("vit_to_modules", "vit", "modules", kind="renamed", rules=modules)
    family.case("modules_to_vit", "modules", "vit", kind="renamed",
                rules=[(r"^(embeddings\.(cls_token|position_embeddings))\.weight$", r"\1")])
    # Convolutions alone in a list of their own.
    flat = [[f"features.{i}.{name}", "f32", shape, "Conv2d"] for i in range(6)
            for name, shape in (("weight", [8, 8, 3, 3]), ("bias", [8]))] + linear("classifier", 10, 8)
    family.tensors("flat", flat, "typed model")
    family.tensors("nested", renamed(flat, (r"^features\.(0|2|3)\.", r"features.\1.0.")), "typed model")
    family.case("nested_to_flat", "nested", "flat", kind="numbered",
                rules=[(r"^features\.(0|2|3)\.0\.", r"features.\1.")])
    family.case("flat_to_nested", "flat", "nested", kind="numbered",
                rules=[(r"^features\.(0|2|3)\.", r"features.\1.0.")])
    family.write()


makers = [kinds, training_names]
