# SPDX-License-Identifier: MIT OR Apache-2.0
"""Fresh families: tables and series. Neural collaborative filtering, FT-Transformer, TimesFM 2.5, LSTM language models.

Checked by forward passes: rtdl against rtdl_revisiting_models, TimesFM's package against transformers (layers and
blocks), NCF of guoyang9 against yihong-chen's retyped class, fairseq's cells against PyTorch's example. The names of
RecBole, yandex-research and fairseq were compared with their sources. The typed structs define themselves."""
import torch
import transformers as hf
from torch import nn

from fresh_lib import Fresh, Table, adam, alike, linear, net, on_cpu, param, seq
from fresh_text import lines


def ncf():
    f = Fresh("ncf", "recbole")
    users, items, mf, size = 60, 90, 8, 32

    def tables(*names):
        kinds = {"user": users, "item": items}
        return {n: nn.Embedding(kinds["user" if "user" in n else "item"],
                                mf if any(x in n for x in ("GMF", "_mf", "mf_")) else size) for n in names}

    def layers():
        return [linear(64, 32), linear(32, 16), linear(16, 8)]

    def guoyang():
        """guoyang9/NCF, model.py: NeuMF-end"""
        return net("NCF", **tables("embed_user_GMF", "embed_item_GMF", "embed_user_MLP", "embed_item_MLP"),
                   MLP_layers=seq(*(part for one in layers() for part in (None, one, nn.ReLU()))),
                   predict_layer=linear(16, 1))

    def chen():
        """yihong-chen/neural-collaborative-filtering, neumf.py"""
        return net("NeuMF", **tables("embedding_user_mlp", "embedding_item_mlp", "embedding_user_mf",
                                     "embedding_item_mf"), fc_layers=layers(), affine_output=linear(16, 1))

    def recbole():
        from recbole.model.layers import MLPLayers
        return net("NeuMF", **tables("user_mf_embedding", "item_mf_embedding", "user_mlp_embedding",
                                     "item_mlp_embedding"), mlp_layers=MLPLayers([64, 32, 16, 8], 0.1),
                   predict_layer=linear(16, 1))

    def struct():
        """A typed model of one's own."""
        one, two, three = layers()
        return net("Recommender", product=net("Product", user=nn.Embedding(users, mf), item=nn.Embedding(items, mf)),
                   tower=net("Tower", user=nn.Embedding(users, size), item=nn.Embedding(items, size), hidden1=one,
                             hidden2=two, hidden3=three), score=linear(16, 1))
    f.add(guoyang=(guoyang, "guoyang9/NCF NCF"), chen=(chen, "yihong-chen/neural-collaborative-filtering NeuMF"),
          recbole=(recbole, "recbole NeuMF"), struct=(struct, "typed model"),
          pictures=(lambda: seq(nn.Conv2d(1, 8, 3), nn.BatchNorm2d(8), None, nn.Conv2d(8, 16, 3), nn.BatchNorm2d(16),
                                None, None, linear(400, 10)), "a classifier of digits"))
    f.wrapped("recbole_file", "recbole", "state_dict.", adam(f, "recbole"))
    rows = [("embed_user_GMF", "embedding_user_mf", "user_mf_embedding", "product.user"),
            ("embed_item_GMF", "embedding_item_mf", "item_mf_embedding", "product.item"),
            ("embed_user_MLP", "embedding_user_mlp", "user_mlp_embedding", "tower.user"),
            ("embed_item_MLP", "embedding_item_mlp", "item_mlp_embedding", "tower.item"),
            ("predict_layer", "affine_output", "predict_layer", "score")]
    rows += [(f"MLP_layers.{3 * i + 1}", f"fc_layers.{i}", f"mlp_layers.mlp_layers.{3 * i + 1}", f"tower.hidden{i + 1}")
             for i in range(3)]

    def table(a, b):
        return Table(lines("%s = %s", [(row[a], row[b]) for row in rows]))
    f.pair("guoyang_to_chen", "guoyang", "chen", table(0, 1), kind="numbered", sorted_file=False)
    f.pair("chen_to_recbole", "chen", "recbole", table(1, 2), kind="numbered")
    f.pair("recbole_file_to_struct_burn", "recbole_file", "struct", table(2, 3), kind="wrapped",
           strip=r"^state_dict\.", spare=["^optimizer"], layout="burn", sorted_file=False)
    f.pair("struct_to_guoyang", "struct", "guoyang", table(3, 0), kind="numbered")
    f.unrelated("digits_to_struct", "pictures", "struct", sorted_file=False)

    def ask_guoyang(m):
        both = torch.cat([m.embed_user_MLP(user), m.embed_item_MLP(item)], 1)
        return m.predict_layer(torch.cat([m.embed_user_GMF(user) * m.embed_item_GMF(item), m.MLP_layers(both)], 1))

    def ask_chen(m):
        x = torch.cat([m.embedding_user_mlp(user), m.embedding_item_mlp(item)], 1)
        for layer in m.fc_layers:
            x = torch.relu(layer(x))
        return m.affine_output(torch.cat([x, m.embedding_user_mf(user) * m.embedding_item_mf(item)], 1))

    def halves(file, model):
        """The one has the product before the tower, the other after it."""
        model.affine_output.weight.data = model.affine_output.weight.data.roll(8, 1)
    user, item = torch.arange(20), torch.arange(20) + 30
    alike(f, "guoyang_to_chen", guoyang, chen, ask_guoyang, ask_chen, halves)
    f.write()


