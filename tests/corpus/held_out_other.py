# SPDX-License-Identifier: MIT OR Apache-2.0
"""Held-out families: graphs, reinforcement learning, recommendation, points, rays, text lines."""
import torch
from torch import nn

from held_out_lib import adam, family, linear, listings, net, on_cpu, param, seq, strip, ways, write


def graphs():
    from torch_geometric.nn import GATConv, GCNConv, SAGEConv
    f = family("graph_networks", "torch_geometric")

    def kipf(a, b):
        return net("GraphConvolution", weight=param(a, b), bias=param(b))

    def dgl_gat(a, b, heads):
        return net("GATConv", attn_l=param(1, heads, b), attn_r=param(1, heads, b), bias=param(heads * b),
                   fc=linear(a, heads * b, bias=False))

    def dgl_sage(a, b):
        return net("SAGEConv", fc_neigh=linear(a, b, bias=False), fc_self=linear(a, b))

    def other():
        return net("NeRF", pts_linears=[linear(63, 64), linear(64, 64)], rgb_linear=linear(64, 3))
    listings(f, gcn_pyg=lambda: net("GCN", conv1=GCNConv(1433, 16), conv2=GCNConv(16, 7)),
             gcn_kipf=(lambda: net("GCN", gc1=kipf(1433, 16), gc2=kipf(16, 7)), "tkipf/pygcn GCN"),
             gcn_dgl=(lambda: net("GCN", layers=[kipf(1433, 16), kipf(16, 7)]), "DGL's example GCN"),
             gat_pyg=lambda: net("GAT", conv1=GATConv(1433, 8, heads=8), conv2=GATConv(64, 7, heads=1)),
             gat_pyg_3=lambda: net("GAT", conv1=GATConv(1433, 8, heads=8), conv2=GATConv(64, 3, heads=1)),
             gat_dgl=(lambda: net("GAT", gat_layers=[dgl_gat(1433, 8, 8), dgl_gat(64, 7, 1)]), "DGL's example GAT"),
             sage_pyg=lambda: net("SAGE", convs=[SAGEConv(100, 64), SAGEConv(64, 64), SAGEConv(64, 47)]),
             sage_dgl=(lambda: net("SAGE", layers=[dgl_sage(100, 64), dgl_sage(64, 64), dgl_sage(64, 47)]),
                       "DGL's example SAGE"),
             other=(other, "a network for rays"))
    gcn = ways(*(pair for i in (1, 2) for pair in ((f"gc{i}.weight", f"conv{i}.lin.weight"), (f"gc{i}", f"conv{i}"))))
    dgl = ways(*(pair for i in (1, 2) for pair in ((f"layers.{i - 1}.weight", f"conv{i}.lin.weight"),
                                                   (f"layers.{i - 1}", f"conv{i}"))))
    gat = ways(*((f"gat_layers.{i - 1}.{x}", f"conv{i}.{y}") for i in (1, 2) for x, y in (
        ("attn_l", "att_src"), ("attn_r", "att_dst"), ("bias", "bias"), ("fc", "lin"))))
    sage = ways(("layers.*.fc_neigh.weight", "convs.*.lin_l.weight"), ("layers.*.fc_self.bias", "convs.*.lin_l.bias"),
                ("layers.*.fc_self.weight", "convs.*.lin_r.weight"))
    f.case("kipf_to_pyg", "gcn_kipf", "gcn_pyg", "renamed", gcn[0], transposed=[r"lin\.weight"])
    f.case("pyg_to_kipf", "gcn_pyg", "gcn_kipf", "renamed", gcn[1], transposed=[r"\.weight"], sorted_file=False)
    f.case("dgl_to_pyg_gcn", "gcn_dgl", "gcn_pyg", "numbered", dgl[0], transposed=[r"lin\.weight"])
    f.case("dgl_to_kipf", "gcn_dgl", "gcn_kipf", "numbered", dgl[0] + gcn[1])
    f.case("dgl_to_pyg_gat", "gat_dgl", "gat_pyg", "numbered", gat[0])
    f.case("pyg_to_dgl_gat", "gat_pyg", "gat_dgl", "numbered", gat[1], sorted_file=False)
    f.case("dgl_to_3_classes", "gat_dgl", "gat_pyg_3", "head", gat[0],
           unfed=[r"^conv2\.(att|bias)", r"^conv2\.lin"])
    f.case("dgl_to_pyg_sage", "sage_dgl", "sage_pyg", "renamed", sage[0])
    f.unrelated("graphs_to_rays", "gat_pyg", "other")
    write(f)


