# SPDX-License-Identifier: MIT OR Apache-2.0
"""Models that users write after published ones, with words of their own: a file for each, and the way back.

The rules are what was renamed, so every tensor has its counterpart under the same index.
"""
import re

import timm
import torch
import torchvision
import transformers as hf
from torch import nn

from corpus import Family


def structs(name, make, *ports):
    """ports: (name, rules, direction, sorted file), where the direction is "to" the struct or "from" it."""
    family = Family(name, "ports", packages=["torchvision", "timm", "transformers"])
    family.listing("published", make)
    tensors = family.data["listings"]["published"]["tensors"]
    for port, rules, direction, is_sorted in ports:
        renamed = []
        for tensor, *rest in tensors:
            for pattern, replacement in rules:
                tensor = re.sub(pattern, replacement, tensor)
            renamed.append([tensor] + rest)
        family.tensors(port, renamed, "own." + port)
        file, model = ("published", port) if direction == "to" else (port, "published")
        family.data["cases"].append({"name": f"{file}_to_{model}", "file": file, "model": model, "kind": "renamed",
                                     "sorted": is_sorted, "truth": list(range(len(tensors)))})
    family.write()


structs("inception_v3", lambda: torchvision.models.inception_v3(init_weights=False, num_classes=10),
        ("short", [(r"Conv2d_(\d)([ab])_(\d)x\d", r"stem\1\2"), (r"branch7x7dbl_(\d)", r"b7d.\1"),
                   (r"branch3x3dbl_(\d)([ab]?)", r"b3d.\1\2"), (r"branch7x7x3_(\d)", r"b73.\1"),
                   (r"branch7x7_(\d)", r"b7.\1"), (r"branch5x5_(\d)", r"b5.\1"), (r"branch3x3_(\d)([ab]?)", r"b3.\1\2"),
                   (r"branch3x3\.", "b3."), (r"branch1x1", "b1"), (r"branch_pool", "bp"), (r"Mixed_(\d)([a-e])", r"mix\1\2"),
                   (r"AuxLogits", "aux"), (r"^fc", "head")], "to", True),
        ("listed", [(r"branch7x7dbl_(\d)", r"double7.\1"), (r"branch3x3dbl_(\d)([ab]?)", r"double3.\1\2"),
                    (r"branch_pool", "pool"), (r"\.bn\.", ".norm.")], "from", True))
structs("mobilebert", lambda: hf.MobileBertForMaskedLM(hf.MobileBertConfig(vocab_size=300, num_hidden_layers=3)),
        ("struct", [(r"^mobilebert\.", ""), (r"encoder\.layer\.", "blocks."), (r"attention\.self", "attn"),
                    (r"attention\.output\.dense", "attn.out"), (r"attention\.output\.LayerNorm", "attn.norm"),
                    (r"bottleneck\.input", "squeeze.values"), (r"bottleneck\.attention", "squeeze.keys"),
                    (r"output\.bottleneck", "widen"), (r"intermediate\.dense", "up"), (r"(\d)\.output\.dense", r"\1.down"),
                    (r"LayerNorm", "norm")], "to", True))
structs("timesformer", lambda: hf.TimesformerForVideoClassification(hf.TimesformerConfig(num_hidden_layers=2, hidden_size=96,
                                                                          num_attention_heads=3,
                                                                          intermediate_size=384)),
        ("struct", [(r"^timesformer\.", ""), (r"encoder\.layer\.", "blocks."), (r"temporal_attention\.attention", "time_attn"),
                    (r"temporal_attention\.output\.dense", "time_attn.proj"), (r"attention\.attention", "attn"),
                    (r"attention\.output\.dense", "attn.proj"), (r"temporal_dense", "time_fc"),
                    (r"temporal_layernorm", "time_norm"), (r"layernorm_before", "norm1"), (r"layernorm_after", "norm2"),
                    (r"intermediate\.dense", "mlp.fc1"), (r"output\.dense", "mlp.fc2")], "to", True),
        ("original", [(r"^timesformer\.", "model."), (r"encoder\.layer\.", "blocks."),
                      (r"temporal_attention\.attention", "temporal_attn"),
                      (r"temporal_attention\.output\.dense", "temporal_attn.proj"), (r"attention\.attention", "attn"),
                      (r"attention\.output\.dense", "attn.proj"), (r"temporal_dense", "temporal_fc"),
                      (r"temporal_layernorm", "temporal_norm1"), (r"layernorm_before", "norm1"),
                      (r"layernorm_after", "norm2"), (r"intermediate\.dense", "mlp.fc1"), (r"output\.dense", "mlp.fc2"),
                      (r"embeddings\.position_embeddings", "pos_embed"), (r"embeddings\.time_embeddings", "time_embed"),
                      (r"embeddings\.cls_token", "cls_token"), (r"embeddings\.patch_embeddings\.projection", "patch_embed.proj"),
                      (r"layernorm\.", "norm."), (r"classifier", "model.head")], "from", True))
