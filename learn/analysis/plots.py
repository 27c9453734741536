"""The figures in the papers' form, as SVG that is the same in every run."""

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt
import numpy
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.metrics import silhouette_score
from sklearn.preprocessing import StandardScaler

from data import static_features

matplotlib.rcParams.update({"svg.hashsalt": "ompsplit", "svg.fonttype": "none", "font.size": 8, "axes.spines.top": False, "axes.spines.right": False,
                            "figure.constrained_layout.use": True})
# Hollow, each larger than those inside it, so that choices that fall together are seen.
MARKS = {"llvm": ("o", "black", 6), "rules": ("D", "tab:red", 9), "lloyd": ("s", "tab:blue", 12), "forest": ("^", "tab:green", 15)}
SIZES = (1, 2, 4, 8, 16, 32, 64, 96, 128, 256, 512, 1024)
CLUSTERS = "os^vD<>PX*hdp"


def save(figure, path):
    figure.savefig(path, metadata={"Date": None, "Creator": "ompsplit learn"})
    plt.close(figure)


def plain_numbers(axis, steps):
    """A logarithmic axis with numbers as one writes them, at some steps of each decade."""
    axis.set_major_locator(LogLocator(subs=steps, numticks=12))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.0f}" if value >= 1 else f"{value:g}"))
    axis.set_minor_locator(NullLocator())
    axis.set_minor_formatter(NullFormatter())


def times(path, shown):
    """Time over grids, with the choices marked (Lloyd 2018, Figure 1). shown: (case, {who: grid})."""
    figure, axes = plt.subplots(2, (len(shown) + 1) // 2, figsize=(11, 6.5))
    for axis, (case, choices) in zip(axes.flat, shown):
        by_threads = {}
        for grid, us in sorted(case.plain.items()):
            by_threads.setdefault(grid.threads, []).append((grid.teams, us))
        colours = dict(zip(SIZES, plt.cm.viridis(numpy.linspace(0, 0.95, len(SIZES)))))
        for threads, points in by_threads.items():
            axis.plot(*zip(*points), color=colours[threads], linewidth=0.8, marker=".", markersize=2)
        for who, grid in choices.items():
            mark, colour, size = MARKS[who]
            teams = grid.teams or case.launched[grid][1]
            axis.plot([teams], [case.times[grid]], mark, color=colour, markersize=size, markerfacecolor="none", markeredgewidth=1.2)
        axis.set(xscale="log", yscale="log", title=case.name.removesuffix("x1").removesuffix("x1"))
        plain_numbers(axis.yaxis, (1, 2, 5))
        plain_numbers(axis.xaxis, (1,))
    for axis in axes[:, 0]:
        axis.set_ylabel("microseconds")
    for axis in axes[-1]:
        axis.set_xlabel("blocks")
    handles = [plt.Line2D([], [], marker=mark, color=colour, markersize=min(size, 10), markerfacecolor="none", linestyle="", label=who)
               for who, (mark, colour, size) in MARKS.items()]
    lines = [plt.Line2D([], [], color=colour, label=f"{threads}")
             for colour, threads in zip(plt.cm.viridis(numpy.linspace(0, 0.95, len(SIZES))), SIZES)]
    figure.legend(handles=handles, loc="outside lower center", ncols=4, frameon=False)
    figure.legend(handles=lines, loc="outside right upper", title="threads", frameon=False)
    save(figure, path)


def searched(path, fractions, curves):
    """How close the best grid found comes, over the part that was searched."""
    figure, axis = plt.subplots(figsize=(6.5, 4.5))
    for name, values in curves.items():
        axis.plot(100 * numpy.asarray(fractions), 100 * numpy.asarray(values), label=name, linewidth=1.2)
    axis.axhline(95, color="gray", linewidth=0.6, linestyle=":")
    axis.set(xlabel="% of the grids measured", ylabel="% of the best grid's speed (geometric mean)", xscale="log")
    axis.set_ylim(top=101)
    plain_numbers(axis.xaxis, (1, 2, 5))
    axis.legend(frameon=False)
    save(figure, path)


def clusters(cases):
    """Principal components of the static features, and clusters whose number has the best silhouette (Connors 2017, section VI.D)."""
    rows = numpy.array([list(static_features(case).values()) for case in cases])
    rows = StandardScaler().fit_transform(rows[:, rows.std(axis=0) > 1e-9])
    pca = PCA(random_state=1).fit(rows)
    labels = {count: KMeans(count, n_init=10, random_state=1).fit_predict(rows) for count in range(2, 13)}
    scores = {count: silhouette_score(rows, one) for count, one in labels.items()}
    best = max(scores, key=scores.get)
    return pca, pca.transform(rows), labels[best], scores[best]


def components(path, cases, found):
    """The kernels in the plane of the first two components (Connors 2017, Figure 5)."""
    pca, places, labels, _ = found
    figure, axis = plt.subplots(figsize=(8, 6))
    best = numpy.array([min(case.plain, key=case.plain.get).threads for case in cases])
    for cluster in sorted(set(labels.tolist())):
        own = labels == cluster
        shown = axis.scatter(*places[own, :2].T, c=numpy.log2(best[own]), vmin=0, vmax=10, cmap="turbo", marker=CLUSTERS[cluster], s=26, linewidths=0.3, edgecolors="black")
    bar = figure.colorbar(shown, ax=axis, label="threads of the best grid's blocks")
    bar.set_ticks(range(11), labels=[str(2**power) for power in range(11)])
    part = 100 * pca.explained_variance_ratio_
    axis.set(xlabel=f"first component, {part[0]:.0f} %", ylabel=f"second component, {part[1]:.0f} %",
             title="kernels at their sizes by static features; a shape is a cluster")
    save(figure, path)


def importance(path, names, values):
    """How much each feature matters to the forest."""
    order = numpy.argsort(values)[-20:]
    figure, axis = plt.subplots(figsize=(5, 4))
    axis.barh([names[index] for index in order], values[order], color="tab:blue")
    axis.set(xlabel="importance in the forest of all families")
    save(figure, path)


def factors(path, series):
    """Speedup over the coarsening factor, best grid against best grid (Magni 2015, Figure 5.4)."""
    names = sorted({one.case.family for one in series})
    figure, axes = plt.subplots(3, (len(names) + 2) // 3, figsize=(11, 7), sharex=True, sharey=True)
    for axis, family in zip(axes.flat, names):
        for one in series:
            if one.case.family == family:
                axis.plot(*zip(*sorted(one.speedups.items())), color="tab:blue" if one.axis == "x" else "tab:orange", linewidth=0.7, alpha=0.8)
        axis.axhline(1, color="gray", linewidth=0.5)
        axis.set(xscale="log", yscale="log", title=family)
        axis.set_xticks([1, 2, 4, 8, 16], ["1", "2", "4", "8", "16"])
        axis.set_yticks([0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10], ["0.05", "0.1", "0.2", "0.5", "1", "2", "5", "10"])
        axis.minorticks_off()
    for axis in axes.flat[len(names):]:
        axis.remove()
    for axis in axes[-1]:
        axis.set_xlabel("coarsening factor")
    figure.supylabel("speedup, best grid over best grid")
    handles = [plt.Line2D([], [], color=colour, label=label) for colour, label in (("tab:blue", "along the threads"), ("tab:orange", "along the other loop"))]
    figure.legend(handles=handles, loc="outside lower center", ncols=2, frameon=False)
    save(figure, path)
