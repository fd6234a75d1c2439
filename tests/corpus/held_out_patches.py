# SPDX-License-Identifier: MIT OR Apache-2.0
"""Held-out families: networks over patches of images, sound and videos. Needs timm and transformers."""
import timm
import torch
import transformers as hf
from timm.models import hiera as timm_hiera, metaformer
from torch import nn

from held_out_check import alike, renamed
from held_out_lib import changed, copies, family, fused, linear, listings, net, param, seq, strip, ways, write


def siglip():
    f = family("siglip", "transformers", "timm")

    def config(layers=2):
        return hf.SiglipVisionConfig(hidden_size=32, intermediate_size=128, num_hidden_layers=layers,
                                     num_attention_heads=4, image_size=32, patch_size=8)

    def with_timm(name="vit_base_patch16_siglip_224", classes=0, layers=2):
        return lambda: timm.create_model(name, img_size=32, patch_size=8, embed_dim=32, depth=layers, num_heads=4,
                                         num_classes=classes)
    gap = "vit_base_patch16_siglip_gap_224"
    listings(f, hf=lambda: hf.SiglipVisionModel(config()), hf_deep=lambda: hf.SiglipVisionModel(config(3)),
             timm=with_timm(), timm_gap=with_timm(gap), timm_6=with_timm(classes=6))
    # Published files have both towers. Only the tower for images is wanted here.
    text = hf.SiglipTextConfig(vocab_size=64, hidden_size=32, intermediate_size=128, num_hidden_layers=2,
                               num_attention_heads=4, max_position_embeddings=16)
    both = hf.SiglipConfig(text_config=text.to_dict(), vision_config=config().to_dict())
    listings(f, both=lambda: hf.SiglipModel(both))
    f.wrapped("open_clip", "timm", "visual.trunk.", [
        ["text.positional_embedding", "f32", [16, 32], ""], ["text.token_embedding.weight", "f32", [64, 32], ""],
        ["text.ln_final.weight", "f32", [32], ""], ["text.ln_final.bias", "f32", [32], ""],
        ["logit_scale", "f32", [], ""], ["logit_bias", "f32", [], ""]])

    a, b = "encoder.layers.*", "blocks.*"
    rules = ways(("embeddings.patch_embedding", "patch_embed.proj"), ("post_layernorm", "norm"),
                 ("head.probe", "attn_pool.latent"), ("head.attention.out_proj", "attn_pool.proj"),
                 ("head.layernorm", "attn_pool.norm"), ("head.mlp", "attn_pool.mlp"),
                 (a + ".layer_norm1", b + ".norm1"), (a + ".layer_norm2", b + ".norm2"),
                 (a + ".self_attn.out_proj", b + ".attn.proj"), (a + ".mlp", b + ".mlp"))
    qkv = fused(b + ".attn.qkv", *(f"{a}.self_attn.{x}_proj" for x in "qkv"))
    pool = [("^head.attention.in_proj_(weight|bias)$", [r"attn_pool.q.\1", r"attn_pool.kv.\1"])]
    # timm's table has one dimension more.
    table = ["position_embedding", "^pos_embed$"]

    def tables(file, model):
        model.embeddings.position_embedding.weight.data = file.pos_embed.data[0]
    f.case("timm_to_hf", "timm", "hf", "fused", rules[1], splits=[qkv], joins=pool, unfed=table)
    f.case("timm_to_hf_burn", "timm", "hf", "fused", rules[1], splits=[qkv], joins=pool, unfed=table, layout="burn")
    f.case("hf_to_timm_without_pool", "hf", "timm_gap", "fused", rules[0], joins=[qkv], unfed=table)
    f.case("both_to_timm_without_pool", "both", "timm_gap", "wrapped", [strip("vision_model.")] + rules[0],
           joins=[qkv], unfed=table, sorted_file=False)
    f.case("open_clip_to_hf", "open_clip", "hf", "wrapped", [strip("visual.trunk.")] + rules[1], splits=[qkv],
           joins=pool, unfed=table)
    f.case("open_clip_to_6_classes", "open_clip", "timm_6", "head", [strip("visual.trunk.")], unfed=["^head"])
    f.case("timm_to_deeper_hf", "timm", "hf_deep", "depth", rules[1], splits=[qkv], joins=pool,
           unfed=table + [r"layers\.2\."], sorted_file=False)
    image = torch.randn(2, 3, 32, 32)
    alike(f, "timm_to_hf", with_timm(), lambda: hf.SiglipVisionModel(config()), lambda m: m(image),
          lambda m: m(image).pooler_output, tables)

    def tables_back(file, model):
        model.pos_embed.data = file.embeddings.position_embedding.weight.data[None]
    alike(f, "hf_to_timm_without_pool", lambda: hf.SiglipVisionModel(config()), with_timm(gap),
          lambda m: m(image).last_hidden_state, lambda m: m.forward_features(image),
          tables_back)
    write(f)