structs("xcit", lambda: timm.create_model("xcit_nano_12_p16_224", num_classes=10, depth=3),
        ("struct", [(r"gamma1", "scale_a"), (r"gamma2", "scale_b"), (r"norm1", "norm_a"), (r"norm2", "norm_b"),
                    (r"\.attn\.", ".xca."), (r"local_mp", "lpi")], "to", False),
        ("sorted", [(r"gamma(\d)", r"layer_scale_\1"), (r"norm(\d)", r"ln_\1"), (r"cls_attn_blocks", "class_layers")],
         "to", True))

small=dict(hidden_size=64,num_hidden_layers=2,num_attention_heads=4,intermediate_size=128,vocab_size=200)
structs("mpnet",lambda: hf.MPNetForMaskedLM(hf.MPNetConfig(**small)),
 ("struct",[(r"^mpnet\.",""),(r"encoder\.layer\.","blocks."),(r"attention\.attn\.","attn."),(r"attention\.LayerNorm","norm1"),(r"intermediate\.dense","fc1"),(r"(\d)\.output\.dense",r"\1.fc2"),(r"(\d)\.output\.LayerNorm",r"\1.norm2"),(r"lm_head\.layer_norm","head.norm"),(r"lm_head\.","head.")],"to",True),
 ("letters",[(r"^mpnet\.",""),(r"encoder\.layer\.","layers."),(r"attention\.attn\.","mha.w"),(r"attention\.LayerNorm","norm_a"),(r"intermediate\.dense","ff.inner"),(r"(\d)\.output\.dense",r"\1.ff.outer"),(r"(\d)\.output\.LayerNorm",r"\1.norm_b")],"from",True))
structs("nystromformer",lambda: hf.NystromformerModel(hf.NystromformerConfig(**small)),
 ("struct",[(r"encoder\.layer\.","layers."),(r"attention\.self\.",""),(r"attention\.output\.dense","out"),(r"attention\.output\.LayerNorm","ln1"),(r"intermediate\.dense","ff1"),(r"(\d)\.output\.dense",r"\1.ff2"),(r"(\d)\.output\.LayerNorm",r"\1.ln2"),(r"embeddings\.word_embeddings","tok"),(r"embeddings\.position_embeddings","pos"),(r"embeddings\.token_type_embeddings","seg"),(r"embeddings\.LayerNorm","ln")],"to",True))
structs("funnel",lambda: hf.FunnelModel(hf.FunnelConfig(vocab_size=200,d_model=64,n_head=4,d_head=16,d_inner=128,block_sizes=[2,2])),
 ("struct",[(r"attention\.q_head","attn.q"),(r"attention\.k_head","attn.k"),(r"attention\.v_head","attn.v"),(r"attention\.post_proj","attn.o"),(r"attention\.layer_norm","norm1"),(r"ffn\.linear_1","up"),(r"ffn\.linear_2","down"),(r"ffn\.layer_norm","norm2"),(r"encoder\.blocks","stages")],"to",True))
structs("xlnet",lambda: hf.XLNetModel(hf.XLNetConfig(vocab_size=200,d_model=64,n_layer=2,n_head=4,d_inner=128)),
 ("struct",[(r"^layer\.","blocks."),(r"rel_attn\.layer_norm","attn_norm"),(r"rel_attn\.","attn."),(r"ff\.layer_1","ff.up"),(r"ff\.layer_2","ff.down"),(r"ff\.layer_norm","ff_norm"),(r"word_embedding","tokens")],"to",False))
