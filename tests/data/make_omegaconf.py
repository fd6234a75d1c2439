# SPDX-License-Identifier: MIT OR Apache-2.0
"""Writes omegaconf-VERSION/, and what OmegaConf reads in it.

usage: make_omegaconf.py FOLDER
"""

import dataclasses
import pathlib
import pickle
import shutil
import sys
import typing

import omegaconf
from omegaconf import MISSING, OmegaConf

from truth import write_truth


@dataclasses.dataclass
class Optimizer:
    name: str = "adamw"
    lr: float = 0.001
    steps: int = 1000
    nesterov: bool = False
    betas: typing.List[float] = dataclasses.field(default_factory=lambda: [0.9, 0.95])
    schedule: typing.Optional[str] = None
    seed: int = MISSING


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    release = ".".join(omegaconf.__version__.split(".")[:2])
    folder = pathlib.Path(sys.argv[1]) / f"omegaconf-{release}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    config = OmegaConf.create({
        "model": {"width": 8, "heads": [2, 4], "blocks": [{"kind": "conv"}, {"kind": "attention", "bias": True}],
                  "none": None, "empty": {}},
        "optimizer": OmegaConf.structured(Optimizer),
        "width_again": "${model.width}",
    })
    # As Lightning keeps it, in the protocol of torch.save.
    checkpoint = {"epoch": 3, "pytorch-lightning_version": "2.5.0", "hparams_name": "cfg", "hyper_parameters": config}
    path = folder / "lightning.pkl"
    path.write_bytes(pickle.dumps(checkpoint, protocol=2))
    read = pickle.loads(path.read_bytes())["hyper_parameters"]
    write_truth(folder, {path.name: {"hyper_parameters": OmegaConf.to_container(read)}})
    print(f"{folder.name}: 1 file, OmegaConf {omegaconf.__version__}")


if __name__ == "__main__":
    main()