def reinforcement():
    import gymnasium
    import numpy
    from stable_baselines3.common.policies import ActorCriticPolicy
    from stable_baselines3.dqn.policies import CnnPolicy
    from stable_baselines3.sac.policies import SACPolicy
    f = family("reinforcement", "stable-baselines3")
    box = gymnasium.spaces.Box
    seen, image, moves = box(-1, 1, (8,)), box(0, 255, (4, 84, 84), numpy.uint8), box(-1, 1, (3,))

    def rate(_):
        return 1e-3

    def mlp(out, hidden=64):
        return seq(linear(8, hidden), None, linear(hidden, hidden), None, linear(hidden, out))

    def agent(actions):
        return lambda: net("Agent", critic=mlp(1), actor=mlp(actions)), "cleanrl ppo.Agent"

    def rllib():
        def fc(a, b):
            return net("SlimFC", _model=seq(linear(a, b)))
        return net("FullyConnectedNetwork", _logits=fc(64, 4), _hidden_layers=seq(fc(8, 64), fc(64, 64)),
                   _value_branch_separate=seq(fc(8, 64), fc(64, 64)), _value_branch=fc(64, 1))

    def q_network():
        return net("QNetwork", network=seq(nn.Conv2d(4, 32, 8), None, nn.Conv2d(32, 64, 4), None, nn.Conv2d(64, 64, 3),
                                           None, None, linear(3136, 512), None, linear(512, 4)))

    def actor():
        return net("Actor", fc1=linear(8, 256), fc2=linear(256, 256), fc_mean=linear(256, 3), fc_logstd=linear(256, 3),
                   action_scale=torch.empty(3), action_bias=torch.empty(3))

    def dqn():
        return CnnPolicy(image, gymnasium.spaces.Discrete(4), rate)
    listings(f, sb3_ppo=on_cpu(lambda: ActorCriticPolicy(seen, gymnasium.spaces.Discrete(4), rate)),
             cleanrl_ppo=agent(4), cleanrl_ppo_6=agent(6), rllib_ppo=(rllib, "rllib FullyConnectedNetwork"),
             sb3_dqn=on_cpu(dqn), sb3_q=on_cpu(lambda: dqn().q_net),
             cleanrl_dqn=(q_network, "cleanrl dqn_atari.QNetwork"),
             sb3_sac=on_cpu(lambda: SACPolicy(seen, moves, rate)), cleanrl_actor=(actor, "cleanrl sac.Actor"),
             other=(lambda: net("PointNet", conv1=nn.Conv1d(3, 64, 1), bn1=nn.BatchNorm1d(64), fc=linear(64, 10)),
                    "a network for points"))
    f.wrapped("sb3_file", "sb3_ppo", "policy.", adam(f, "sb3_ppo", "policy.optimizer.state."))
    ppo = ways(*((f"mlp_extractor.policy_net.{i}", f"actor.{i}") for i in (0, 2)), ("action_net", "actor.4"),
               *((f"mlp_extractor.value_net.{i}", f"critic.{i}") for i in (0, 2)), ("value_net", "critic.4"))
    ray = ways(*((f"mlp_extractor.policy_net.{2 * i}", f"_hidden_layers.{i}._model.0") for i in (0, 1)),
               ("action_net", "_logits._model.0"), ("value_net", "_value_branch._model.0"),
               *((f"mlp_extractor.value_net.{2 * i}", f"_value_branch_separate.{i}._model.0") for i in (0, 1)))
    q = ways(*((f"features_extractor.cnn.{i}", f"network.{i}") for i in (0, 2, 4)),
             ("features_extractor.linear.0", "network.7"), ("q_net.0", "network.9"))
    sac = ways(("actor.latent_pi.0", "fc1"), ("actor.latent_pi.2", "fc2"), ("actor.mu", "fc_mean"),
               ("actor.log_std", "fc_logstd"))
    f.case("sb3_to_cleanrl", "sb3_ppo", "cleanrl_ppo", "numbered", ppo[0])
    f.case("cleanrl_to_sb3", "cleanrl_ppo", "sb3_ppo", "numbered", ppo[1])
    f.case("sb3_to_cleanrl_burn", "sb3_ppo", "cleanrl_ppo", "numbered", ppo[0], sorted_file=False, layout="burn")
    f.case("sb3_file_to_cleanrl", "sb3_file", "cleanrl_ppo", "wrapped", [strip("policy.")] + ppo[0])
    f.case("sb3_to_6_actions", "sb3_ppo", "cleanrl_ppo_6", "head", ppo[0], unfed=[r"^actor\.4"])
    f.case("sb3_to_rllib", "sb3_ppo", "rllib_ppo", "numbered", ray[0], sorted_file=False)
    f.case("rllib_to_cleanrl", "rllib_ppo", "cleanrl_ppo", "numbered", ray[1] + ppo[0])
    f.case("sb3_to_cleanrl_dqn", "sb3_dqn", "cleanrl_dqn", "wrapped",
           [(r"^q_net\.(?=features|q_net)", "")] + q[0])
    f.case("cleanrl_to_sb3_dqn", "cleanrl_dqn", "sb3_q", "numbered", q[1])
    f.case("sb3_to_cleanrl_sac", "sb3_sac", "cleanrl_actor", "head", sac[0], unfed=["^action_"], sorted_file=False)
    f.unrelated("policy_to_points", "sb3_ppo", "other")
    write(f)


