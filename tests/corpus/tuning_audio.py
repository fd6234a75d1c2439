# SPDX-License-Identifier: MIT OR Apache-2.0
"""Audio models of the tuning corpus."""
import torch
import transformers
from torch import nn

from tuning_common import Names, Table, linear, part

norm = nn.LayerNorm


def hf_whisper(encoder=2, decoder=2, d=48, heads=4, vocab=300, mels=80, model="WhisperForConditionalGeneration",
               **more):
    return getattr(transformers, model)(transformers.WhisperConfig(
        vocab_size=vocab, num_mel_bins=mels, encoder_layers=encoder, decoder_layers=decoder,
        encoder_attention_heads=heads, decoder_attention_heads=heads, d_model=d, encoder_ffn_dim=4 * d,
        decoder_ffn_dim=4 * d, max_source_positions=100, max_target_positions=64, pad_token_id=0, bos_token_id=1,
        eos_token_id=2, decoder_start_token_id=3, **more))


def openai_whisper(encoder=2, decoder=2, d=48, heads=4, vocab=300, mels=80):
    from whisper.model import ModelDimensions, Whisper
    with torch.device("cpu"):  # it makes a sparse tensor
        return Whisper(ModelDimensions(mels, 100, d, heads, encoder, vocab, 64, d, heads, decoder))


def whisper_table(hf):
    lines = []
    for side in ("encoder", "decoder"):
        lines.append(f"{hf}{side}.layers.{{i}}.fc1 = {side}.blocks.{{i}}.mlp.0")
        lines.append(f"{hf}{side}.layers.{{i}}.fc2 = {side}.blocks.{{i}}.mlp.2")
        lines.append(f"{hf}{side}.layers.{{i}}.final_layer_norm = {side}.blocks.{{i}}.mlp_ln")
        for a, b in (("self_attn", "attn"), ("encoder_attn", "cross_attn"))[:1 + (side == "decoder")]:
            for x, y in (("q_proj", "query"), ("k_proj", "key"), ("v_proj", "value"), ("out_proj", "out")):
                lines.append(f"{hf}{side}.layers.{{i}}.{a}.{x} = {side}.blocks.{{i}}.{b}.{y}")
            lines.append(f"{hf}{side}.layers.{{i}}.{a}_layer_norm = {side}.blocks.{{i}}.{b}_ln")
    return Table("\n".join(lines) + f"""
        {hf}encoder.conv{{i}} = encoder.conv{{i}}
        {hf}encoder.embed_positions.weight = encoder.positional_embedding
        {hf}encoder.layer_norm = encoder.ln_post
        {hf}decoder.embed_positions.weight = decoder.positional_embedding
        {hf}decoder.embed_tokens = decoder.token_embedding
        {hf}decoder.layer_norm = decoder.ln""")


def whisper():
    f = Names("whisper", "transformers", "openai-whisper")
    hf_openai = whisper_table("model.")
    f.listing("hf_lm", hf_whisper)
    f.without("hf", "hf_lm", "^proj_out")
    f.listing("hf_base", lambda: hf_whisper(model="WhisperModel"))
    f.listing("hf_audio", lambda: hf_whisper(model="WhisperForAudioClassification", num_labels=6))
    f.listing("openai", openai_whisper)
    f.listing("openai_deeper", lambda: openai_whisper(encoder=3, decoder=3))
    f.listing("hf_turbo_lm", lambda: hf_whisper(32, 4, 32, 4, 310, 128))
    f.without("hf_turbo", "hf_turbo_lm", "^proj_out")
    del f.data["listings"]["hf_turbo_lm"]
    f.listing("openai_turbo", lambda: openai_whisper(32, 4, 32, 4, 310, 128))
    f.pair("hf_to_openai", "hf", "openai", hf_openai)
    f.pair("openai_to_hf", "openai", "hf", hf_openai, back=True)
    f.pair("openai_to_hf_unsorted", "openai", "hf", hf_openai, back=True, sorted_file=False)
    f.pair("hf_to_openai_turbo", "hf_turbo", "openai_turbo", hf_openai)
    f.pair("openai_to_hf_turbo", "openai_turbo", "hf_turbo", hf_openai, back=True, sorted_file=False)
    f.pair("base_to_openai", "hf_base", "openai", whisper_table(""), sorted_file=False)
    f.pair("openai_to_base", "openai", "hf_base", whisper_table(""), back=True)
    f.pair("openai_to_hf_burn_layout", "openai", "hf", hf_openai, back=True, layout="burn")
    f.pair("hf_to_openai_burn_layout", "hf", "openai", hf_openai, layout="burn")
    f.wrapped("openai_file", "openai", "model_state_dict.")
    f.case("release", "openai_file", "openai", "wrapped", [(r"^model_state_dict\.", "")])
    f.pair("release_to_hf", "openai_file", "hf", hf_openai, back=True, kind="wrapped", strip=r"^model_state_dict\.")
    f.case("base_from_lm", "hf_lm", "hf_base", "head", [(r"^model\.", "")])
    f.case("audio_labels_from_lm", "hf_lm", "hf_audio", "head", [(r"^model\.", "")],
           unfed=[r"^(projector|classifier)\."])
    f.case("deeper", "openai", "openai_deeper", "depth", unfed=[r"blocks\.2\."])
    f.listing("vgg", lambda: __import__("torchvision").models.vgg.make_layers([8, "M", 16, 16], True))
    f.unrelated("from_vgg", "vgg", "openai")
    f.write()