structs("reformer",lambda: hf.ReformerModel(hf.ReformerConfig(vocab_size=200,attn_layers=["local","local"],axial_pos_embds_dim=[32,224],num_hidden_layers=2,is_decoder=True)),
 ("struct",[(r"attention\.self_attention\.","attn."),(r"attention\.output\.dense","attn.out"),(r"attention\.layer_norm","norm1"),(r"feed_forward\.dense\.dense","up"),(r"feed_forward\.output\.dense","down"),(r"feed_forward\.layer_norm","norm2"),(r"encoder\.layers","blocks")],"to",True))
structs("prophetnet",lambda: hf.ProphetNetModel(hf.ProphetNetConfig(vocab_size=200,hidden_size=64,num_encoder_layers=2,num_decoder_layers=2,num_encoder_attention_heads=4,num_decoder_attention_heads=4,encoder_ffn_dim=128,decoder_ffn_dim=128)),
 ("struct",[(r"_layer_norm","_ln"),(r"feed_forward\.intermediate","ffn.fc1"),(r"feed_forward\.output","ffn.fc2"),(r"(query|key|value|out)_proj",r"\1"),(r"word_embeddings","embed"),(r"^encoder\.layers","enc"),(r"^decoder\.layers","dec")],"to",True))
structs("blenderbot",lambda: hf.BlenderbotForConditionalGeneration(hf.BlenderbotConfig(vocab_size=200,d_model=64,encoder_layers=2,decoder_layers=2,encoder_attention_heads=4,decoder_attention_heads=4,encoder_ffn_dim=128,decoder_ffn_dim=128,max_position_embeddings=64)),
 ("parlai",[(r"^model\.",""),(r"self_attn\.","attention."),(r"encoder_attn_layer_norm","norm2"),(r"encoder_attn\.","encoder_attention."),(r"(q|k|v)_proj",r"\1_lin"),(r"out_proj","out_lin"),(r"(encoder\.layers\.\d+\.)self_attn_layer_norm",r"\1norm1"),(r"(encoder\.layers\.\d+\.)final_layer_norm",r"\1norm2"),(r"(decoder\.layers\.\d+\.)self_attn_layer_norm",r"\1norm1"),(r"(decoder\.layers\.\d+\.)final_layer_norm",r"\1norm3"),(r"\.fc(\d)",r".ffn.lin\1"),(r"embed_positions","position_embeddings"),(r"embed_tokens","embeddings"),(r"shared","embeddings")],"from",False))
structs("sew",lambda: hf.SEWModel(hf.SEWConfig(hidden_size=64,num_hidden_layers=2,num_attention_heads=4,intermediate_size=128,conv_dim=[16,32,32],conv_stride=[5,2,1],conv_kernel=[10,3,1],num_conv_pos_embeddings=16,num_conv_pos_embedding_groups=4)),
 ("struct",[(r"feature_extractor\.conv_layers","convs"),(r"encoder\.layers","blocks"),(r"attention\.","attn."),(r"feed_forward\.intermediate_dense","ff.0"),(r"feed_forward\.output_dense","ff.1"),(r"final_layer_norm","norm2"),(r"(blocks\.\d+\.)layer_norm",r"\1norm1")],"to",True))
structs("decision_transformer",lambda: hf.DecisionTransformerModel(hf.DecisionTransformerConfig(hidden_size=64,n_layer=2,n_head=4,state_dim=7,act_dim=3)),
 ("struct",[(r"encoder\.h\.","blocks."),(r"ln_1","norm1"),(r"ln_2","norm2"),(r"encoder\.ln_f","norm"),(r"c_attn","qkv"),(r"attn\.c_proj","attn.out"),(r"c_fc","up"),(r"mlp\.c_proj","mlp.down"),(r"embed_timestep","time"),(r"embed_return","returns"),(r"embed_state","state"),(r"embed_action","action"),(r"embed_ln","norm_in"),(r"predict_","to_")],"to",True))
structs("time_series",lambda: hf.TimeSeriesTransformerModel(hf.TimeSeriesTransformerConfig(prediction_length=8,context_length=16,d_model=32,encoder_layers=2,decoder_layers=2,encoder_ffn_dim=48,decoder_ffn_dim=48,lags_sequence=[1,2])),
 ("struct",[(r"self_attn_layer_norm","norm_1"),(r"encoder_attn_layer_norm","norm_2"),(r"(encoder\.layers\.\d+\.)final_layer_norm",r"\1norm_2"),(r"(decoder\.layers\.\d+\.)final_layer_norm",r"\1norm_3"),(r"encoder_attn","cross"),(r"self_attn","attn"),(r"fc1","lin_in"),(r"fc2","lin_out")],"to",True))