def nerf():
    f = family("nerf")

    def sizes():
        return [(63, 64)] + [(64, 64)] * 4 + [(127, 64)] + [(64, 64)] * 2

    def yen():
        return net("NeRF", pts_linears=[linear(*s) for s in sizes()], views_linears=[linear(91, 32)],
                   feature_linear=linear(64, 64), alpha_linear=linear(64, 1), rgb_linear=linear(32, 3))

    def kwea():
        return net("NeRF", **{f"xyz_encoding_{i + 1}": seq(linear(*s), None) for i, s in enumerate(sizes())},
                   xyz_encoding_final=linear(64, 64), dir_encoding=seq(linear(91, 32), None), sigma=linear(64, 1),
                   rgb=seq(linear(32, 3), None))

    def krishna():
        return net("FlexibleNeRFModel", layers_xyz=[linear(*s) for s in sizes()], fc_feat=linear(64, 64),
                   fc_alpha=linear(64, 1), layers_dir=[linear(91, 32)], fc_rgb=linear(32, 3))
    listings(f, original=(yen, "yenchenlin/nerf-pytorch NeRF"), kwea=(kwea, "kwea123/nerf_pl NeRF"),
             krishna=(krishna, "krrish94/nerf-pytorch FlexibleNeRFModel"),
             both=(lambda: net("Checkpoint", network_fn_state_dict=yen(), network_fine_state_dict=yen()),
                   "yenchenlin/nerf-pytorch checkpoint"),
             system=(lambda: net("NeRFSystem", nerf_coarse=kwea(), nerf_fine=kwea()), "kwea123/nerf_pl NeRFSystem"))
    f.wrapped("trained", "original", "network_fn_state_dict.", adam(f, "original", "optimizer_state_dict.state."))
    rules = ways(*((f"pts_linears.{i}", f"xyz_encoding_{i + 1}.0") for i in range(8)),
                 ("views_linears.0", "dir_encoding.0"), ("feature_linear", "xyz_encoding_final"),
                 ("alpha_linear", "sigma"), ("rgb_linear", "rgb.0"))
    flexible = ways(("pts_linears", "layers_xyz"), ("views_linears", "layers_dir"), ("feature_linear", "fc_feat"),
                    ("alpha_linear", "fc_alpha"), ("rgb_linear", "fc_rgb"))
    two = [pair for a, b in (("network_fn_state_dict", "nerf_coarse"), ("network_fine_state_dict", "nerf_fine"))
           for pair in [(f"{a}.pts_linears.{i}", f"{b}.xyz_encoding_{i + 1}.0") for i in range(8)] + [
               (a + ".views_linears.0", b + ".dir_encoding.0"), (a + ".feature_linear", b + ".xyz_encoding_final"),
               (a + ".alpha_linear", b + ".sigma"), (a + ".rgb_linear", b + ".rgb.0")]]
    f.case("original_to_kwea", "original", "kwea", "numbered", rules[0])
    f.case("kwea_to_original", "kwea", "original", "numbered", rules[1])
    f.case("kwea_to_original_burn", "kwea", "original", "numbered", rules[1], sorted_file=False, layout="burn")
    f.case("original_to_krishna", "original", "krishna", "renamed", flexible[0])
    f.case("trained_to_kwea", "trained", "kwea", "wrapped", [strip("network_fn_state_dict.")] + rules[0])
    f.case("both_to_system", "both", "system", "numbered", ways(*two)[0], sorted_file=False)
    f.case("system_to_both", "system", "both", "numbered", ways(*two)[1])
    write(f)