# ---------------------------------------------------------------- wav2vec 2.0


def hf_wav2vec2(layers=2, d=48, model="Wav2Vec2ForCTC", words=30):
    return getattr(transformers, model)(transformers.Wav2Vec2Config(
        vocab_size=words, hidden_size=d, num_hidden_layers=layers, num_attention_heads=4, intermediate_size=4 * d,
        conv_dim=[32] * 7, num_labels=words, classifier_proj_size=24))


def conv_layers(layer):
    sizes = [(1, 10)] + [(32, 3)] * 4 + [(32, 2)] * 2
    return [layer(nn.Conv1d(before, 32, size, bias=False), nn.GroupNorm(32, 32) if n == 0 else None)
            for n, (before, size) in enumerate(sizes)]


def positions(d):
    conv = nn.Conv1d(d, d, 128, groups=16)
    return nn.utils.weight_norm(conv, dim=2)


def fairseq_wav2vec2(layers=2, d=48, words=30):
    """Wav2VecCtc of fairseq, around a Wav2Vec2Model."""
    def block():
        return part("TransformerSentenceEncoderLayer",
                    self_attn=part("MultiheadAttention", k_proj=linear(d, d), v_proj=linear(d, d), q_proj=linear(d, d),
                                   out_proj=linear(d, d)),
                    self_attn_layer_norm=norm(d), fc1=linear(d, 4 * d), fc2=linear(4 * d, d), final_layer_norm=norm(d))
    model = part("Wav2Vec2Model", mask_emb=torch.empty(d),
                 feature_extractor=part("ConvFeatureExtractionModel", conv_layers=conv_layers(
                     lambda conv, one: nn.Sequential(conv, nn.Dropout(), *([one] if one else []), nn.GELU()))),
                 post_extract_proj=linear(32, d),
                 encoder=part("TransformerEncoder", pos_conv=nn.Sequential(positions(d), nn.GELU()),
                              layers=[block() for _ in range(layers)], layer_norm=norm(d)),
                 layer_norm=norm(32))
    return part("Wav2VecCtc", w2v_encoder=part("Wav2VecEncoder", w2v_model=model, proj=linear(d, words)))


def torchaudio_wav2vec2(layers=2, d=48, words=30):
    """torchaudio.models.Wav2Vec2Model."""
    def block():
        return part("EncoderLayer",
                    attention=part("SelfAttention", k_proj=linear(d, d), v_proj=linear(d, d), q_proj=linear(d, d),
                                   out_proj=linear(d, d)),
                    layer_norm=norm(d),
                    feed_forward=part("FeedForward", intermediate_dense=linear(d, 4 * d),
                                      output_dense=linear(4 * d, d)),
                    final_layer_norm=norm(d))
    return part("Wav2Vec2Model",
                feature_extractor=part("FeatureExtractor", conv_layers=conv_layers(
                    lambda conv, one: part("ConvLayerBlock", **({"layer_norm": one} if one else {}), conv=conv))),
                encoder=part("Encoder",
                             feature_projection=part("FeatureProjection", layer_norm=norm(32),
                                                     projection=linear(32, d)),
                             transformer=part("Transformer",
                                              pos_conv_embed=part("ConvolutionalPositionalEmbedding",
                                                                  conv=positions(d)),
                                              layer_norm=norm(d), layers=[block() for _ in range(layers)])),
                aux=linear(d, words))