structs("owlvit",lambda: hf.OwlViTModel(hf.OwlViTConfig(text_config=dict(hidden_size=64,num_hidden_layers=2,num_attention_heads=4,intermediate_size=128,vocab_size=200),vision_config=dict(hidden_size=96,num_hidden_layers=2,num_attention_heads=4,intermediate_size=192,image_size=64,patch_size=16),projection_dim=64)),
 ("struct",[(r"text_model\.encoder\.layers","text"),(r"vision_model\.encoder\.layers","image"),(r"text_model\.","text_"),(r"vision_model\.","image_"),(r"self_attn","attn"),(r"layer_norm(\d)",r"ln\1"),(r"mlp\.fc1","up"),(r"mlp\.fc2","down")],"to",True))
structs("git",lambda: hf.GitModel(hf.GitConfig(vision_config=dict(hidden_size=48,num_hidden_layers=2,num_attention_heads=4,intermediate_size=96,image_size=32,patch_size=8),**small)),
 ("struct",[(r"image_encoder\.vision_model\.","vision."),(r"encoder\.layers\.","layers."),(r"encoder\.layer\.","blocks."),(r"attention\.self","attn"),(r"attention\.output\.dense","attn.proj"),(r"attention\.output\.LayerNorm","attn_norm"),(r"intermediate\.dense","fc1"),(r"(blocks\.\d+)\.output\.dense",r"\1.fc2"),(r"(blocks\.\d+)\.output\.LayerNorm",r"\1.fc_norm")],"to",True))
structs("van",lambda: hf.VanForImageClassification(hf.VanConfig(hidden_sizes=[16,32,48,64],depths=[2,1,2,1],num_labels=5)),
 ("original",[(r"^van\.encoder\.stages\.(\d)\.patch_embeddings\.convolution",lambda m:f"patch_embed{int(m[1])+1}.proj"),(r"^van\.encoder\.stages\.(\d)\.patch_embeddings\.normalization",lambda m:f"patch_embed{int(m[1])+1}.norm"),(r"^van\.encoder\.stages\.(\d)\.layers\.",lambda m:f"block{int(m[1])+1}."),(r"^van\.encoder\.stages\.(\d)\.normalization",lambda m:f"norm{int(m[1])+1}"),(r"pre_normomalization","norm1"),(r"post_normalization","norm2"),(r"pre_normalization","norm1"),(r"attention\.pre_projection","attn.proj_1"),(r"attention\.post_projection","attn.proj_2"),(r"attention\.attention_layer\.depth_wise\b","attn.spatial_gating_unit.conv0"),(r"attention\.attention_layer\.depth_wise_dilated","attn.spatial_gating_unit.conv_spatial"),(r"attention\.attention_layer\.point_wise","attn.spatial_gating_unit.conv1"),(r"mlp\.in_dense","mlp.fc1"),(r"mlp\.depth_wise","mlp.dwconv.dwconv"),(r"mlp\.out_dense","mlp.fc2"),(r"attention_scaling\.weight","layer_scale_1"),(r"mlp_scaling\.weight","layer_scale_2"),(r"classifier","head")],"from",True))
structs("levit",lambda: hf.LevitForImageClassification(hf.LevitConfig(num_labels=5,hidden_sizes=[32,48,64],num_attention_heads=[2,3,4],depths=[1,1,1])),
 ("struct",[(r"^levit\.",""),(r"encoder\.stages\.(\d)\.layers\.",r"stage\1."),(r"queries_keys_values","qkv"),(r"batch_norm","bn"),(r"\.linear\.",".lin."),(r"patch_embeddings\.embedding_layer_","stem.")],"to",True))
structs("glpn",lambda: hf.GLPNForDepthEstimation(hf.GLPNConfig(hidden_sizes=[16,32,48,64],decoder_hidden_size=16,depths=[1,1,1,1],num_attention_heads=[1,2,3,4])),
 ("struct",[(r"^glpn\.encoder\.",""),(r"patch_embeddings","embed"),(r"block\.","blocks."),(r"attention\.self\.","attn."),(r"attention\.output\.dense","attn.out"),(r"dense1","fc1"),(r"dense2","fc2"),(r"layer_norm_1","norm1"),(r"layer_norm_2","norm2")],"to",True))