def hiera():
    f = family("hiera", "transformers", "timm")
    stages = (1, 2, 2, 1)

    def config(classes=10):
        return hf.HieraConfig(embed_dim=8, image_size=[64, 64], depths=list(stages), num_heads=[1, 2, 4, 8],
                              num_labels=classes)

    def with_timm(classes=10, stages=stages):
        return lambda: timm_hiera.Hiera(img_size=(64, 64), embed_dim=8, num_heads=1, stages=stages,
                                        num_classes=classes)
    listings(f, hf=lambda: hf.HieraForImageClassification(config()),
             hf_3=lambda: hf.HieraForImageClassification(config(3)), hf_base=lambda: hf.HieraModel(config()),
             timm=with_timm(), timm_deep=with_timm(stages=(1, 2, 2, 2)))
    changed(f, "original", "timm", [("^head.fc", "head.projection"), ("^head.norm", "norm")],
            class_name="facebookresearch/hiera Hiera")
    f.wrapped("original_file", "original", "model_state.")
    blocks = [(i, j) for i, n in enumerate(stages) for j in range(n)]
    rules = ways(("hiera.embeddings.position_embeddings", "pos_embed"),
                 ("hiera.embeddings.patch_embeddings.projection", "patch_embed.proj"),
                 ("hiera.pooler.layernorm", "head.norm"), ("classifier", "head.fc"),
                 *((f"hiera.encoder.stages.{i}.layers.{j}{x}", f"blocks.{n}{y}") for n, (i, j) in enumerate(blocks)
                   for x, y in ((".layernorm_before", ".norm1"), (".layernorm_after", ".norm2"), ("", ""))))
    first = [strip("model_state."), ("^head.projection", "head.fc"), ("^norm", "head.norm")]
    f.case("timm_to_hf", "timm", "hf", "numbered", rules[1])
    f.case("hf_to_timm", "hf", "timm", "numbered", rules[0])
    f.case("hf_to_timm_burn", "hf", "timm", "numbered", rules[0], sorted_file=False, layout="burn")
    f.case("original_to_hf", "original_file", "hf", "wrapped", first + rules[1], sorted_file=False)
    f.case("original_to_timm", "original_file", "timm", "wrapped", first)
    f.case("original_to_3_classes", "original", "hf_3", "head", first + rules[1], unfed=["^classifier"])
    f.case("original_to_hf_base", "original_file", "hf_base", "head", first + rules[1] + [strip("hiera.")])
    f.case("hf_to_deeper_timm", "hf", "timm_deep", "depth", rules[0], unfed=[r"^blocks\.6\."])
    image = torch.randn(2, 3, 64, 64)
    for name, one, two in (("timm_to_hf", with_timm(), lambda: hf.HieraForImageClassification(config())),
                           ("hf_to_timm", lambda: hf.HieraForImageClassification(config()), with_timm())):
        alike(f, name, one, two, lambda m: getattr(m(image), "logits", None) if hasattr(m, "hiera") else m(image))
    renamed(f, "original_to_timm", lambda state: timm_hiera.checkpoint_filter_fn(
        {k.removeprefix("model_state."): v for k, v in state.items()}))
    write(f)


