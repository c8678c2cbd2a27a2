"""The table of docs/faults.md: flips by kind, and how many changed the candidates unseen.

    cd tests && python -m faults.table [--trials 5000] [--seed 1] [--only WORDS]

A trial on the emulated device takes a hundred times longer, so a hundredth of them is made there.
"""

from __future__ import annotations

import argparse

from faults import device, flips
from faults.flips import Rates

TITLES = ("what is flipped", "flips", "found", "change the candidates", "of these escape", "in %")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="kinds whose name has these words")
    options = parser.parse_args()
    print(f"| {' | '.join((*TITLES, 'and the double check'))} |")
    print("| --- " * (len(TITLES) + 1) + "|")
    for kinds in (flips.PERSISTENT, flips.BUFFERS, flips.OF_ONE_FRACTION):
        for name, kind in kinds.items():
            if options.only in name:
                with flips.injected() as kernels:
                    _print(name, flips.rates_of(kernels, kind, options.trials, options.seed))
    with device.emulated() as (engine, _):
        for name, flip in device.LISTS.items():
            if options.only in name:
                trials = max(1, options.trials // 100)
                _print(name, device.rates_of(engine, flip, trials, options.seed))


def _print(name: str, rates: Rates) -> None:
    share = f"{100 * rates.escaped / rates.changed:.2f}" if rates.changed else "-"
    cells = (name, rates.trials, rates.alarms, rates.changed, rates.escaped, share)
    print(f"| {' | '.join(map(str, (*cells, rates.same_twice)))} |", flush=True)


if __name__ == "__main__":
    main()