structs("mobilevitv2",lambda: hf.MobileViTV2ForImageClassification(hf.MobileViTV2Config(num_labels=5,width_multiplier=0.5)),
 ("struct",[(r"^mobilevitv2\.",""),(r"encoder\.layer\.","stages."),(r"expand_1x1","expand"),(r"conv_3x3","dw"),(r"reduce_1x1","reduce"),(r"convolution","conv"),(r"normalization","bn"),(r"layernorm_before","ln1"),(r"layernorm_after","ln2"),(r"transformer\.layer","blocks")],"to",True))
structs("efficientformer",lambda: hf.EfficientFormerForImageClassification(hf.EfficientFormerConfig(num_labels=5,depths=[1,1,1,2],hidden_sizes=[16,32,48,64],num_meta3d_blocks=1,dim=64,key_dim=8,num_attention_heads=4)),
 ("struct",[(r"^efficientformer\.",""),(r"patch_embed\.convolution(\d)",r"stem.conv\1"),(r"patch_embed\.batchnorm_before","stem.bn1"),(r"patch_embed\.batchnorm_after","stem.bn2"),(r"encoder\.intermediate_stages","stages"),(r"layer_scale_1","ls1"),(r"layer_scale_2","ls2"),(r"batchnorm_before","bn1"),(r"batchnorm_after","bn2"),(r"convolution(\d)",r"conv\1"),(r"layernorm(\d)",r"norm\1"),(r"linear_in","fc1"),(r"linear_out","fc2")],"to",True))
structs("swin2sr",lambda: hf.Swin2SRForImageSuperResolution(hf.Swin2SRConfig(embed_dim=24,depths=[2,2],num_heads=[3,3],window_size=4,image_size=16)),
 ("struct",[(r"^swin2sr\.",""),(r"encoder\.stages","groups"),(r"layers\.","blocks."),(r"attention\.self\.","attn."),(r"attention\.output\.dense","attn.proj"),(r"layernorm_before","norm1"),(r"layernorm_after","norm2"),(r"intermediate\.dense","fc1"),(r"(\d)\.output\.dense",r"\1.fc2")],"to",True))
structs("dla",lambda: timm.create_model("dla34",num_classes=5),
 ("struct",[(r"base_layer","stem"),(r"level(\d)",r"stage\1"),(r"tree(\d)",r"branch\1"),(r"project","proj"),(r"root","merge")],"to",True),
 ("letters",[(r"tree1","left"),(r"tree2","right"),(r"root","join"),(r"bn(\d)",r"norm\1")],"to",False))
structs("res2net",lambda: timm.create_model("res2net50_26w_4s",num_classes=5),
 ("struct",[(r"layer(\d)",r"stages.\1"),(r"\.convs\.",".split_convs."),(r"\.bns\.",".split_norms."),(r"bn(\d)",r"norm\1"),(r"downsample","shortcut")],"to",True))
structs("hardcorenas",lambda: timm.create_model("hardcorenas_a",num_classes=5),
 ("struct",[(r"conv_stem","stem.conv"),(r"^bn1","stem.bn"),(r"conv_pwl","project"),(r"conv_pw","expand"),(r"conv_dw","depthwise"),(r"(blocks\..*)\.bn1",r"\1.expand_bn"),(r"(blocks\..*)\.bn2",r"\1.depthwise_bn"),(r"(blocks\..*)\.bn3",r"\1.project_bn"),(r"se\.conv_reduce","se.fc1"),(r"se\.conv_expand","se.fc2")],"to",True))
structs("sknet",lambda: timm.create_model("skresnet18",num_classes=5),
 ("struct",[(r"layer(\d)\.(\d)",lambda m:f"stage{int(m[1])-1}.block{m[2]}"),(r"conv1\.paths","sk.paths"),(r"conv1\.attn","sk.attn"),(r"downsample\.0","skip.conv"),(r"downsample\.1","skip.bn")],"to",True))
structs("tnt",lambda: timm.create_model("tnt_s_patch16_224",num_classes=5,depth=2),
 ("struct",[(r"norm_in","inner_norm1"),(r"attn_in","inner_attn"),(r"norm_mlp_in","inner_norm2"),(r"mlp_in","inner_mlp"),(r"norm_out","norm1"),(r"attn_out","attn"),(r"norm_mlp","norm2"),(r"norm1_proj","join_norm")],"to",True))