def ft_transformer():
    import rtdl
    import rtdl_revisiting_models as revisited
    f = Fresh("ft_transformer", "rtdl", "rtdl_revisiting_models")
    d, inner, cards = 48, 64, [3, 7]

    def old():
        return rtdl.FTTransformer.make_baseline(
            n_num_features=5, cat_cardinalities=cards, d_token=d, n_blocks=3, attention_dropout=0., ffn_d_hidden=inner,
            ffn_dropout=0., residual_dropout=0., d_out=4)

    def new(blocks=3):
        return lambda: revisited.FTTransformer(
            n_cont_features=5, cat_cardinalities=cards, d_out=4, n_blocks=blocks, d_block=d, attention_n_heads=8,
            attention_dropout=0., ffn_d_hidden=inner, ffn_d_hidden_multiplier=None, ffn_dropout=0.,
            residual_dropout=0.)

    def original():
        """yandex-research/rtdl-revisiting-models, bin/ft_transformer.py"""
        def layer(i):
            return net("ModuleDict", attention=net("MultiheadAttention", W_q=linear(d, d), W_k=linear(d, d),
                                                   W_v=linear(d, d), W_out=linear(d, d)), linear0=linear(d, 2 * inner),
                       linear1=linear(inner, d), norm1=nn.LayerNorm(d), norm0=nn.LayerNorm(d) if i else None)
        return net("Transformer", tokenizer=net("Tokenizer", weight=param(6, d), bias=param(7, d), category_offsets=(
            torch.zeros(2, dtype=torch.int64)), category_embeddings=nn.Embedding(10, d)),
            layers=[layer(i) for i in range(3)], last_normalization=nn.LayerNorm(d), head=linear(d, 4))

    def struct():
        """A typed model of one's own."""
        def layer(i):
            return net("Block", **(dict(attn_norm=nn.LayerNorm(d)) if i else {}), attn_query=linear(d, d),
                       attn_key=linear(d, d), attn_value=linear(d, d), attn_output=linear(d, d),
                       mlp_norm=nn.LayerNorm(d), mlp_in=linear(d, 2 * inner), mlp_out=linear(inner, d))
        return net("TabularTransformer", numbers_scale=param(5, d), numbers_shift=param(5, d),
                   categories=[nn.Embedding(n, d) for n in cards], categories_shift=param(2, d), summary=param(d),
                   blocks=[layer(i) for i in range(3)], out_norm=nn.LayerNorm(d), out=linear(d, 4))
    f.add(rtdl=on_cpu(old), revisited=on_cpu(new()), revisited_5=on_cpu(new(5)),
          original=(original, "yandex-research/rtdl-revisiting-models Transformer"), struct=(struct, "typed model"))
    a, b, c, s = "transformer.blocks.{i}.", "backbone.blocks.{i}.", "layers.{i}.", "blocks.{i}."
    blocks = [(a + f"attention.W_{x}", b + f"attention.W_{x}", c + f"attention.W_{x}", s + f"attn_{y}")
              for x, y in (("q", "query"), ("k", "key"), ("v", "value"), ("out", "output"))]
    blocks += [(a + "ffn.linear_first", b + "ffn.linear1", c + "linear0", s + "mlp_in"),
               (a + "ffn.linear_second", b + "ffn.linear2", c + "linear1", s + "mlp_out"),
               (a + "attention_normalization", b + "attention_normalization", c + "norm0", s + "attn_norm"),
               (a + "ffn_normalization", b + "ffn_normalization", c + "norm1", s + "mlp_norm"),
               ("transformer.head.normalization", "backbone.output.normalization", "last_normalization", "out_norm"),
               ("transformer.head.linear", "backbone.output.linear", "head", "out")]
    t = "feature_tokenizer."
    front = [(t + "num_tokenizer.weight", "cont_embeddings.weight", "numbers_scale"),
             (t + "num_tokenizer.bias", "cont_embeddings.bias", "numbers_shift"),
             (t + "cat_tokenizer.bias", "cat_embeddings.bias", "categories_shift"),
             ("cls_token.weight", "cls_embedding.weight", "summary")]
    join = "cat_embeddings.embeddings.0.weight + cat_embeddings.embeddings.1.weight"
    new_old = Table(lines("%s = %s", [(row[1], row[0]) for row in blocks] + [(y, x) for x, y, _ in front] + [
        (join, t + "cat_tokenizer.embeddings.weight")]))
    old_new = Table(lines("%s = %s", [(row[0], row[1]) for row in blocks] + [(x, y) for x, y, _ in front]))
    old_original = Table(lines("%s = %s", [(row[0], row[2]) for row in blocks] + [
        (t + "cat_tokenizer.embeddings", "tokenizer.category_embeddings"),
        (t + "num_tokenizer.bias + " + t + "cat_tokenizer.bias", "tokenizer.bias")]))
    new_struct = Table(lines("%s = %s", [(row[1], row[3]) for row in blocks] + [(y, z) for _, y, z in front] + [
        ("cat_embeddings.embeddings.{i}", "categories.{i}")]))
    offsets, tables = ["category_offsets"], ["cat_tokenizer.embeddings"]
    f.pair("revisited_to_rtdl", "revisited", "rtdl", new_old, kind="fused", unfed=offsets)
    f.pair("rtdl_to_revisited", "rtdl", "revisited", old_new, unfed=[r"cat_embeddings\.embeddings"],
           spare=offsets + tables, sorted_file=False)
    f.pair("rtdl_to_original", "rtdl", "original", old_original, kind="fused",
           unfed=[r"tokenizer\.weight$"] + offsets, spare=offsets + ["cls_token", r"num_tokenizer\.weight"])
    f.pair("revisited_to_struct_burn", "revisited", "struct", new_struct, layout="burn", sorted_file=False)
    f.pair("rtdl_to_longer_revisited", "rtdl", "revisited_5", old_new, kind="depth",
           unfed=[r"cat_embeddings\.embeddings", r"blocks\.[34]\."], spare=offsets + tables)
    numbers, kinds = torch.randn(6, 5), torch.tensor([[0, 6], [1, 5], [2, 4], [0, 3], [1, 2], [2, 1]])

    def same_offsets(file, model):
        model.feature_tokenizer.cat_tokenizer.category_offsets = torch.tensor([0, 3])
    alike(f, "revisited_to_rtdl", new(), old, lambda m: m(numbers, kinds), lambda m: m(numbers, kinds), same_offsets)
    f.write()


