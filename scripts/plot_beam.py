#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws a run of newel-beam: how the body rings as a moving picture, its record and its tones.

    newel-beam --output-every 2e-4 --out fork
    scripts/plot_beam.py fork [--out pictures] [--scale TIMES] [--frames N] [--periods N]

Writes beam_ringing.gif and beam_tones.png into the folder of the run or into --out. The moving picture shows periods
of the strongest tone after the strike, with displacements drawn so many times as large (default: 3 % of the body).
Needs matplotlib (and numpy and Pillow, which come with it).
"""
import argparse
import json
import pathlib
import sys

from plot_needs import need

need("matplotlib", "numpy", "PIL")
import matplotlib  # noqa: E402

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402
from PIL import Image  # noqa: E402

from heart_run import NoRun, Vtu, series_of  # noqa: E402
from heart_view import Camera, View, boundary_triangles  # noqa: E402

INK = "#333333"
COLOURS = matplotlib.colormaps["viridis"]


class Run:
    """times of the frames, s; points (n, 3), m, and tets; the record by column name; the report."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.times, self._files = series_of(self.folder / "beam.pvd", "newel-beam")
        try:
            self.report = json.loads((self.folder / "report.json").read_text())
            self.record = np.genfromtxt(self.folder / "record.csv", delimiter=",", names=True)
        except (OSError, ValueError) as error:
            raise NoRun(f"{self.folder}: not the folder of a finished newel-beam run: {error}") from None
        if self.report.get("program") != "newel-beam" or not self.report["strikes"]:
            raise NoRun(f"{self.folder}: the run of newel-beam has not finished")
        first = Vtu(self._files[0])
        self.points, self.tets = first.points(), first.tets()
        self.tones = self.report["strikes"][0]["tones"]
        self.struck = self.report["params"]["strike"]["seconds"]

    def displacement(self, frame):
        return Vtu(self._files[frame]).vectors("displacement")

    def moved(self):
        """The column of the first probe that moves most: its name and values in m."""
        names = self.record.dtype.names[3:6]
        return max(((name, self.record[name]) for name in names), key=lambda pair: np.ptp(pair[1]))


def save(figure, path):
    figure.savefig(path, metadata={"Software": None}, dpi=150)
    plt.close(figure)
    print("written:", path)


def draw_tones(run, path):
    """The record above, its spectrum below, with the frequencies of theory."""
    name, values = run.moved()
    time = run.record["time"]
    figure, (above, below) = plt.subplots(2, 1, figsize=(8, 5))
    above.plot(1e3 * time, 1e3 * values, lw=0.8, color="#4477aa")
    above.set(xlabel="time, ms", ylabel=f"{name[0]} of the probe, mm", xlim=(0, 1e3 * time[-1]))
    free = time >= run.struck
    ringing = values[free] - values[free].mean()
    strength = abs(np.fft.rfft(ringing * np.hanning(len(ringing)), 8 * len(ringing))) * 4 / len(ringing)
    step = time[1] - time[0]
    hertz = np.tan(np.pi * np.fft.rfftfreq(8 * len(ringing), step) * step) / (np.pi * step)  # as the report does
    below.semilogy(hertz, 1e3 * strength, lw=0.8, color="#4477aa")
    top = 1e3 * strength.max()
    most = 2.2 * max(tone["frequency"] for tone in run.tones[:2]) if run.tones else 0.5 / step
    for tone in run.tones[:3]:
        below.annotate(f"{tone['frequency']:.1f} Hz", (tone["frequency"], 1e3 * tone["amplitude"]), fontsize=8,
                       xytext=(5, 2), textcoords="offset points")
    for k, theory in enumerate((run.report.get("theory") or {}).get("timoshenko", [])):
        below.axvline(theory, color="#ee6677", lw=0.8, ls="--", label="theory of bars" if k == 0 else None)
    below.set(xlabel="frequency, Hz", ylabel="amplitude, mm", xlim=(0, most), ylim=(1e-6 * top, 4 * top))
    below.legend(frameon=False, fontsize=8, loc="upper right")
    for axis in (above, below):
        axis.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    save(figure, path)