structs("crossvit",lambda: timm.create_model("crossvit_9_240",num_classes=5),
 ("struct",[(r"blocks\.(\d)\.blocks\.(\d)\.",r"layers.\1.self.\2."),(r"blocks\.(\d)\.projs",r"layers.\1.enter"),(r"blocks\.(\d)\.revert_projs",r"layers.\1.leave"),(r"blocks\.(\d)\.fusion",r"layers.\1.cross"),(r"\.norm1",".ln_1"),(r"\.norm2",".ln_2"),(r"\.wq",".q"),(r"\.wk",".k"),(r"\.wv",".v")],"to",True))
structs("r2plus1d",lambda: torchvision.models.video.r2plus1d_18(num_classes=5),
 ("struct",[(r"layer(\d)",r"stages.\1"),(r"conv1\.0\.0","a.spatial"),(r"conv1\.0\.1","a.mid_norm"),(r"conv1\.0\.3","a.temporal"),(r"conv1\.1","a.norm"),(r"conv2\.0\.0","b.spatial"),(r"conv2\.0\.1","b.mid_norm"),(r"conv2\.0\.3","b.temporal"),(r"conv2\.1","b.norm")],"to",True))
structs("keypoint",lambda: torchvision.models.detection.keypointrcnn_resnet50_fpn(weights=None,weights_backbone=None),
 ("struct",[(r"roi_heads\.keypoint_head\.(\d)",r"keypoint.conv\1"),(r"roi_heads\.keypoint_predictor\.kps_score_lowres","keypoint.out"),(r"roi_heads\.box_head","box"),(r"roi_heads\.box_predictor","box_out"),(r"backbone\.body\.","resnet."),(r"backbone\.fpn\.","fpn.")],"to",True))
structs("wavernn",lambda: nn.ModuleDict({"I":nn.Linear(112,64),"rnn1":nn.GRU(64,64),"rnn2":nn.GRU(96,64),"fc1":nn.Linear(96,64),"fc2":nn.Linear(96,64),"fc3":nn.Linear(64,30),"upsample":nn.Conv1d(80,128,5)}),
 ("struct",[(r"^I\.","enter."),(r"rnn1","gru_a"),(r"rnn2","gru_b"),(r"fc(\d)",r"dense.\1")],"to",True))
class Seq(nn.Module):
    def __init__(s):
        super().__init__(); s.emb=nn.Embedding(100,32); s.enc=nn.LSTM(32,32,2,bidirectional=True); s.dec=nn.LSTM(64,32); s.attn_q=nn.Linear(32,32); s.attn_k=nn.Linear(64,32); s.attn_v=nn.Linear(32,1); s.out=nn.Linear(96,100)
structs("seq2seq_attention",Seq,("struct",[(r"^emb","embedding"),(r"^enc","encoder"),(r"^dec","decoder"),(r"attn_q","W"),(r"attn_k","U"),(r"attn_v","v"),(r"^out","generator")],"to",True))
class Cells(nn.Module):
    def __init__(s):
        super().__init__(); s.cell=nn.Module(); s.cell.w_x=nn.Parameter(torch.zeros(128,32)); s.cell.w_h=nn.Parameter(torch.zeros(128,32)); s.cell.b_x=nn.Parameter(torch.zeros(128)); s.cell.b_h=nn.Parameter(torch.zeros(128)); s.out=nn.Linear(32,10); s.emb=nn.Embedding(50,32)
for k,(a,b) in enumerate([("weight_ih","weight_hh"),("kernel","recurrent_kernel"),("W","U"),("i2h","h2h"),("wi","wh"),("input_weight","hidden_weight"),("weight_1","weight_2"),("w_input","w_recurrent")]):
    bias={"weight_ih":("bias_ih","bias_hh"),"i2h":("i2h_bias","h2h_bias"),"W":("b_W","b_U"),"weight_1":("bias_1","bias_2")}.get(a,("b_x","b_h"))
    structs(f"recurrent_cell_{k}",Cells,("struct",[(r"w_x",a),(r"w_h",b),(r"b_x",bias[0]),(r"b_h",bias[1])],"to" if k%2 else "from",k%3>0))