def timesfm():
    from timesfm.timesfm_2p5.timesfm_2p5_torch import TimesFM_2p5_200M_torch_module as Google
    f = Fresh("timesfm", "transformers", "timesfm")
    d = 1280

    def with_hf():
        return hf.TimesFm2_5ModelForPrediction(hf.TimesFm2_5Config())

    def struct(layers=20):
        """A typed model of one's own."""
        def block(a, b, bias):
            return net("ResidualMlp", hidden=linear(a, d, bias=bias), out=linear(d, b, bias=bias),
                       skip=linear(a, b, bias=bias))

        def layer():
            return net("Layer", norm_a=nn.RMSNorm(d), wq=linear(d, d, bias=False), wk=linear(d, d, bias=False),
                       wv=linear(d, d, bias=False), wo=linear(d, d, bias=False), q_norm=nn.RMSNorm(80),
                       k_norm=nn.RMSNorm(80), q_scale=param(80), norm_b=nn.RMSNorm(d), norm_c=nn.RMSNorm(d),
                       ff_in=linear(d, d, bias=False), ff_out=linear(d, d, bias=False), norm_d=nn.RMSNorm(d))
        return lambda: net("Forecaster", patches=block(64, d, True), layers=[layer() for _ in range(layers)],
                           point=block(d, d, False), quantiles=block(d, 10240, False))
    f.add(google=Google, hf=with_hf, struct=(struct(), "typed model"))
    g, h, s = "stacked_xf.{i}.", "model.layers.{i}.", "layers.{i}."
    rows = [("attn.per_dim_scale.per_dim_scale", "self_attn.scaling", "q_scale"),
            ("attn.out", "self_attn.o_proj", "wo"), ("ff0", "mlp.fc1", "ff_in"), ("ff1", "mlp.fc2", "ff_out")]
    norms = [("pre_attn_ln", "input_layernorm", "norm_a"), ("post_attn_ln", "post_attention_layernorm", "norm_b"),
             ("pre_ff_ln", "pre_feedforward_layernorm", "norm_c"),
             ("post_ff_ln", "post_feedforward_layernorm", "norm_d"),
             ("attn.query_ln", "self_attn.q_norm", "q_norm"), ("attn.key_ln", "self_attn.k_norm", "k_norm")]
    ends = [(f"{a}.{x}", f"{b}.{y}", f"{c}.{z}") for a, b, c in (
        ("tokenizer", "model.input_ff_layer", "patches"),
        ("output_projection_point", "output_projection_point", "point"),
        ("output_projection_quantiles", "output_projection_quantiles", "quantiles")) for x, y, z in (
            ("hidden_layer", "input_layer", "hidden"), ("output_layer", "output_layer", "out"),
            ("residual_layer", "residual_layer", "skip"))]
    query = [(h + f"self_attn.{x}_proj", s + f"w{x}") for x in "qkv"]
    to_hf = Table(lines("%s = %s", [(g + a, h + b) for a, b, _ in rows] + [
        (g + a + ".scale", h + b + ".weight") for a, b, _ in norms] + [(a, b) for a, b, _ in ends] + [
            (g + "attn.qkv_proj", " + ".join(q for q, _ in query))]))
    to_struct = Table(lines("%s = %s", [(g + a, s + c) for a, _, c in rows] + [
        (g + a + ".scale", s + c + ".weight") for a, _, c in norms] + [(a, c) for a, _, c in ends] + [
            (g + "attn.qkv_proj", " + ".join(q for _, q in query))]))
    f.pair("google_to_hf", "google", "hf", to_hf, kind="fused", sorted_file=False)
    f.pair("hf_to_google", "hf", "google", to_hf, back=True, kind="fused")
    f.pair("google_to_struct_burn", "google", "struct", to_struct, kind="fused", layout="burn")

    def ask(layers, ends, through):
        x = torch.randn(1, 7, 64, generator=torch.Generator().manual_seed(2))
        x = ends[0](x)
        for layer in layers[:3]:
            x = through(layer, x)
        return torch.cat([part(x) for part in ends[1:]], -1)

    def through_hf(m):
        def one(layer, x):
            return layer(x, position_embeddings=m.model.rotary_emb(x, torch.arange(7)[None]), attention_mask=mask)
        mask = torch.full((7, 7), float("-inf")).triu(1)[None, None]
        return one
    alike(f, "google_to_hf", Google, with_hf, lambda m: ask(
        m.stacked_xf, [m.tokenizer, m.output_projection_point, m.output_projection_quantiles],
        lambda layer, x: layer(x, torch.zeros(1, 7, dtype=torch.bool))[0]), lambda m: ask(
            m.model.layers, [m.model.input_ff_layer, m.output_projection_point, m.output_projection_quantiles],
            through_hf(m)))
    f.write()


