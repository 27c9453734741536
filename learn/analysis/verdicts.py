"""What is decided about each model, and the papers' figures beside those that were found."""

from dataclasses import dataclass

WORST = 0.98


@dataclass
class Verdict:
    """A model against its opponents: {opponent: (how many times as fast, the worst case)}; `gate`: whether it keeps what it must."""

    name: str
    against: dict
    gate: bool = True

    @property
    def ships(self):
        return self.gate and all(gain > 1 and worst >= WORST for gain, worst in self.against.values())

    @property
    def words(self):
        against = [f"{gain:.3f} over the {who}, worst {worst:.2f}" for who, (gain, worst) in self.against.items()]
        return "; ".join(against + ([] if self.gate else ["the gate is broken"]))


@dataclass
class Order:
    """An order of candidates: is it a model's, the part of the grids after which 95 % of the best one's speed is found, and what a tenth and
    a quarter find."""

    name: str
    is_learned: bool
    part: float
    tenth: float
    quarter: float


def table(head, rows):
    lines = [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    return "\n".join(lines + [f"| {' | '.join(map(str, row))} |" for row in rows]) + "\n"


def percent(value):
    return f"{100 * value:.1f} %"


def beside(rows):
    """rows: (paper, figure, theirs, ours)."""
    return f"""## Beside the papers

The papers' programs and devices are others; figures here without another word are of models that have not seen the family.

{table(("paper", "figure", "paper's", "here"), rows)}
"""


def decision(verdicts, orders):
    shipped = [one.name for one in verdicts if one.ships]
    words = f"Shipped: {', '.join(shipped)}." if shipped else "No model ships."
    learned, plain = (max((one for one in orders if one.is_learned == which), key=lambda one: one.tenth) for which in (True, False))
    verb = "may order" if learned.tenth > plain.tenth else "does not order"

    def found(one):
        return f"*{one.name}* finds {percent(one.tenth)} of the best grid's speed in a tenth of the grids and {percent(one.quarter)} in a quarter"

    return f"""## What ships

A model ships where it beats the rules on held-out families and no case has less than {WORST} of their speed; the network besides keeps the gate. {words}

{table(("model", "ships", "held-out families"), [(one.name, "yes" if one.ships else "no", one.words) for one in verdicts])}
Of the orders of `tune`'s candidates {found(learned)} (95 % from {percent(learned.part)} on); the best one without a
model, {found(plain)} (95 % from {percent(plain.part)} on): a model {verb} candidates.
"""
