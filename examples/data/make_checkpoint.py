# SPDX-License-Identifier: MIT OR Apache-2.0
"""Makes checkpoint.pt, which examples and documents import, with the real PyTorch: a small
classifier as a training script saves it, on several devices and with its optimizer. Needs torch;
release 1.13 gives the same bytes each time.
"""

import pathlib

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, classes):
        super().__init__()
        # Layers without parameters leave gaps in the numbers: features.0, .1, .3, .4.
        self.features = nn.Sequential(
            nn.Conv2d(1, 4, 3, bias=False), nn.BatchNorm2d(4), nn.ReLU(),
            nn.Conv2d(4, 8, 3, bias=False), nn.BatchNorm2d(8), nn.ReLU())
        self.classifier = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, classes))

    def forward(self, images):
        return self.classifier(self.features(images).mean((2, 3)))


def main():
    torch.manual_seed(1)
    config = {"classes": 10, "lr": 0.05, "labels": [str(digit) for digit in range(10)]}
    model = nn.DataParallel(Net(config["classes"]))  # puts "module." before all names
    optimizer = torch.optim.SGD(model.parameters(), lr=config["lr"], momentum=0.9)
    # Stands for training, whose numbers differ from one processor to the next.
    for module in model.modules():
        if isinstance(module, nn.BatchNorm2d):
            module.running_mean.uniform_(-1, 1)
            module.running_var.uniform_(0.5, 2)
            module.num_batches_tracked.fill_(128)
    for parameter in model.parameters():
        optimizer.state[parameter]["momentum_buffer"] = parameter.detach() / 8
    checkpoint = {"epoch": 3, "config": config, "state_dict": model.state_dict(),
                  "optimizer": optimizer.state_dict()}
    torch.save(checkpoint, pathlib.Path(__file__).with_name("checkpoint.pt"))


if __name__ == "__main__":
    main()
