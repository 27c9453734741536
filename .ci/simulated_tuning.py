"""usage: simulated_tuning.py SPACES RESULTS [STRATEGY]

Gives the spaces that `ompsplit tune --emit-kernel-tuner SPACES` wrote to Kernel Tuner, in its simulation mode, which takes the time of a
configuration from a file instead of a GPU: those that were measured, or else predicted. What it finds for all kernels goes to RESULTS in its
T4 form, for `ompsplit tune --read-kernel-tuner RESULTS`.
"""

import json
import pathlib
import sys
import tempfile

from kernel_tuner import tune_kernel
from kernel_tuner.file_utils import get_t4_results


def tuned(space, strategy):
    """All configurations of one kernel that the strategy tried."""
    parameters = space["tune_params"]
    known = {tuple(one[name] for name in parameters): one["time"] for one in space["configurations"] if one["time"]}
    times = ["compile_time", "verification_time", "benchmark_time", "strategy_time", "framework_time"]

    def entry(values, time):
        own = dict(zip(parameters, values), time=time, times=[time], timestamp="2026-01-01 00:00:00+00:00")
        return own | {name: 0 for name in times}

    cache = {",".join(map(str, values)): entry(values, time) for values, time in known.items()}
    header = {
        "device_name": "Simulation",
        "kernel_name": space["kernel"],
        "problem_size": [1],
        "tune_params_keys": list(parameters),
        "tune_params": parameters,
        "cache": cache,
    }
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "cache.json")
        path.write_text(json.dumps(header))

        # Only what the tool found legal is in the space.
        def legal(kernel, form, threads, teams):
            return (kernel, form, threads, teams) in known

        found, _ = tune_kernel(
            space["kernel"],
            "",
            [1],
            [],
            parameters,
            restrictions=legal,
            lang="C",
            cache=str(path),
            simulation_mode=True,
            strategy=strategy,
            strategy_options=None if strategy == "brute_force" else {"max_fevals": 100},
            quiet=True,
        )
    return get_t4_results(found, parameters)


def main():
    spaces, results = map(pathlib.Path, sys.argv[1:3])
    strategy = sys.argv[3] if len(sys.argv) > 3 else "brute_force"
    all_found = [tuned(space, strategy) for space in json.loads(spaces.read_text())["kernels"]]
    together = dict(all_found[0], results=[one for found in all_found for one in found["results"]])
    results.write_text(json.dumps(together, default=str))


main()
