# SPDX-License-Identifier: MIT OR Apache-2.0
"""Writes tuning/*.json, or only the families that are named as arguments."""
import sys
import warnings

warnings.filterwarnings("ignore")

import tuning_audio  # noqa: E402
import tuning_diffusion  # noqa: E402
import tuning_kinds  # noqa: E402
import tuning_language  # noqa: E402
import tuning_vision  # noqa: E402

for module in (tuning_language, tuning_vision, tuning_audio, tuning_diffusion, tuning_kinds):
    for make in module.makers:
        if len(sys.argv) == 1 or make.__name__ in sys.argv[1:]:
            make()
