# SPDX-License-Identifier: MIT OR Apache-2.0
"""Makes the files that the models here load, with the real PyTorch: random weights, a random input,
and the output. Numbers depend on the model's name alone.

usage: make_weights.py [--full] [FOLDER] [MODEL...]

Each model gets a folder in FOLDER, which is data beside this file unless given. With --full, the
sizes are real ones; language models have fewer layers. Outputs are computed with f64, so that they
do not depend on the processor. Releases 1.13 and 2.15 give the same numbers; the files in data are
from 2.15, which gives the same bytes each time.
"""

import argparse
import math
import pathlib
import warnings
import zlib

import torch
from torch import nn
from torch.nn import functional as F

warnings.filterwarnings("ignore", ".*nested tensors.*")  # PyTorch's note about its own code


class MnistCnn(nn.Module):
    """The network that Burn's example of an import has."""

    def __init__(self, classes):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, 3)
        self.conv2 = nn.Conv2d(8, 16, 3)
        self.conv3 = nn.Conv2d(16, 24, 3)
        self.norm1 = nn.BatchNorm2d(24)
        self.fc1 = nn.Linear(24 * 22 * 22, 32)
        self.fc2 = nn.Linear(32, classes)
        self.norm2 = nn.BatchNorm1d(classes)

    def forward(self, x):
        for conv in (self.conv1, self.conv2, self.conv3):
            x = F.relu(conv(x))
        x = F.relu(self.fc1(self.norm1(x).flatten(1)))
        return F.log_softmax(self.norm2(self.fc2(x)), 1)


class BasicBlock(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.downsample = None
        if inputs != outputs:
            self.downsample = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False),
                                            nn.BatchNorm2d(outputs))

    def forward(self, x):
        y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
        return F.relu(y + (x if self.downsample is None else self.downsample(x)))


class ResNet18(nn.Module):
    """With torchvision's names."""

    def __init__(self, classes, width):
        super().__init__()
        self.conv1 = nn.Conv2d(3, width, 7, 2, 3, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        inputs = width
        for number, stride in enumerate((1, 2, 2, 2)):
            outputs = width << number
            setattr(self, f"layer{number + 1}", nn.Sequential(
                BasicBlock(inputs, outputs, stride), BasicBlock(outputs, outputs, 1)))
            inputs = outputs
        self.fc = nn.Linear(inputs, classes)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.bn1(self.conv1(x))), 3, 2, 1)
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(x.mean((2, 3)))


def split_heads(x, heads):
    return x.unflatten(-1, (heads, -1)).transpose(1, 2)


def attention(query, key, value, causal):
    """Of [batch, heads, length, size]; returns [batch, length, heads * size]."""
    scores = query @ key.transpose(2, 3) / math.sqrt(query.shape[-1])
    if causal:
        hidden = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
        scores = scores.masked_fill(hidden, -math.inf)
    return (scores.softmax(-1) @ value).transpose(1, 2).flatten(2)


class Conv1D(nn.Module):
    """A Linear with a weight of [inputs, outputs]."""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(inputs, outputs))
        self.bias = nn.Parameter(torch.zeros(outputs))

    def forward(self, x):
        return x @ self.weight + self.bias


class GptBlock(nn.Module):
    def __init__(self, config):
        super().__init__()
        size, eps = config["n_embd"], config["layer_norm_epsilon"]
        self.heads = config["n_head"]
        self.ln_1 = nn.LayerNorm(size, eps)
        self.attn = nn.Module()
        # Files contain the mask.
        mask = torch.ones(1, 1, config["n_positions"], config["n_positions"], dtype=torch.bool)
        self.attn.register_buffer("bias", mask.tril())
        self.attn.c_attn = Conv1D(size, 3 * size)
        self.attn.c_proj = Conv1D(size, size)
        self.ln_2 = nn.LayerNorm(size, eps)
        self.mlp = nn.Module()
        self.mlp.c_fc = Conv1D(size, 4 * size)
        self.mlp.c_proj = Conv1D(4 * size, size)

    def forward(self, x):
        parts = self.attn.c_attn(self.ln_1(x)).chunk(3, -1)
        x = x + self.attn.c_proj(attention(*(split_heads(part, self.heads) for part in parts), True))
        return x + self.mlp.c_proj(F.gelu(self.mlp.c_fc(self.ln_2(x)), approximate="tanh"))