class Ringing:
    """Draws the body of one frame after the other, enlarged, and where the record is then."""

    def __init__(self, run, frames, scale, width):
        self.run = run
        self.surface = boundary_triangles(run.tets, len(run.points))
        self.moves = [run.displacement(frame) for frame in frames]
        largest = max(np.linalg.norm(move, axis=1).max() for move in self.moves)
        extent = np.ptp(run.points, axis=0)
        self.scale = scale or 0.03 * extent.max() / largest
        self.largest = largest
        self.lying = extent[2] < max(extent[0], extent[1])
        self.camera = Camera(np.array([0, 0, 1.0]), np.array([0.35, -1.0, 0.0]), 12)
        seen = np.concatenate([self.camera.see(self.shape(move)) for move in self.moves])[:, :2]
        low, high = seen.min(axis=0), seen.max(axis=0)
        margin = 0.04 * (high - low).max()
        self.frame = np.stack([low - margin, high + margin], 1).ravel()
        tall = (self.frame[3] - self.frame[2]) / (self.frame[1] - self.frame[0])
        self.size = (width, round(width * tall)) if self.lying else (round(1.6 * width / tall), round(1.6 * width))

    def shape(self, move):
        return self.run.points + self.scale * move

    def picture(self, move):
        view = View(self.shape(move), self.run.tets, self.surface, self.camera, self.frame, self.size, sharp=2)
        amount = view.values(np.linalg.norm(move, axis=1)) / self.largest
        return np.asarray(view.picture(COLOURS(0.1 + 0.85 * np.clip(amount, 0, 1))[:, :3]))

    def draw(self, times, path):
        name, values = self.run.moved()
        clock = self.run.record["time"]
        shown = (clock >= times[0]) & (clock <= times[-1])
        width, height = self.size
        figure = plt.figure(figsize=(max(width, 320) / 100, (height + 120) / 100), dpi=100)
        body = figure.add_axes([0, 120 / (height + 120), 1, height / (height + 120)])
        body.axis("off")
        trace = figure.add_axes([0.17, 45 / (height + 120), 0.78, 60 / (height + 120)])
        trace.plot(1e3 * clock[shown], 1e3 * values[shown], color="#4477aa", lw=1.2)
        trace.set_xlim(1e3 * times[0], 1e3 * times[-1])
        trace.spines[["top", "right"]].set_visible(False)
        trace.tick_params(labelsize=8)
        trace.set_xlabel("ms", fontsize=8, labelpad=1)
        trace.set_ylabel(f"{name[0]}, mm", fontsize=8)
        cursor = trace.axvline(1e3 * times[0], color=INK, lw=1)
        pictures, image = [], None
        for move, time in zip(self.moves, times):
            picture = self.picture(move)
            if image is None:
                image = body.imshow(picture, interpolation="nearest")
            image.set_data(picture)
            cursor.set_xdata([1e3 * time, 1e3 * time])
            figure.canvas.draw()
            frame = Image.fromarray(np.asarray(figure.canvas.buffer_rgba())[..., :3])
            pictures.append(frame.quantize(128, dither=Image.Dither.NONE))
        plt.close(figure)
        pictures[0].save(path, save_all=True, append_images=pictures[1:], loop=0, duration=60, optimize=False)
        print(f"written: {path} (displacements {self.scale:.0f} times as large)")


def frames_of(run, count, periods):
    """Frames over so many periods of the strongest tone after the strike, evenly, at most `count`."""
    if not run.tones:
        raise NoRun(f"{run.folder}: the record has no tone")
    first = int(np.searchsorted(run.times, run.struck))
    end = run.times[min(first, len(run.times) - 1)] + periods / run.tones[0]["frequency"]
    inside = [k for k in range(first, len(run.times)) if run.times[k] < end]
    if len(inside) < 2:
        raise NoRun(f"{run.folder}: fewer than two frames after the strike; run newel-beam with --output-every 2e-4")
    return sorted({inside[int(k)] for k in np.linspace(0, len(inside) - 1, min(count, len(inside)))})


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path, help="of the run: the --out of newel-beam")
    parser.add_argument("--out", type=pathlib.Path, help="folder for the pictures; default: that of the run")
    parser.add_argument("--scale", type=float, help="of the displacements; default: at most 3 %% of the body")
    parser.add_argument("--frames", type=int, default=46, help="of the moving picture at most, default %(default)s")
    parser.add_argument("--periods", type=int, default=2, help="of the strongest tone, default %(default)s")
    parser.add_argument("--width", type=int, default=320, help="of the moving picture, pixels, default %(default)s")
    arguments = parser.parse_args()
    if arguments.frames < 2 or arguments.periods < 1 or arguments.width < 100:
        parser.error("--frames takes 2 or more, --periods 1 or more, --width 100 or more")
    out = arguments.out or arguments.folder
    plt.rcParams.update({"font.size": 9, "text.color": INK, "axes.labelcolor": INK, "axes.edgecolor": INK,
                         "xtick.color": INK, "ytick.color": INK})
    try:
        run = Run(arguments.folder)
        out.mkdir(parents=True, exist_ok=True)
        draw_tones(run, out / "beam_tones.png")
        frames = frames_of(run, arguments.frames, arguments.periods)
        Ringing(run, frames, arguments.scale, arguments.width).draw(run.times[frames], out / "beam_ringing.gif")
    except (NoRun, OSError) as error:
        sys.exit(f"plot_beam: {error}")


if __name__ == "__main__":
    main()
