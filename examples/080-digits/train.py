# SPDX-License-Identifier: MIT OR Apache-2.0
"""Trains a small network on handwritten digits with the real PyTorch, as any training script does.

usage: train.py DIGITS

DIGITS is the data set as text, one image to a line: 64 grey values from 0 to 16 and the label. README.md
says where to get it. Writes next to this script:

  digits.pt  the checkpoint: epoch, config, accuracy, weights and optimizer
  test.npz   the images that the network has not seen, their labels, and what PyTorch computed for them

Needs torch and numpy. The same release on the same processor gives the same bytes each time.
"""

import pathlib
import sys

import numpy as np
import torch
from torch import nn

CONFIG = {"channels": [16, 32], "hidden": 32, "classes": 10, "lr": 0.05, "batch_size": 32, "seed": 1}
EPOCHS = 20
TRAINING_SHARE = 0.8


class Net(nn.Module):
    def __init__(self, channels, hidden, classes):
        super().__init__()
        first, second = channels
        # Layers without parameters leave gaps in the names: features.0, .1, .4, .5.
        self.features = nn.Sequential(
            nn.Conv2d(1, first, 3, padding=1, bias=False), nn.BatchNorm2d(first), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(first, second, 3, padding=1, bias=False), nn.BatchNorm2d(second), nn.ReLU(), nn.MaxPool2d(2))
        self.classifier = nn.Sequential(
            nn.Linear(second * 2 * 2, hidden), nn.ReLU(), nn.Dropout(0.2), nn.Linear(hidden, classes))

    def forward(self, images):
        return self.classifier(self.features(images).flatten(1))


def split(path):
    """((images, labels) to train with, (images, labels) to test with), in a fixed random order."""
    table = torch.from_numpy(np.loadtxt(path, delimiter=",", dtype=np.uint8))
    table = table[torch.randperm(len(table))]
    images, labels = table[:, :64].reshape(-1, 1, 8, 8), table[:, 64]
    count = int(len(table) * TRAINING_SHARE)
    return (images[:count], labels[:count]), (images[count:], labels[count:])


def as_input(images):
    return images.float() / 16


def train(model, optimizer, images, labels):
    rate = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, EPOCHS)
    for epoch in range(1, EPOCHS + 1):
        model.train()
        total = 0.0
        for batch in torch.randperm(len(labels)).split(CONFIG["batch_size"]):
            loss = nn.functional.cross_entropy(model(as_input(images[batch])), labels[batch].long())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(batch)
        rate.step()
        print(f"epoch {epoch}: loss {total / len(labels):.4f}")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    torch.set_num_threads(1)
    torch.manual_seed(CONFIG["seed"])
    torch.use_deterministic_algorithms(True)
    training, (images, labels) = split(sys.argv[1])
    network = Net(CONFIG["channels"], CONFIG["hidden"], CONFIG["classes"])
    model = nn.DataParallel(network)  # puts "module." before all names
    optimizer = torch.optim.SGD(model.parameters(), lr=CONFIG["lr"], momentum=0.9)
    train(model, optimizer, *training)

    model.eval()
    with torch.no_grad():
        outputs = model(as_input(images))
    correct, total = int((outputs.argmax(1) == labels).sum()), len(labels)
    print(f"test images: {correct} of {total} right, {100 * correct / total:.2f} %")

    folder = pathlib.Path(__file__).resolve().parent
    torch.save({"epoch": EPOCHS, "config": CONFIG, "test_correct": correct, "test_total": total,
                "state_dict": model.state_dict(), "optimizer": optimizer.state_dict()},
               folder / "digits.pt")
    np.savez(folder / "test.npz", images=images.numpy(), labels=labels.numpy(), outputs=outputs.numpy())


if __name__ == "__main__":
    main()