def dlrm():
    f = family("dlrm")
    rows = (50, 30, 100, 100, 12, 3, 100, 20, 60, 100, 8, 100)

    def facebook(tables=len(rows)):
        def mlp(*sizes):
            return seq(*(x for a, b in zip(sizes, sizes[1:]) for x in (linear(a, b), None)))
        pairs = (tables + 1) * tables // 2
        return net("DLRM_Net", emb_l=[nn.EmbeddingBag(n, 16) for n in rows[:tables]], bot_l=mlp(13, 64, 32, 16),
                   top_l=mlp(16 + pairs, 64, 32, 1))

    def torchrec():
        def mlp(*sizes):
            return net("MLP", _mlp=seq(*(net("Perceptron", _linear=linear(a, b)) for a, b in zip(sizes, sizes[1:]))))
        bags = nn.ModuleDict({f"t_cat_{i}": nn.EmbeddingBag(n, 16) for i, n in enumerate(rows)})
        return net("DLRM", sparse_arch=net("SparseArch", embedding_bag_collection=net(
            "EmbeddingBagCollection", embedding_bags=bags)), dense_arch=net("DenseArch", model=mlp(13, 64, 32, 16)),
            over_arch=net("OverArch", model=seq(mlp(94, 64, 32), linear(32, 1))))
    listings(f, facebook=(facebook, "facebookresearch/dlrm DLRM_Net"), torchrec=(torchrec, "torchrec DLRM"))
    f.wrapped("facebook_file", "facebook", "state_dict.")
    f.wrapped("trained", "torchrec", "module.model.")
    rules = ways(*((f"emb_l.{i}", f"sparse_arch.embedding_bag_collection.embedding_bags.t_cat_{i}")
                   for i in range(len(rows))),
                 *((f"bot_l.{2 * i}", f"dense_arch.model._mlp.{i}._linear") for i in range(3)),
                 *((f"top_l.{2 * i}", f"over_arch.model.0._mlp.{i}._linear") for i in range(2)),
                 ("top_l.4", "over_arch.model.1"))
    f.case("facebook_to_torchrec", "facebook", "torchrec", "numbered", rules[0], sorted_file=False)
    f.case("torchrec_to_facebook", "torchrec", "facebook", "numbered", rules[1])
    f.case("facebook_file_to_torchrec", "facebook_file", "torchrec", "wrapped", [strip("state_dict.")] + rules[0])
    f.case("trained_to_facebook", "trained", "facebook", "wrapped", [strip("module.model.")] + rules[1])
    f.case("trained_to_torchrec", "trained", "torchrec", "wrapped", [strip("module.model.")], sorted_file=False)
    write(f)


def pointnet():
    f = family("pointnet")

    def convs(k):
        return {f"conv{i}": nn.Conv1d(a, b, 1) for i, a, b in ((1, k, 16), (2, 16, 32), (3, 32, 128))}

    def norms(*sizes):
        return {f"bn{i + 1}": nn.BatchNorm1d(s) for i, s in enumerate(sizes)}

    def dense(out):
        return dict(fc1=linear(128, 64), fc2=linear(64, 32), fc3=linear(32, out))

    def tnet(k, kind):
        return net(kind, **convs(k), **dense(k * k), **norms(16, 32, 128, 64, 32))

    def fxia(classes):
        return lambda: net("PointNetCls", feat=net("PointNetfeat", stn=tnet(3, "STN3d"), **convs(3),
                                                   **norms(16, 32, 128), fstn=tnet(16, "STNkd")),
                           **dense(classes), **norms(64, 32)), "fxia22/pointnet.pytorch PointNetCls"

    def nikita(classes):
        return lambda: net("PointNet", transform=net("Transform", input_transform=tnet(3, "Tnet"),
                                                     feature_transform=tnet(16, "Tnet"), **convs(3),
                                                     **norms(16, 32, 128)),
                           **dense(classes), **norms(64, 32)), "nikitakaraevv/pointnet PointNet"
    listings(f, fxia=fxia(10), nikita=nikita(10), nikita_40=nikita(40))
    rules = ways(("feat.stn", "transform.input_transform"), ("feat.fstn", "transform.feature_transform"),
                 ("feat", "transform"))
    f.case("fxia_to_nikita", "fxia", "nikita", "renamed", rules[0])
    f.case("nikita_to_fxia", "nikita", "fxia", "renamed", rules[1], sorted_file=False)
    f.case("nikita_to_fxia_burn", "nikita", "fxia", "renamed", rules[1], layout="burn")
    f.case("fxia_to_40_classes", "fxia", "nikita_40", "head", rules[0], unfed=[r"^fc3"])
    write(f)