def poolformer():
    f = family("poolformer", "transformers", "timm")
    dims, depths = [8, 16, 24, 32], [1, 1, 2, 1]

    def config(classes=10, layers=depths):
        return hf.PoolFormerConfig(depths=layers, hidden_sizes=dims, num_labels=classes)

    def with_timm(classes=10):
        return lambda: metaformer.MetaFormer(
            depths=depths, dims=dims, num_classes=classes, downsample_norm=None, mlp_act=nn.GELU, mlp_bias=True,
            norm_layers=metaformer.GroupNorm1, layer_scale_init_values=1e-5, res_scale_init_values=None,
            use_mlp_head=False)

    def original(classes=10):
        def embed(a, b, size):
            return net("PatchEmbed", proj=nn.Conv2d(a, b, size))

        def block(d):
            return net("PoolFormerBlock", layer_scale_1=param(d), layer_scale_2=param(d), norm1=nn.GroupNorm(1, d),
                       norm2=nn.GroupNorm(1, d), mlp=net("Mlp", fc1=nn.Conv2d(d, 4 * d, 1), fc2=nn.Conv2d(4 * d, d, 1)))
        network = []
        for i, d in enumerate(dims):
            network += [embed(dims[i - 1], d, 3)] if i else []
            network.append(seq(*(block(d) for _ in range(depths[i]))))
        return net("PoolFormer", patch_embed=embed(3, 8, 7), network=network, norm=nn.GroupNorm(1, 32),
                   head=linear(32, classes))
    listings(f, hf=lambda: hf.PoolFormerForImageClassification(config()),
             hf_5=lambda: hf.PoolFormerForImageClassification(config(5)),
             hf_deep=lambda: hf.PoolFormerForImageClassification(config(layers=[1, 1, 3, 1])), timm=with_timm(),
             original=(original, "sail-sg/poolformer PoolFormer"))
    f.wrapped("training", "original", "state_dict.module.", copies(f, "original", "state_dict_ema."))
    h = "poolformer.encoder."
    block = ((".before_norm", ".norm1", ".norm1"), (".after_norm", ".norm2", ".norm2"),
             (".output.conv1", ".mlp.fc1", ".mlp.fc1"), (".output.conv2", ".mlp.fc2", ".mlp.fc2"),
             (".layer_scale_1", ".layer_scale_1", ".layer_scale1.scale"),
             (".layer_scale_2", ".layer_scale_2", ".layer_scale2.scale"))
    first = [(f"{h}block.{i}.*{x}", f"network.{2 * i}.*{y}") for i in range(4) for x, y, _ in block]
    rules = ways((h + "patch_embeddings.0.projection", "patch_embed.proj"), ("classifier", "head"), *first,
                 *((f"{h}patch_embeddings.{i}.projection", f"network.{2 * i - 1}.proj") for i in (1, 2, 3)))
    timm_rules = ways((h + "patch_embeddings.0.projection", "stem.conv"), ("norm", "head.norm"),
                      ("classifier", "head.fc"),
                      *((f"{h}block.{i}.*{x}", f"stages.{i}.blocks.*{y}") for i in range(4) for x, _, y in block),
                      *((f"{h}patch_embeddings.{i}.projection", f"stages.{i}.downsample.conv") for i in (1, 2, 3)))
    f.case("original_to_hf", "original", "hf", "numbered", rules[1], sorted_file=False)
    f.case("hf_to_original", "hf", "original", "numbered", rules[0])
    f.case("original_to_timm", "original", "timm", "numbered", rules[1] + timm_rules[0])
    f.case("hf_to_timm", "hf", "timm", "renamed", timm_rules[0])
    f.case("timm_to_hf_burn", "timm", "hf", "renamed", timm_rules[1], layout="burn")
    f.case("original_to_5_classes", "original", "hf_5", "head", rules[1], unfed=["^classifier"])
    f.case("timm_to_deeper_hf", "timm", "hf_deep", "depth", timm_rules[1], unfed=[r"block\.2\.2\."])
    f.case("training_to_timm", "training", "timm", "wrapped", [strip("state_dict.module.")] + rules[1] +
           timm_rules[0])
    renamed(f, "original_to_timm", lambda state: metaformer.checkpoint_filter_fn(state, with_timm()()))
    image = torch.randn(2, 3, 64, 64)
    # The heads take mean and norm in another order, so the features are compared.
    alike(f, "hf_to_timm", lambda: hf.PoolFormerForImageClassification(config()), with_timm(),
          lambda m: m.poolformer(image).last_hidden_state, lambda m: m.forward_features(image))
    write(f)