class Gpt2(nn.Module):
    """With Hugging Face's names."""

    def __init__(self, **config):
        super().__init__()
        size = config["n_embd"]
        self.transformer = nn.Module()
        self.transformer.wte = nn.Embedding(config["vocab_size"], size)
        self.transformer.wpe = nn.Embedding(config["n_positions"], size)
        self.transformer.h = nn.Sequential(*(GptBlock(config) for _ in range(config["n_layer"])))
        self.transformer.ln_f = nn.LayerNorm(size, config["layer_norm_epsilon"])
        self.lm_head = nn.Linear(size, config["vocab_size"], bias=False)
        self.lm_head.weight = self.transformer.wte.weight

    def forward(self, tokens):
        inner = self.transformer
        x = inner.wte(tokens) + inner.wpe.weight[:tokens.shape[1]]
        return self.lm_head(inner.ln_f(inner.h(x)))


class RmsNorm(nn.Module):
    def __init__(self, size, eps):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.eps = eps

    def forward(self, x):
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + self.eps) * self.weight


def rotate(x, theta):
    """Element i of each half is the pair of element i of the other."""
    half = x.shape[-1] // 2
    speeds = theta ** -(torch.arange(half, dtype=x.dtype) / half)
    angles = torch.arange(x.shape[-2], dtype=x.dtype)[:, None] * speeds
    first, second = x.chunk(2, -1)
    return torch.cat((first * angles.cos() - second * angles.sin(),
                      second * angles.cos() + first * angles.sin()), -1)