def crnn():
    f = family("crnn")
    widths = (1, 16, 32, 64, 64, 128, 128, 128)

    def conv(i):
        return nn.Conv2d(widths[i], widths[i + 1], 2 if i == 6 else 3)

    def lstm(a, out):
        return net("BidirectionalLSTM", rnn=nn.LSTM(a, 32, bidirectional=True), embedding=linear(64, out))

    def features():
        parts = {}
        for i in range(7):
            parts[f"conv{i}"] = conv(i)
            if i in (2, 4, 6):
                parts[f"batchnorm{i}"] = nn.BatchNorm2d(widths[i + 1])
        return net("Sequential", **parts)

    def meijieru(letters):
        return lambda: net("CRNN", cnn=features(),
                           rnn=seq(lstm(128, 32), lstm(32, letters))), "meijieru/crnn.pytorch CRNN"

    def mmocr():
        return net("CRNN", backbone=net("MiniVGG", cnn=features()),
                   decoder=net("CRNNDecoder", decoder=seq(lstm(128, 32), lstm(32, 37))))

    def numbered():
        c = [conv(i) for i in range(7)]
        b = {i: nn.BatchNorm2d(widths[i + 1]) for i in (2, 4, 6)}
        return net("CRNN", cnn=seq(c[0], None, None, c[1], None, None, c[2], b[2], None, c[3], None, None, c[4], b[4],
                                   None, c[5], None, None, c[6], b[6], None),
                   lstm1=nn.LSTM(128, 32, bidirectional=True), linear1=linear(64, 32),
                   lstm2=nn.LSTM(32, 32, bidirectional=True), linear2=linear(64, 37))
    listings(f, meijieru=meijieru(37), meijieru_80=meijieru(80), mmocr=(mmocr, "mmocr CRNN"),
             numbered=(numbered, "a class with one nn.Sequential"),
             other=(lambda: net("DLRM_Net", emb_l=[nn.EmbeddingBag(50, 16), nn.EmbeddingBag(30, 16)],
                                bot_l=seq(linear(13, 64), None, linear(64, 16)), top_l=seq(linear(19, 1))),
                    "a recommender"))
    f.wrapped("mmocr_file", "mmocr", "state_dict.")
    f.wrapped("parallel", "meijieru", "module.")
    rules = ways(("cnn", "backbone.cnn"), ("rnn", "decoder.decoder"))
    layers = ways(*((f"cnn.conv{i}", f"cnn.{n}") for i, n in enumerate((0, 3, 6, 9, 12, 15, 18))),
                  *((f"cnn.batchnorm{i}", f"cnn.{n}") for i, n in ((2, 7), (4, 13), (6, 19))),
                  *(pair for i in (0, 1) for pair in ((f"rnn.{i}.rnn", f"lstm{i + 1}"),
                                                      (f"rnn.{i}.embedding", f"linear{i + 1}"))))
    f.case("mmocr_to_meijieru", "mmocr_file", "meijieru", "wrapped", [strip("state_dict.")] + rules[1],
           sorted_file=False)
    f.case("parallel_to_mmocr", "parallel", "mmocr", "wrapped", [strip("module.")] + rules[0], sorted_file=False)
    f.case("meijieru_to_numbered", "meijieru", "numbered", "numbered", layers[0])
    f.case("numbered_to_meijieru", "numbered", "meijieru", "numbered", layers[1])
    f.case("mmocr_to_80_letters", "mmocr_file", "meijieru_80", "head", [strip("state_dict.")] + rules[1],
           unfed=[r"^rnn\.1\.embedding"])
    f.unrelated("recommender_to_meijieru", "other", "meijieru")
    write(f)


for make in (graphs, reinforcement, nerf, dlrm, pointnet, crnn):
    make()
