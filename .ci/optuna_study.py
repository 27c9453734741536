"""usage: optuna_study.py SPACES RESULTS [TRIALS] [COMMAND]

Runs an Optuna study of each kernel in the spaces that `ompsplit tune --emit-kernel-tuner SPACES` wrote, of so many trials (100 without a
number). A trial's time is what the file says, measured or else predicted; or COMMAND is run by a shell with FORM, THREADS and TEAMS in its
environment, and prints the milliseconds in its last line. What was tried goes to RESULTS, for `ompsplit tune --read-kernel-tuner RESULTS`.
"""

import json
import os
import pathlib
import subprocess
import sys

import optuna


def measured(configuration, command):
    """Milliseconds; nothing where the command fails."""
    own = {name.upper(): str(configuration[name]) for name in ("kernel", "form", "threads", "teams")}
    ran = subprocess.run(command, shell=True, env=os.environ | own, capture_output=True, text=True, check=False)
    return float(ran.stdout.split()[-1]) if ran.returncode == 0 and ran.stdout.split() else None


def suggested(trial, legal):
    """One legal configuration: each parameter is asked for among the values that those before it leave."""
    chosen = []
    for name in ("form", "threads", "teams"):
        values = sorted({one[name] for one in legal}, key=str)
        value = trial.suggest_categorical(" ".join([name, *chosen]), values) if len(values) > 1 else values[0]
        legal = [one for one in legal if one[name] == value]
        chosen.append(str(value))
    return legal[0]


def tuned(space, trials, command):
    """All configurations of one kernel that were tried, each once."""
    legal = [one for one in space["configurations"] if command or one["time"]]
    found = {}

    def objective(trial):
        one = suggested(trial, legal)
        key = (one["form"], one["threads"], one["teams"])
        if key not in found:
            found[key] = one, measured(one, command) if command else one["time"]
        time = found[key][1]
        if time is None:
            raise optuna.TrialPruned
        return time

    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=1))
    study.optimize(objective, n_trials=trials)
    return list(found.values())


def result(one, time):
    """A result as Kernel Tuner's T4 form has it."""
    configuration = {name: one[name] for name in ("kernel", "form", "threads", "teams")}
    measurements = [] if time is None else [{"name": "time", "value": time, "unit": "ms"}]
    return {"configuration": configuration, "invalidity": "runtime" if time is None else "correct", "measurements": measurements}


def main():
    spaces, results = map(pathlib.Path, sys.argv[1:3])
    trials = int(sys.argv[3]) if len(sys.argv) > 3 else 100
    command = sys.argv[4] if len(sys.argv) > 4 else None
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    all_found = [tuned(space, trials, command) for space in json.loads(spaces.read_text())["kernels"]]
    together = [result(one, time) for found in all_found for one, time in found]
    results.write_text(json.dumps({"schema_version": "1.0.0", "results": together}))


main()