def spectrograms():
    """The audio spectrogram transformer."""
    f = family("ast", "transformers")

    def config(classes=10):
        return hf.ASTConfig(hidden_size=32, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4,
                            max_length=64, num_mel_bins=32, num_labels=classes)

    def original():
        def block():
            return net("Block", norm1=nn.LayerNorm(32), attn=net("Attention", qkv=linear(32, 96), proj=linear(32, 32)),
                       norm2=nn.LayerNorm(32), mlp=net("Mlp", fc1=linear(32, 128), fc2=linear(128, 32)))
        # The heads of the image network that it began as are still in the files.
        vit = net("DistilledVisionTransformer", cls_token=param(1, 1, 32), pos_embed=param(1, 12, 32),
                  dist_token=param(1, 1, 32), patch_embed=net("PatchEmbed", proj=nn.Conv2d(1, 32, 16, 10)),
                  blocks=seq(block(), block()), norm=nn.LayerNorm(32), head=linear(32, 1000),
                  head_dist=linear(32, 1000))
        return net("ASTModel", v=vit, mlp_head=seq(nn.LayerNorm(32), linear(32, 10)))

    def vggish():
        sizes = {0: (1, 64), 3: (64, 128), 6: (128, 256), 8: (256, 256), 11: (256, 512), 13: (512, 512)}
        return net("VGGish", features=seq(*(nn.Conv2d(*sizes[i], 3) if i in sizes else None for i in range(16))),
                   embeddings=seq(linear(12288, 4096), None, linear(4096, 4096), None, linear(4096, 128)))
    listings(f, hub=lambda: hf.ASTForAudioClassification(config()), hf=lambda: hf.ASTForAudioClassification(config()),
             hf_35=lambda: hf.ASTForAudioClassification(config(35)), original=(original, "YuanGongND/ast ASTModel"),
             vggish=(vggish, "harritaylor/torchvggish VGGish"))
    f.wrapped("original_file", "original", "module.")
    p = "audio_spectrogram_transformer."
    b = "v.blocks.*"
    stem = [(p + "embeddings.cls_token", "v.cls_token"), (p + "embeddings.distillation_token", "v.dist_token"),
            (p + "embeddings.position_embeddings", "v.pos_embed"),
            (p + "embeddings.patch_embeddings.projection", "v.patch_embed.proj"), (p + "layernorm", "v.norm"),
            ("classifier.layernorm", "mlp_head.0"), ("classifier.dense", "mlp_head.1")]
    a = p + "encoder.layer.*"
    published = ways(*stem, (a + ".layernorm_before", b + ".norm1"), (a + ".layernorm_after", b + ".norm2"),
                     (a + ".attention.output.dense", b + ".attn.proj"), (a + ".intermediate.dense", b + ".mlp.fc1"),
                     (a + ".output.dense", b + ".mlp.fc2"))
    qkv = fused(b + ".attn.qkv", *(f"{a}.attention.attention.{x}" for x in ("query", "key", "value")))
    c = p + "layers.*"
    module = ways(*stem, (c + ".layernorm_before", b + ".norm1"), (c + ".layernorm_after", b + ".norm2"),
                  (c + ".attention.o_proj", b + ".attn.proj"), (c + ".mlp", b + ".mlp"))
    qkv_module = fused(b + ".attn.qkv", *(f"{c}.attention.{x}_proj" for x in "qkv"))
    heads = [r"^v\.head"]
    f.case("original_to_hf", "original_file", "hf", "wrapped", [strip("module.")] + module[1], splits=[qkv_module],
           sorted_file=False)
    f.case("original_to_hf_burn", "original", "hf", "fused", module[1], splits=[qkv_module], layout="burn")
    f.case("hub_to_original", "hub", "original", "fused", published[0], joins=[qkv], unfed=heads)
    f.case("original_to_35_commands", "original_file", "hf_35", "head", [strip("module.")] + module[1],
           splits=[qkv_module], unfed=[r"^classifier\.dense"])
    f.case("hub_to_hf", "hub", "hf", "renamed", published[0] + module[1] + [
        (rf"^{p}encoder\.layer\.(\d+)\.attention\.attention\.(\w)\w+", rf"{p}layers.\1.attention.\2_proj")])
    f.unrelated("vggish_to_hf", "vggish", "hf")
    write(f)