def hf_fairseq(own="w2v_encoder.w2v_model."):
    return Table(f"""
    wav2vec2.masked_spec_embed = {own}mask_emb
    wav2vec2.feature_extractor.conv_layers.{{i}}.conv = {own}feature_extractor.conv_layers.{{i}}.0
    wav2vec2.feature_extractor.conv_layers.{{i}}.layer_norm = {own}feature_extractor.conv_layers.{{i}}.2
    wav2vec2.feature_projection.layer_norm = {own}layer_norm
    wav2vec2.feature_projection.projection = {own}post_extract_proj
    wav2vec2.encoder.pos_conv_embed.conv.bias = {own}encoder.pos_conv.0.bias
    wav2vec2.encoder.pos_conv_embed.conv.parametrizations.weight.original0 = {own}encoder.pos_conv.0.weight_g
    wav2vec2.encoder.pos_conv_embed.conv.parametrizations.weight.original1 = {own}encoder.pos_conv.0.weight_v
    wav2vec2.encoder.layer_norm = {own}encoder.layer_norm
    wav2vec2.encoder.layers.{{i}}.attention.q_proj = {own}encoder.layers.{{i}}.self_attn.q_proj
    wav2vec2.encoder.layers.{{i}}.attention.k_proj = {own}encoder.layers.{{i}}.self_attn.k_proj
    wav2vec2.encoder.layers.{{i}}.attention.v_proj = {own}encoder.layers.{{i}}.self_attn.v_proj
    wav2vec2.encoder.layers.{{i}}.attention.out_proj = {own}encoder.layers.{{i}}.self_attn.out_proj
    wav2vec2.encoder.layers.{{i}}.layer_norm = {own}encoder.layers.{{i}}.self_attn_layer_norm
    wav2vec2.encoder.layers.{{i}}.feed_forward.intermediate_dense = {own}encoder.layers.{{i}}.fc1
    wav2vec2.encoder.layers.{{i}}.feed_forward.output_dense = {own}encoder.layers.{{i}}.fc2
    wav2vec2.encoder.layers.{{i}}.final_layer_norm = {own}encoder.layers.{{i}}.final_layer_norm
    lm_head = w2v_encoder.proj""")


# The Hub's files have the names of torch's first weight_norm.
hub_hf = Table("""
    wav2vec2.encoder.pos_conv_embed.conv.weight_g = \
wav2vec2.encoder.pos_conv_embed.conv.parametrizations.weight.original0
    wav2vec2.encoder.pos_conv_embed.conv.weight_v = \
wav2vec2.encoder.pos_conv_embed.conv.parametrizations.weight.original1
    wav2vec2.** = wav2vec2.**
    lm_head = lm_head""")
hub_torchaudio = Table("""
    wav2vec2.feature_extractor.** = feature_extractor.**
    wav2vec2.feature_projection.** = encoder.feature_projection.**
    wav2vec2.encoder.** = encoder.transformer.**
    lm_head = aux""")


def wav2vec2():
    f = Names("wav2vec2", "transformers")
    f.listing("hf", hf_wav2vec2)
    f.listing("hf_base", lambda: hf_wav2vec2(model="Wav2Vec2Model"))
    f.listing("hf_labels", lambda: hf_wav2vec2(model="Wav2Vec2ForSequenceClassification", words=5))
    f.listing("fairseq", fairseq_wav2vec2, "fairseq.models.wav2vec.Wav2VecCtc")
    f.listing("torchaudio", torchaudio_wav2vec2, "torchaudio.models.Wav2Vec2Model")
    f.renamed("hub", "hf", hub_hf, "transformers.Wav2Vec2ForCTC (4)", back=True)
    f.pair("fairseq_to_hf", "fairseq", "hf", hf_fairseq(), back=True)
    f.pair("hf_to_fairseq", "hf", "fairseq", hf_fairseq(), sorted_file=False)
    f.pair("hub_to_hf", "hub", "hf", hub_hf)
    f.pair("hub_to_torchaudio", "hub", "torchaudio", hub_torchaudio)
    f.pair("torchaudio_to_hub", "torchaudio", "hub", hub_torchaudio, back=True, unfed=["masked_spec_embed"])
    f.pair("fairseq_to_hf_burn_layout", "fairseq", "hf", hf_fairseq(), back=True, layout="burn")
    f.pair("hub_to_torchaudio_burn_layout", "hub", "torchaudio", hub_torchaudio, layout="burn", sorted_file=False)
    f.wrapped("trained", "fairseq", "model.", [["criterion.log_scale", "f32", [], ""]])
    f.pair("trained", "trained", "hf", hf_fairseq(), back=True, kind="wrapped", strip=r"^model\.")
    f.case("base_from_ctc", "hf", "hf_base", "head", [(r"^wav2vec2\.", "")])
    f.case("labels_from_ctc", "hf", "hf_labels", "head", unfed=[r"^(projector|classifier)\."])
    f.case("ctc_from_base", "hf_base", "hf", "head", [(r"^", "wav2vec2.")], unfed=[r"^lm_head\."], sorted_file=False)
    f.write()


makers = [whisper, wav2vec2]