class LlamaLayer(nn.Module):
    def __init__(self, config):
        super().__init__()
        size, inner, eps = config["hidden_size"], config["intermediate_size"], config["rms_norm_eps"]
        self.heads, self.key_heads = config["num_attention_heads"], config["num_key_value_heads"]
        self.theta = config["rope_theta"]
        key_size = size // self.heads * self.key_heads
        self.self_attn = nn.ModuleDict({name: nn.Linear(size, outputs, bias=False) for name, outputs in (
            ("q_proj", size), ("k_proj", key_size), ("v_proj", key_size), ("o_proj", size))})
        self.mlp = nn.ModuleDict({"gate_proj": nn.Linear(size, inner, bias=False),
                                  "up_proj": nn.Linear(size, inner, bias=False),
                                  "down_proj": nn.Linear(inner, size, bias=False)})
        self.input_layernorm = RmsNorm(size, eps)
        self.post_attention_layernorm = RmsNorm(size, eps)

    def forward(self, x):
        attn, mlp = self.self_attn, self.mlp
        y = self.input_layernorm(x)
        query = rotate(split_heads(attn["q_proj"](y), self.heads), self.theta)
        key = rotate(split_heads(attn["k_proj"](y), self.key_heads), self.theta)
        value = split_heads(attn["v_proj"](y), self.key_heads)
        key, value = (part.repeat_interleave(self.heads // self.key_heads, 1) for part in (key, value))
        x = x + attn["o_proj"](attention(query, key, value, True))
        y = self.post_attention_layernorm(x)
        return x + mlp["down_proj"](F.silu(mlp["gate_proj"](y)) * mlp["up_proj"](y))


class Llama(nn.Module):
    """With Hugging Face's names."""

    def __init__(self, **config):
        super().__init__()
        self.model = nn.Module()
        self.model.embed_tokens = nn.Embedding(config["vocab_size"], config["hidden_size"])
        self.model.layers = nn.Sequential(
            *(LlamaLayer(config) for _ in range(config["num_hidden_layers"])))
        self.model.norm = RmsNorm(config["hidden_size"], config["rms_norm_eps"])

    def forward(self, tokens):
        inner = self.model
        return inner.norm(inner.layers(inner.embed_tokens(tokens))) @ inner.embed_tokens.weight.T


class DoubleConv(nn.Module):
    def __init__(self, inputs, outputs, groups):
        super().__init__()
        self.double_conv = nn.Sequential(
            nn.Conv2d(inputs, outputs, 3, padding=1, bias=False), nn.GroupNorm(groups, outputs), nn.ReLU(),
            nn.Conv2d(outputs, outputs, 3, padding=1, bias=False), nn.GroupNorm(groups, outputs), nn.ReLU())

    def forward(self, x):
        return self.double_conv(x)


class Down(nn.Module):
    def __init__(self, inputs, outputs, groups):
        super().__init__()
        self.maxpool_conv = nn.Sequential(nn.MaxPool2d(2), DoubleConv(inputs, outputs, groups))

    def forward(self, x):
        return self.maxpool_conv(x)


class Up(nn.Module):
    def __init__(self, inputs, outputs, groups):
        super().__init__()
        self.up = nn.ConvTranspose2d(inputs, outputs, 2, 2)
        self.conv = DoubleConv(inputs, outputs, groups)

    def forward(self, x, skip):
        x = self.up(x)
        rows, columns = (a - b for a, b in zip(skip.shape[2:], x.shape[2:]))
        x = F.pad(x, (columns // 2, columns - columns // 2, rows // 2, rows - rows // 2))
        return self.conv(torch.cat((skip, x), 1))


class UNet(nn.Module):
    def __init__(self, channels, classes, width, depth, groups):
        super().__init__()
        self.depth = depth
        self.inc = DoubleConv(channels, width, groups)
        for number in range(depth):
            setattr(self, f"down{number + 1}", Down(width << number, width << number + 1, groups))
        for number in range(depth):
            wide = width << depth - number
            setattr(self, f"up{number + 1}", Up(wide, wide // 2, groups))
        self.outc = nn.Module()
        self.outc.conv = nn.Conv2d(width, classes, 1)

    def forward(self, x):
        levels = [self.inc(x)]
        for number in range(self.depth):
            levels.append(getattr(self, f"down{number + 1}")(levels[-1]))
        x = levels.pop()
        for number in range(self.depth):
            x = getattr(self, f"up{number + 1}")(x, levels.pop())
        return self.outc.conv(x)


class LstmTagger(nn.Module):
    def __init__(self, words, tags, d_embedding, d_hidden, layers):
        super().__init__()
        self.embedding = nn.Embedding(words, d_embedding)
        self.lstm = nn.LSTM(d_embedding, d_hidden, layers, batch_first=True, bidirectional=True)
        self.tag = nn.Linear(2 * d_hidden, tags)

    def forward(self, words):
        return F.log_softmax(self.tag(self.lstm(self.embedding(words))[0]), -1)


class ViTBlock(nn.Module):
    def __init__(self, size, heads, ratio):
        super().__init__()
        self.heads = heads
        self.norm1 = nn.LayerNorm(size, 1e-6)
        self.attn = nn.ModuleDict({"qkv": nn.Linear(size, 3 * size), "proj": nn.Linear(size, size)})
        self.norm2 = nn.LayerNorm(size, 1e-6)
        self.mlp = nn.ModuleDict({"fc1": nn.Linear(size, ratio * size), "fc2": nn.Linear(ratio * size, size)})

    def forward(self, x):
        parts = self.attn["qkv"](self.norm1(x)).chunk(3, -1)
        heads = (split_heads(part, self.heads) for part in parts)
        x = x + self.attn["proj"](attention(*heads, False))
        return x + self.mlp["fc2"](F.gelu(self.mlp["fc1"](self.norm2(x))))


class ViT(nn.Module):
    """With timm's names."""

    def __init__(self, img_size, patch_size, num_classes, embed_dim, depth, num_heads, mlp_ratio):
        super().__init__()
        patches = (img_size // patch_size) ** 2
        self.cls_token = nn.Parameter(torch.zeros(1, 1, embed_dim))
        self.pos_embed = nn.Parameter(torch.zeros(1, patches + 1, embed_dim))
        self.patch_embed = nn.ModuleDict({"proj": nn.Conv2d(3, embed_dim, patch_size, patch_size)})
        self.blocks = nn.Sequential(*(ViTBlock(embed_dim, num_heads, mlp_ratio) for _ in range(depth)))
        self.norm = nn.LayerNorm(embed_dim, 1e-6)
        self.head = nn.Linear(embed_dim, num_classes)

    def forward(self, images):
        x = self.patch_embed["proj"](images).flatten(2).transpose(1, 2)
        x = torch.cat((self.cls_token.expand(len(x), -1, -1), x), 1) + self.pos_embed
        return self.head(self.norm(self.blocks(x))[:, 0])


class Translator(nn.Module):
    def __init__(self, source_words, target_words, d_model, nhead, encoder_layers, decoder_layers,
                 dim_feedforward):
        super().__init__()
        self.source_embedding = nn.Embedding(source_words, d_model)
        self.target_embedding = nn.Embedding(target_words, d_model)
        self.transformer = nn.Transformer(d_model, nhead, encoder_layers, decoder_layers, dim_feedforward,
                                          batch_first=True)
        self.generator = nn.Linear(d_model, target_words)

    def embed(self, words, sentence):
        x = words(sentence) * math.sqrt(words.embedding_dim)
        speeds = 10000 ** -(torch.arange(0, x.shape[2], 2, dtype=x.dtype) / x.shape[2])
        angles = torch.arange(x.shape[1], dtype=x.dtype)[:, None] * speeds
        return x + torch.stack((angles.sin(), angles.cos()), 2).flatten(1)

    def forward(self, source, target):
        causal = torch.ones(target.shape[1], target.shape[1], dtype=torch.bool).triu(1)
        x = self.transformer(self.embed(self.source_embedding, source), self.embed(self.target_embedding, target),
                             tgt_mask=causal, src_key_padding_mask=source == 0,
                             tgt_key_padding_mask=target == 0, memory_key_padding_mask=source == 0)
        return self.generator(x)


# For each model: its class, the dtype of small files, and what is small and what is full: the config
# and the shape of the input, which is tokens where it has two dimensions.
MODELS = {
    "mnist_cnn": (MnistCnn, torch.float16,
                  ({"classes": 10}, (2, 1, 28, 28)),
                  ({"classes": 10}, (8, 1, 28, 28))),
    "resnet18": (ResNet18, torch.float16,
                 ({"classes": 10, "width": 3}, (2, 3, 33, 40)),
                 ({"classes": 1000, "width": 64}, (1, 3, 224, 224))),
    "gpt2": (Gpt2, torch.float32,
             ({"vocab_size": 61, "n_positions": 16, "n_embd": 12, "n_layer": 2, "n_head": 2,
               "layer_norm_epsilon": 1e-5}, (2, 11)),
             ({"vocab_size": 50257, "n_positions": 1024, "n_embd": 768, "n_layer": 2, "n_head": 12,
               "layer_norm_epsilon": 1e-5}, (1, 32))),
    "llama": (Llama, torch.bfloat16,
              ({"vocab_size": 67, "max_position_embeddings": 32, "hidden_size": 24, "intermediate_size": 40,
                "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
                "rms_norm_eps": 1e-5, "rope_theta": 10000.0}, (2, 13)),
              ({"vocab_size": 32000, "max_position_embeddings": 2048, "hidden_size": 1024,
                "intermediate_size": 2816, "num_hidden_layers": 2, "num_attention_heads": 16,
                "num_key_value_heads": 4, "rms_norm_eps": 1e-6, "rope_theta": 500000.0}, (1, 48))),
    "unet": (UNet, torch.float32,
             ({"channels": 3, "classes": 2, "width": 4, "depth": 2, "groups": 2}, (2, 3, 18, 22)),
             ({"channels": 3, "classes": 2, "width": 32, "depth": 4, "groups": 8}, (1, 3, 100, 90))),
    "lstm_tagger": (LstmTagger, torch.float32,
                    ({"words": 50, "tags": 7, "d_embedding": 12, "d_hidden": 10, "layers": 2}, (3, 9)),
                    ({"words": 20000, "tags": 17, "d_embedding": 128, "d_hidden": 256, "layers": 2}, (2, 30))),
    "translator": (Translator, torch.float32,
                   ({"source_words": 40, "target_words": 30, "d_model": 12, "nhead": 2, "encoder_layers": 2,
                     "decoder_layers": 2, "dim_feedforward": 20}, (2, 9)),
                   ({"source_words": 8000, "target_words": 6000, "d_model": 512, "nhead": 8, "encoder_layers": 2,
                     "decoder_layers": 2, "dim_feedforward": 2048}, (2, 30))),
    "vit": (ViT, torch.float32,
            ({"img_size": 16, "patch_size": 4, "num_classes": 10, "embed_dim": 18, "depth": 2, "num_heads": 3,
              "mlp_ratio": 2}, (2, 3, 16, 16)),
            ({"img_size": 224, "patch_size": 16, "num_classes": 1000, "embed_dim": 384, "depth": 12,
              "num_heads": 6, "mlp_ratio": 4}, (1, 3, 224, 224))),
}


def randomize(model, random):
    """Gives all parameters and running statistics numbers that matter: no ones, no zeros."""
    for name, tensor in model.state_dict().items():
        if not tensor.is_floating_point():
            continue
        if tensor.dim() > 1:
            bound = math.sqrt(6 * tensor.shape[0] / tensor.numel())
            low, high = -bound, bound
        elif name.endswith("running_var"):
            low, high = 0.5, 2
        elif name.endswith(("bias", "running_mean")) or "bias_" in name:
            low, high = -0.3, 0.3
        else:
            low, high = 0.5, 1.5  # the weight of a norm
        tensor.uniform_(low, high, generator=random)


def make(name, full, folder, changed_config=(), shape=None, dtype=None):
    """Returns the model with f32 weights and its inputs."""
    kind, usual_dtype, *sizes = MODELS[name]
    config = sizes[full][0] | dict(changed_config)
    shape = shape or sizes[full][1]
    random = torch.Generator().manual_seed(zlib.crc32(name.encode()))
    model = kind(**config).eval()
    randomize(model, random)
    if dtype is None and (not full or usual_dtype == torch.bfloat16):
        dtype = usual_dtype
    if dtype is not None:
        model.to(dtype)
    folder.mkdir(parents=True, exist_ok=True)
    torch.save({"config": config, "state_dict": model.state_dict()}, folder / "weights.pt")
    inputs = {"input": torch.rand(shape, generator=random) * 2 - 1}
    if len(shape) == 2:
        words = min(size for what, size in config.items() if what.endswith(("words", "vocab_size")))
        inputs["input"] = torch.randint(1, words, shape, generator=random)
    if kind is Translator:
        inputs["target"] = torch.randint(1, words, (shape[0], shape[1] - 2), generator=random)
        for sentence in inputs.values():
            sentence[0, -3:] = 0  # one sentence is shorter
    wide = [part.double() if part.is_floating_point() else part for part in inputs.values()]
    output = model.double()(*wide)
    torch.save({**inputs, "output": output.float()}, folder / "expected.pt")
    rounded = (model.float()(*inputs.values()) - output).abs().max() / output.abs().max()
    print(f"{name}: output {list(output.shape)} within {output.abs().max():.3g},"
          f" with f32 PyTorch differs by {rounded:.1e}", flush=True)
    return model, list(inputs.values())


@torch.no_grad()
def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--full", action="store_true")
    parser.add_argument("folder", type=pathlib.Path, nargs="?",
                        default=pathlib.Path(__file__).with_name("data"))
    parser.add_argument("models", nargs="*", default=list(MODELS))
    arguments = parser.parse_args()
    for name in arguments.models:
        make(name, arguments.full, arguments.folder / name)


if __name__ == "__main__":
    main()
