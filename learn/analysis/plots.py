"""The figures in the papers' form, as SVG that is the same in every run."""

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt
import numpy
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.metrics import silhouette_score
from sklearn.preprocessing import StandardScaler

from data import static_features

matplotlib.rcParams.update({"svg.hashsalt": "ompsplit", "svg.fonttype": "none", "font.size": 8, "axes.spines.top": False, "axes.spines.right": False,
                            "figure.constrained_layout.use": True})
MARKS = {"llvm": ("o", "black"), "rules": ("*", "tab:red"), "lloyd": ("s", "tab:blue"), "forest": ("^", "tab:green")}


def save(figure, path):
    figure.savefig(path, metadata={"Date": None, "Creator": "ompsplit learn"})
    plt.close(figure)


def times(path, shown):
    """Time over grids, with the choices marked (Lloyd 2018, Figure 1). shown: (case, {who: grid})."""
    figure, axes = plt.subplots(2, (len(shown) + 1) // 2, figsize=(10, 5.5))
    for axis, (case, choices) in zip(axes.flat, shown):
        by_threads = {}
        for grid, us in sorted(case.plain.items()):
            by_threads.setdefault(grid.threads, []).append((grid.teams, us))
        colours = plt.cm.viridis(numpy.linspace(0, 0.95, len(by_threads)))
        for colour, (threads, points) in zip(colours, by_threads.items()):
            axis.plot(*zip(*points), color=colour, linewidth=0.8, marker=".", markersize=2, label=str(threads))
        for who, grid in choices.items():
            mark, colour = MARKS[who]
            teams = grid.teams or case.launched[grid][1]
            axis.plot([teams], [case.times[grid]], mark, color=colour, markersize=6, markerfacecolor="none" if who == "llvm" else colour)
        axis.set(xscale="log", yscale="log", title=case.name)
    for axis in axes[:, 0]:
        axis.set_ylabel("microseconds")
    for axis in axes[-1]:
        axis.set_xlabel("blocks")
    handles = [plt.Line2D([], [], marker=mark, color=colour, linestyle="", label=who) for who, (mark, colour) in MARKS.items()]
    axes.flat[0].legend(title="threads", fontsize=5, title_fontsize=5, ncols=2)
    figure.legend(handles=handles, loc="outside lower center", ncols=4, frameon=False)
    save(figure, path)


def searched(path, fractions, curves):
    """How close the best grid found comes, over the part that was searched."""
    figure, axis = plt.subplots(figsize=(5, 3.4))
    for name, values in curves.items():
        axis.plot(100 * numpy.asarray(fractions), 100 * numpy.asarray(values), label=name, linewidth=1.2)
    axis.axhline(95, color="gray", linewidth=0.6, linestyle=":")
    axis.set(xlabel="% of the grids measured", ylabel="% of the best grid's speed (geometric mean)", xscale="log")
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
    figure, axis = plt.subplots(figsize=(6.5, 5))
    best = [min(case.plain, key=case.plain.get).threads for case in cases]
    colours = plt.cm.tab20(labels % 20)
    for case, (x, y), colour, threads in zip(cases, places[:, :2], colours, best):
        axis.scatter([x], [y], color=[colour], s=8)
        axis.annotate(str(threads), (x, y), fontsize=4, xytext=(1.5, 1.5), textcoords="offset points")
    part = 100 * pca.explained_variance_ratio_
    axis.set(xlabel=f"first component, {part[0]:.0f} %", ylabel=f"second component, {part[1]:.0f} %",
             title="kernels by their static features; a number is the best size of a block, a colour a cluster")
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
    figure, axes = plt.subplots(3, (len(names) + 2) // 3, figsize=(10, 6), sharex=True)
    for axis, family in zip(axes.flat, names):
        for one in series:
            if one.case.family == family:
                axis.plot(*zip(*sorted(one.speedups.items())), color="tab:blue" if one.axis == "x" else "tab:orange", linewidth=0.7, alpha=0.8)
        axis.axhline(1, color="gray", linewidth=0.5)
        axis.set(xscale="log", yscale="log", title=family)
        axis.set_xticks([1, 2, 4, 8, 16], ["1", "2", "4", "8", "16"])
        axis.minorticks_off()
    for axis in axes.flat[len(names):]:
        axis.remove()
    handles = [plt.Line2D([], [], color=colour, label=label) for colour, label in (("tab:blue", "along the threads"), ("tab:orange", "along the other loop"))]
    figure.legend(handles=handles, loc="outside lower center", ncols=2, frameon=False)
    save(figure, path)
