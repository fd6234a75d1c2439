# SPDX-License-Identifier: MIT OR Apache-2.0
"""Fresh families: Swin for mmpretrain, Swin v2, MobileViT.

Checked by forward passes: mmpretrain's Swin against torchvision (after its channels of a merged patch are put in the
other order, as its converter does), Swin v2 between transformers, timm and torchvision, MobileViT between transformers
and timm. Microsoft's names of Swin v2 and Apple's of MobileViT come from the converters of transformers and timm."""
import timm
import timm.models.swin_transformer_v2
import torch
import torchvision
import transformers as hf
from torch import nn
from torchvision.models.swin_transformer import PatchMergingV2, SwinTransformerBlockV2

from fresh_lib import Fresh, Table, adam, alike, linear, net, on_cpu, open_mmlab, param
from fresh_text import lines

depths, heads, size = (2, 2, 2), (2, 4, 8), 24
image = torch.randn(2, 3, 64, 64, generator=torch.Generator().manual_seed(1))


def swin():
    f = Fresh("swin_ports", "torchvision", "transformers", "mmpretrain")

    def vision(classes=10):
        return lambda: torchvision.models.SwinTransformer([4, 4], size, list(depths), list(heads), [4, 4],
                                                          num_classes=classes)

    def with_mm():
        open_mmlab()
        from mmpretrain.models.backbones import SwinTransformer
        from mmpretrain.models.heads import LinearClsHead
        return net("ImageClassifier", backbone=SwinTransformer(arch=dict(
            embed_dims=size, depths=list(depths), num_heads=list(heads)), img_size=64, window_size=4,
            out_indices=(2,), drop_path_rate=0.), head=LinearClsHead(10, 4 * size))

    def with_hf():
        return hf.SwinForImageClassification(hf.SwinConfig(
            image_size=64, patch_size=4, embed_dim=size, depths=list(depths), num_heads=list(heads), window_size=4,
            num_labels=10))

    def struct():
        """A typed model of one's own."""
        def block(c, h):
            return net("WindowBlock", ln_1=nn.LayerNorm(c), wq=linear(c, c), wk=linear(c, c), wv=linear(c, c),
                       wo=linear(c, c), bias_table=param(49, h), ln_2=nn.LayerNorm(c), fc_1=linear(c, 4 * c),
                       fc_2=linear(4 * c, c))

        def stage(i):
            c = size * 2 ** i
            merge = net("Merge", ln=nn.LayerNorm(4 * c), fc=linear(4 * c, 2 * c, bias=False)) if i < 2 else None
            return net("Stage", block=[block(c, heads[i]) for _ in range(depths[i])], merge=merge)
        return net("Swin", embed=nn.Conv2d(3, size, 4), embed_ln=nn.LayerNorm(size), stage=[stage(i) for i in range(3)],
                   ln=nn.LayerNorm(4 * size), fc=linear(4 * size, 10))
    f.add(torchvision=vision(), torchvision_6=vision(6), mm=on_cpu(with_mm), hub=with_hf,
          struct=(struct, "typed model"))
    f.wrapped("mm_file", "mm", "state_dict.")
    m, t, h = "backbone.stages.{i}.blocks.{j}.", "features.%d.{j}.", "swin.encoder.layers.{i}.blocks.{j}."
    rows = (("norm1", "norm1", "layernorm_before", "ln_1"), ("norm2", "norm2", "layernorm_after", "ln_2"),
            ("attn.w_msa.qkv", "attn.qkv", "", ""), ("attn.w_msa.proj", "attn.proj", "attention.output.dense", "wo"),
            ("attn.w_msa.relative_position_bias_table", "attn.relative_position_bias_table",
             "attention.self.relative_position_bias_table", "bias_table"),
            ("ffn.layers.0.0", "mlp.0", "intermediate.dense", "fc_1"),
            ("ffn.layers.1", "mlp.3", "output.dense", "fc_2"))
    ends = [("backbone.patch_embed.projection", "features.0.0", "swin.embeddings.patch_embeddings.projection", "embed"),
            ("backbone.patch_embed.norm", "features.0.2", "swin.embeddings.norm", "embed_ln"),
            ("backbone.norm2", "norm", "swin.layernorm", "ln"), ("head.fc", "head", "classifier", "fc")]
    ends += [(f"backbone.stages.{i}.downsample.{x}", f"features.{2 * i + 2}.{x}",
              f"swin.encoder.layers.{i}.downsample.{x}", f"stage.{i}.merge.{y}") for i in (0, 1)
             for x, y in (("norm", "ln"), ("reduction", "fc"))]
    mm_vision = Table(lines("%s = %s", [(m.replace("{i}", str(i)) + a, t % (2 * i + 1) + b) for i in range(3)
                                        for a, b, _, _ in rows] + [(a, b) for a, b, _, _ in ends]))
    query = [h + f"attention.self.{x}" for x in ("query", "key", "value")]
    mm_hub = Table(lines("%s = %s", [(m + a, h + c) for a, _, c, _ in rows if c] + [(a, c) for a, _, c, _ in ends] + [
        (m + "attn.w_msa.qkv", " + ".join(query))]))
    hub_struct = Table(lines("%s = %s", [(h + c, "stage.{i}.block.{j}." + e) for _, _, c, e in rows if c] + [
        (c, e) for _, _, c, e in ends] + [(q, "stage.{i}.block.{j}." + w) for q, w in zip(query, ("wq", "wk", "wv"))]))
    index = ["relative_position_index"]
    f.pair("mm_file_to_torchvision", "mm_file", "torchvision", mm_vision, kind="wrapped", strip=r"^state_dict\.",
           unfed=index, spare=index, sorted_file=False)
    f.pair("torchvision_to_mm", "torchvision", "mm", mm_vision, back=True, kind="numbered", unfed=index, spare=index)
    f.pair("mm_to_hub", "mm", "hub", mm_hub, kind="fused", spare=index)
    f.pair("hub_to_struct_burn", "hub", "struct", hub_struct, layout="burn")
    f.pair("mm_to_6_classes", "mm", "torchvision_6", mm_vision, kind="head", unfed=index + ["^head"],
           spare=index + ["^head"], sorted_file=False)

    def merged(file, model):
        """mmpretrain unfolds a patch to channels, then places; the others have places, then channels."""
        for stage, part in ((file.backbone.stages[0], model.features[2]), (file.backbone.stages[1], model.features[4])):
            order = torch.arange(4 * part.norm.weight.numel() // 4).reshape(-1, 4).T[[0, 2, 1, 3]].reshape(-1)
            part.norm.weight.data = stage.downsample.norm.weight.data[order]
            part.norm.bias.data = stage.downsample.norm.bias.data[order]
            part.reduction.weight.data = stage.downsample.reduction.weight.data[:, order]
        model.norm.eps = file.backbone.norm2.eps

    def indices(file, model):
        merged(file, model)
        for name, buffer in fresh.named_buffers():
            if name.endswith("index"):
                model.get_buffer(name).copy_(buffer)
    fresh = vision()()
    alike(f, "mm_file_to_torchvision", with_mm, vision(), lambda m: m.head.fc(m.backbone(image)[0].mean((2, 3))),
          lambda m: m(image), indices)
    f.write()


def swinv2():
    f = Fresh("swinv2", "timm", "torchvision", "transformers")

    def with_hf():
        return hf.Swinv2ForImageClassification(hf.Swinv2Config(
            image_size=64, patch_size=4, embed_dim=size, depths=list(depths), num_heads=list(heads), window_size=4,
            num_labels=10))

    def with_timm(depths=depths):
        return lambda: timm.models.swin_transformer_v2.SwinTransformerV2(
            img_size=64, patch_size=4, embed_dim=size, depths=depths, num_heads=heads, window_size=4, num_classes=10,
            strict_img_size=False)

    def vision():
        return torchvision.models.SwinTransformer([4, 4], size, list(depths), list(heads), [4, 4], num_classes=10,
                                                  block=SwinTransformerBlockV2, downsample_layer=PatchMergingV2)
    f.add(hf=with_hf, timm=with_timm(), timm_deep=with_timm((2, 2, 4)), torchvision=vision)
    # Microsoft's code has the reduction after the blocks of a stage, one matrix as head, and buffers in the file.
    moved = Table(lines("%s = %s", [(f"layers.{i + 1}.downsample.**", f"layers.{i}.downsample.**") for i in (0, 1)] + [
        ("head.fc", "head")] + [(f"{n}.**", f"{n}.**") for n in ("layers.{i}.blocks", "patch_embed", "norm")]))
    original = []
    for name, *rest in moved.renamed(f.get("timm")):
        if name.endswith("attn.logit_scale"):
            original += [[name, *rest], [name.replace("logit_scale", "relative_coords_table"), "f32", [1, 7, 7, 2], ""],
                         [name.replace("logit_scale", "relative_position_index"), "i64", [16, 16], ""]]
        else:
            original.append([name, *rest])
    f.tensors("original", original, "microsoft/Swin-Transformer SwinTransformerV2")
    f.wrapped("original_file", "original", "model.")
    h, t = "swinv2.encoder.layers.{i}.blocks.{j}.", "layers.{i}.blocks.{j}."
    rows = [("layernorm_before", "norm1", "norm1"), ("layernorm_after", "norm2", "norm2"),
            ("attention.self.logit_scale", "attn.logit_scale", "attn.logit_scale"),
            ("attention.output.dense", "attn.proj", "attn.proj"), ("intermediate.dense", "mlp.fc1", "mlp.0"),
            ("output.dense", "mlp.fc2", "mlp.3")] + [
                (f"attention.self.continuous_position_bias_mlp.{k}", f"attn.cpb_mlp.{k}", f"attn.cpb_mlp.{k}")
                for k in (0, 2)]
    ends = [("swinv2.embeddings.patch_embeddings.projection", "patch_embed.proj", "features.0.0"),
            ("swinv2.embeddings.norm", "patch_embed.norm", "features.0.2"), ("swinv2.layernorm", "norm", "norm"),
            ("classifier", "head.fc", "head")]
    ends += [(f"swinv2.encoder.layers.{i}.downsample.{x}", f"layers.{i + 1}.downsample.{x}",
              f"features.{2 * i + 2}.{x}") for i in (0, 1) for x in ("norm", "reduction")]
    query = [h + f"attention.self.{x}" for x in ("query", "key", "value")]
    biases = [(query[0] + ".bias", t + "attn.q_bias"), (query[2] + ".bias", t + "attn.v_bias")]
    hf_timm = Table(lines("%s = %s", [(h + a, t + b) for a, b, _ in rows] + [(a, b) for a, b, _ in ends] + biases + [
        (" + ".join(q + ".weight" for q in query), t + "attn.qkv.weight")]))
    hf_vision = Table(lines("%s = %s", [
        (h.replace("{i}", str(i)) + a, f"features.{2 * i + 1}.{{j}}.{c}") for i in range(3) for a, _, c in rows] + [
            (a, c) for a, _, c in ends] + [
                (" + ".join(q.replace("{i}", str(i)) + w for q in query), f"features.{2 * i + 1}.{{j}}.attn.qkv{w}")
                for i in range(3) for w in (".weight", ".bias")]))
    # From one matrix in Microsoft's files to transformers' classes.
    original_hf = Table(lines("%s = %s", [(t + b, h + a) for a, b, _ in rows] + [(b, a) for a, b, _ in ends[:3]] + [
        ("head", "classifier"), ("layers.{i}.downsample.**", "swinv2.encoder.layers.{i}.downsample.**"),
        (t + "attn.qkv.weight", " + ".join(q + ".weight" for q in query))] + [(b, a) for a, b in biases]))
    buffers = ["relative_(coords_table|position_index)$"]
    f.pair("hf_to_timm", "hf", "timm", hf_timm, kind="fused", sorted_file=False)
    f.pair("timm_to_hf_burn", "timm", "hf", hf_timm, back=True, kind="fused", layout="burn")
    f.pair("original_file_to_hf", "original_file", "hf", original_hf, kind="wrapped", strip=r"^model\.", spare=buffers,
           sorted_file=False)
    f.pair("torchvision_to_hf", "torchvision", "hf", hf_vision, back=True, kind="fused", spare=buffers, gaps=True)
    f.pair("hf_to_deeper_timm", "hf", "timm_deep", hf_timm, kind="depth", unfed=[r"^layers\.2\.blocks\.[23]\."])

    def norms(file, model):
        for module in [*file.modules(), *model.modules()]:
            if isinstance(module, nn.LayerNorm):
                module.eps = 1e-5
    alike(f, "hf_to_timm", with_hf, with_timm(), lambda m: m(image).logits, lambda m: m(image), norms)

    def no_key_bias(file, model):
        norms(file, model)
        fresh = vision()
        for name, buffer in fresh.named_buffers():
            file.get_buffer(name).copy_(buffer)
        for module in file.modules():
            if type(module).__name__ == "ShiftedWindowAttentionV2":
                third = module.qkv.bias.numel() // 3
                module.qkv.bias.data[third:2 * third] = 0
    alike(f, "torchvision_to_hf", vision, with_hf, lambda m: m(image), lambda m: m(image).logits, no_key_bias)
    f.write()


def mobilevit():
    f = Fresh("mobilevit", "timm", "transformers")

    def with_timm(classes=10):
        return lambda: timm.create_model("mobilevit_xxs", num_classes=classes)

    def with_hf(classes=10):
        return lambda: hf.MobileViTForImageClassification(hf.MobileViTConfig(
            hidden_sizes=[64, 80, 96], neck_hidden_sizes=[16, 16, 24, 48, 64, 80, 320], expand_ratio=2.0,
            num_labels=classes))
    f.add(timm=with_timm(), timm_4=with_timm(4), hf=with_hf(), hub=with_hf())
    apple_timm, hf_timm = [], []

    def conv(apple, ours, theirs):
        for a, b, c in ((".block.conv", ".convolution", ".conv"), (".block.norm", ".normalization", ".bn")):
            apple_timm.append((apple + a, theirs + c))
            hf_timm.append((ours + b, theirs + c))

    def both(apple, ours, theirs):
        apple_timm.append((apple, theirs))
        hf_timm.append((ours, theirs))
    conv("conv_1", "mobilevit.conv_stem", "stem")
    conv("conv_1x1_exp", "mobilevit.conv_1x1_exp", "final_conv")
    both("classifier.fc", "classifier", "head.fc")
    e = "mobilevit.encoder.layer."
    for stage, blocks in enumerate((1, 3, 1, 1, 1)):
        for j in range(blocks):
            ours = f"{e}{stage}.layer.{j}" if stage < 2 else f"{e}{stage}.downsampling_layer"
            for a, b, c in (("exp_1x1", "expand_1x1", "conv1_1x1"), ("conv_3x3", "conv_3x3", "conv2_kxk"),
                            ("red_1x1", "reduce_1x1", "conv3_1x1")):
                conv(f"layer_{stage + 1}.{j}.block.{a}", f"{ours}.{b}", f"stages.{stage}.{j}.{c}")
        if stage < 2:
            continue
        a, b, c = f"layer_{stage + 1}.1.", f"{e}{stage}.", f"stages.{stage}.1."
        conv(a + "local_rep.conv_3x3", b + "conv_kxk", c + "conv_kxk")
        both(a + "local_rep.conv_1x1.block.conv", b + "conv_1x1.convolution", c + "conv_1x1")
        conv(a + "conv_proj", b + "conv_projection", c + "conv_proj")
        conv(a + "fusion", b + "fusion", c + "conv_fusion")
        count = (2, 4, 3)[stage - 2]
        both(f"{a}global_rep.{count}", b + "layernorm", c + "norm")
        for k in range(count):
            x, y, z = f"{a}global_rep.{k}.", f"{b}transformer.layer.{k}.", f"{c}transformer.{k}."
            for u, v, w in (("pre_norm_mha.0", "layernorm_before", "norm1"),
                            ("pre_norm_ffn.0", "layernorm_after", "norm2"),
                            ("pre_norm_mha.1.out_proj", "attention.output.dense", "attn.proj"),
                            ("pre_norm_ffn.1", "intermediate.dense", "mlp.fc1"),
                            ("pre_norm_ffn.4", "output.dense", "mlp.fc2")):
                both(x + u, y + v, z + w)
            both(x + "pre_norm_mha.1.qkv_proj", " + ".join(f"{y}attention.attention.{q}" for q in (
                "query", "key", "value")), z + "attn.qkv")
    apple_hf = Table(lines("%s = %s", [(a, b) for (a, _), (b, _) in zip(apple_timm, hf_timm)]))
    apple_timm, hf_timm = (Table(lines("%s = %s", t)) for t in (apple_timm, hf_timm))
    f.renamed("apple", "timm", apple_timm, "apple/ml-cvnets MobileViT", back=True)
    f.wrapped("apple_training", "apple", "model_state_dict.", adam(f, "apple", "optim_state_dict.state."))
    f.pair("apple_to_hf", "apple", "hub", apple_hf, kind="fused", sorted_file=False)
    f.pair("apple_to_timm", "apple", "timm", apple_timm, kind="numbered")
    f.pair("hub_to_timm", "hub", "timm", hf_timm, kind="fused")
    f.pair("timm_to_hub_burn", "timm", "hub", hf_timm, back=True, kind="fused", layout="burn", sorted_file=False)
    f.pair("apple_training_to_4_classes", "apple_training", "timm_4", apple_timm, kind="head",
           strip=r"^model_state_dict\.", unfed=[r"^head\.fc"], spare=["^optim", "classifier"], sorted_file=False)

    def norms(file, model):
        for module in [*file.modules(), *model.modules()]:
            if isinstance(module, (nn.LayerNorm, nn.BatchNorm2d)):
                module.eps = 1e-5
    alike(f, "hub_to_timm", with_hf(), with_timm(), lambda m: m(image).logits, lambda m: m(image), norms)
    f.write()


if __name__ == "__main__":
    for make in (swin, swinv2, mobilevit):
        make()