def videos():
    """VideoMAE."""
    f = family("videomae", "transformers")

    def config(classes=10):
        return hf.VideoMAEConfig(hidden_size=32, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4,
                                 image_size=32, patch_size=16, num_frames=4, num_labels=classes,
                                 decoder_hidden_size=24, decoder_num_hidden_layers=2, decoder_num_attention_heads=4,
                                 decoder_intermediate_size=96)

    def block(d):
        attn = net("Attention", q_bias=param(d), v_bias=param(d), qkv=linear(d, 3 * d, bias=False), proj=linear(d, d))
        return net("Block", norm1=nn.LayerNorm(d), attn=attn, norm2=nn.LayerNorm(d),
                   mlp=net("Mlp", fc1=linear(d, 4 * d), fc2=linear(4 * d, d)))

    def embed():
        return net("PatchEmbed", proj=nn.Conv3d(3, 32, (2, 16, 16)))

    def tuned():
        return net("VisionTransformer", patch_embed=embed(), blocks=[block(32), block(32)], fc_norm=nn.LayerNorm(32),
                   head=linear(32, 10))

    def pretrained():
        return net("PretrainVisionTransformer", mask_token=param(1, 1, 24),
                   encoder=net("PretrainVisionTransformerEncoder", patch_embed=embed(), blocks=[block(32), block(32)],
                               norm=nn.LayerNorm(32)),
                   decoder=net("PretrainVisionTransformerDecoder", blocks=[block(24), block(24)],
                               norm=nn.LayerNorm(24), head=linear(24, 1536)),
                   encoder_to_decoder=linear(32, 24, bias=False))
    listings(f, hub=lambda: hf.VideoMAEForVideoClassification(config()),
             hf=lambda: hf.VideoMAEForVideoClassification(config()),
             hf_101=lambda: hf.VideoMAEForVideoClassification(config(101)),
             hf_pretraining=lambda: hf.VideoMAEForPreTraining(config()),
             tuned=(tuned, "MCG-NJU/VideoMAE VisionTransformer"),
             pretrained=(pretrained, "MCG-NJU/VideoMAE PretrainVisionTransformer"))
    f.wrapped("tuned_file", "tuned", "module.")
    f.wrapped("pretrained_file", "pretrained", "model.")

    def inner(a, b):
        s = a + ".attention.attention"
        return [(a + ".layernorm_before", b + ".norm1"), (a + ".layernorm_after", b + ".norm2"),
                (a + ".attention.output.dense", b + ".attn.proj"), (a + ".intermediate.dense", b + ".mlp.fc1"),
                (a + ".output.dense", b + ".mlp.fc2"), (s + ".query.bias", b + ".attn.q_bias"),
                (s + ".value.bias", b + ".attn.v_bias")]

    def qkv(a, b):
        names = (f"{a}.attention.attention.{x}.weight" for x in ("query", "key", "value"))
        return fused(b + ".attn.qkv.weight", *names)
    a, d, e = "videomae.encoder.layer.*", "decoder.decoder_layers.*", "videomae.embeddings.patch_embeddings.projection"
    rules = ways((e, "patch_embed.proj"), ("classifier", "head"), *inner(a, "blocks.*"))
    both = ways((e, "encoder.patch_embed.proj"), ("videomae.layernorm", "encoder.norm"), *inner(a, "encoder.blocks.*"),
                *inner(d, "decoder.blocks.*"))
    # The published files of transformers keep the biases beside the projections.
    hub = [(r"attention\.([qv])_bias$", r"attention.\1.bias"), (r"\.q\.bias$", ".query.bias"),
           (r"\.v\.bias$", ".value.bias")]
    parts = qkv(a, "blocks.*")
    f.case("tuned_to_hf", "tuned", "hf", "fused", rules[1], splits=[parts])
    f.case("tuned_to_hf_burn", "tuned", "hf", "fused", rules[1], splits=[parts], sorted_file=False, layout="burn")
    f.case("hub_to_tuned", "hub", "tuned", "fused", hub + rules[0], joins=[parts])
    f.case("tuned_file_to_101_classes", "tuned_file", "hf_101", "head", [strip("module.")] + rules[1], splits=[parts],
           unfed=["^classifier"])
    f.case("pretrained_to_hf", "pretrained_file", "hf_pretraining", "wrapped", [strip("model.")] + both[1],
           splits=[qkv(a, "encoder.blocks.*"), qkv(d, "decoder.blocks.*")], sorted_file=False)
    write(f)


for make in (siglip, hiera, poolformer, spectrograms, videos):
    make()