def lstm_lm():
    f = Fresh("lstm_language_model")
    words, size, hidden = 200, 24, 40

    def cells(n, kind):
        return [kind(size if i == 0 else hidden, hidden) for i in range(n)]

    def examples(layers=2):
        """pytorch/examples, word_language_model/model.py"""
        return lambda: net("RNNModel", encoder=nn.Embedding(words, size), rnn=nn.LSTM(size, hidden, layers),
                           decoder=linear(hidden, words))

    def fairseq():
        """fairseq/models/lstm_lm.py: a decoder without an encoder, one cell per layer."""
        return net("LSTMLanguageModel", decoder=net("LSTMDecoder", embed_tokens=nn.Embedding(words, size),
                                                    layers=cells(2, nn.LSTMCell), fc_out=linear(hidden, words)))

    def struct(layers=2):
        """A typed model of one's own: four matrices of parameters per cell."""
        return lambda: net("LanguageModel", lookup=nn.Embedding(words, size), stack=[net(
            "Cell", w_input=param(4 * hidden, size if i == 0 else hidden), w_state=param(4 * hidden, hidden),
            b_input=param(4 * hidden), b_state=param(4 * hidden)) for i in range(layers)], logits=linear(hidden, words))
    f.add(examples=(examples(), "pytorch/examples RNNModel"), fairseq=(fairseq, "fairseq LSTMLanguageModel"),
          struct=(struct(), "typed model"), struct_3=(struct(3), "typed model"),
          vision=(lambda: seq(nn.Conv2d(3, 16, 3), nn.BatchNorm2d(16), None, nn.Conv2d(16, 32, 3), nn.BatchNorm2d(32)),
                  "a few convolutions"))
    f.wrapped("fairseq_file", "fairseq", "model.", [["last_optimizer_state.state.0.exp_avg", "f32", [words, size], ""]])
    gates = (("weight_ih", "w_input"), ("weight_hh", "w_state"), ("bias_ih", "b_input"), ("bias_hh", "b_state"))
    fair = Table("encoder = decoder.embed_tokens\ndecoder = decoder.fc_out\n" + "\n".join(
        f"rnn.{a}_l{{i}} = decoder.layers.{{i}}.{a}" for a, _ in gates))
    own = Table("encoder = lookup\ndecoder = logits\n" + "\n".join(f"rnn.{a}_l{{i}} = stack.{{i}}.{b}"
                                                                  for a, b in gates))
    fair_own = Table("decoder.embed_tokens = lookup\ndecoder.fc_out = logits\n" + "\n".join(
        f"decoder.layers.{{i}}.{a} = stack.{{i}}.{b}" for a, b in gates))
    f.pair("examples_to_fairseq", "examples", "fairseq", fair, kind="numbered")
    f.pair("fairseq_file_to_examples", "fairseq_file", "examples", fair, back=True, kind="wrapped",
           strip=r"^model\.", spare=["^last_optimizer"], sorted_file=False)
    f.pair("examples_to_struct", "examples", "struct", own, sorted_file=False)
    f.pair("fairseq_to_longer_struct_burn", "fairseq", "struct_3", fair_own, kind="depth", unfed=[r"^stack\.2\."],
           layout="burn")
    f.unrelated("convolutions_to_struct", "vision", "struct")

    def ask_fairseq(m):
        x = m.decoder.embed_tokens(ids)
        for cell in m.decoder.layers:
            state, out = None, []
            for step in x.unbind(0):
                state = cell(step, state)
                out.append(state[0])
            x = torch.stack(out)
        return m.decoder.fc_out(x)
    ids = torch.arange(12).reshape(6, 2)
    alike(f, "examples_to_fairseq", examples(), fairseq, lambda m: m.decoder(m.rnn(m.encoder(ids))[0]), ask_fairseq)
    f.write()


if __name__ == "__main__":
    for make in (ncf, ft_transformer, timesfm, lstm_lm):
        make()
