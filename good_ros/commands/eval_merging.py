"""``good eval merging``: how well goals that mean the same are found."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any


def add_to(measures: Any) -> None:
    """Add the subcommand to those of ``good eval``."""
    merging = measures.add_parser(
        "merging", help="whether near-duplicates among goals are found, by words and by a model"
    )
    merging.add_argument("--model", default="", help="scores as well; empty for words alone")
    merging.add_argument("--threshold", type=float, default=0.9, help="as of ScoredSameness")
    merging.add_argument("--json", action="store_true", help="one JSON object as the last line")
    merging.set_defaults(command=_merging)


def _merging(options: argparse.Namespace) -> int:
    from good_ros.experiments.merging import load_pairs, measure, wrong
    from good_ros.inference.backends import make_scorer
    from good_ros.inference.sameness import Same, ScoredSameness, same_words

    pairs = load_pairs()
    measures: dict[str, Any] = {}
    judges: dict[str, Same] = {"words": same_words}
    scorer = make_scorer(options.model) if options.model else None
    if scorer is not None:
        scorer.self_test()
        judges["scorer"] = ScoredSameness(scorer, options.threshold)
    try:
        for name, same in judges.items():
            mistaken = wrong(pairs, same)
            for pair in mistaken:
                kind = "missed" if pair.same else "wrongly the same"
                print(f"{name}: {kind}: {pair.first} | {pair.second}", file=sys.stderr)
            measures[name] = measure(pairs, mistaken).as_json()
    finally:
        if scorer is not None:
            scorer.close()
    if options.json:
        print(json.dumps(measures))
    else:
        for name, result in measures.items():
            print(f"{name:8} n {result['n']}", end="")
            print(f", precision {result['precision']:.2f}, recall {result['recall']:.2f}")
    return 0
