#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws a run of newel-heart: activation times, the wave of voltage, electrograms, and the wave as a moving picture.

    newel-heart --output-every 2 --out beat
    scripts/plot_heart.py beat [--out pictures] [--gif wave.gif] [--up X,Y,Z] [--turn DEGREES] [--tilt DEGREES]

Writes heart_activation.png, heart_wave.png, heart_electrograms.png and heart_wave.gif into the folder of the run or
into --out. The heart is seen from outside and cut open along its long axis, its base upwards; --up gives another
axis. Needs matplotlib (and numpy and Pillow, which come with it).
"""
import argparse
import pathlib
import sys

from plot_needs import need

need("matplotlib", "numpy", "PIL")
import matplotlib  # noqa: E402

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402
from matplotlib.cm import ScalarMappable  # noqa: E402
from matplotlib.collections import LineCollection  # noqa: E402
from matplotlib.colors import LinearSegmentedColormap, Normalize  # noqa: E402
from matplotlib.lines import Line2D  # noqa: E402
from PIL import Image  # noqa: E402

from heart_run import NoRun, Run  # noqa: E402
from heart_view import DARKEST, Camera, View, across, boundary_triangles, long_axis  # noqa: E402

GREY = np.array([0.78, 0.78, 0.78])  # where the wave has not been
INK = "#333333"
# Parts of maps of even perceived steps; their darkest ends would swallow the shading.
VOLTAGE = LinearSegmentedColormap.from_list("voltage", matplotlib.colormaps["magma"](np.linspace(0.2, 0.97, 256)))
ACTIVATION = LinearSegmentedColormap.from_list("activation",
                                               matplotlib.colormaps["viridis_r"](np.linspace(0, 0.95, 256)))
REST, PEAK = -80, 20  # mV, of the model
LINES = ["#4477aa", "#ee6677", "#228833", "#ccaa22", "#55bbdd", "#aa3377"]  # distinguishable for the colour-blind too
BAYER = np.array([[0, 8, 2, 10], [12, 4, 14, 6], [3, 11, 1, 9], [15, 7, 13, 5]]) / 16 - 0.5


class Scene:
    """The heart before the camera: views of any size, whole or cut open, all in the same frame."""

    def __init__(self, run, up=None, turn=0.0, tilt=24.0):
        self.run = run
        self.surface = boundary_triangles(run.tets, len(run.points))
        skin = run.points[np.unique(self.surface)]
        if up is None:
            through = run.transmural[self.surface]  # the base lies between the inner and the outer surface
            on_base = (through.max(axis=1) > 1e-3) & (through.min(axis=1) < 1 - 1e-3)
            up = long_axis(run.points, self.surface, on_base)
        self.up, self.tilt = up / np.linalg.norm(up), tilt
        wide, narrow = across(skin, self.up)
        angle = np.radians(turn)
        self.middle = run.points.mean(axis=0)
        self.toward = np.cos(angle) * narrow + np.sin(angle) * wide
        self.camera = Camera(self.up, self.toward, tilt)
        self.frame = self._frame(self.camera)

    def _frame(self, camera):
        seen = camera.see(self.run.points[self.surface.ravel()])[:, :2]
        low, high = seen.min(axis=0), seen.max(axis=0)
        margin = 0.02 * (high - low).max()
        return np.stack([low - margin, high + margin], 1).ravel()

    @property
    def shape(self):
        """Height over width of a view."""
        return (self.frame[3] - self.frame[2]) / (self.frame[1] - self.frame[0])

    def view(self, width, is_open, sharp=2, camera=None):
        camera = camera or self.camera
        frame = self._frame(camera)
        size = (width, max(1, round(width * (frame[3] - frame[2]) / (frame[1] - frame[0]))))
        return View(self.run.points, self.run.tets, self.surface, camera, frame, size,
                    self.middle if is_open else None, sharp)

    def camera_of_probes(self):
        """From where most probes are seen: the side that they lie on."""
        out = (self.run.points[self.run.probes] - self.middle).sum(axis=0)
        out -= (out @ self.up) * self.up
        far = np.linalg.norm(out) > 0.1 * (self.frame[1] - self.frame[0])
        return Camera(self.up, out if far else self.toward, 12)


def colored(view, node_values, color_map, low, high):
    values = view.values(node_values)
    colors = color_map(np.clip((values - low) / (high - low), 0, 1))[:, :3]
    colors[np.isnan(values)] = GREY
    return colors


def voltage_picture(view, voltage):
    return view.picture(colored(view, voltage, VOLTAGE, REST, PEAK))


def axes_of(figure, left, bottom, width, height):
    """Axes at a place in inches from the lower left corner."""
    w, h = figure.get_size_inches()
    return figure.add_axes([left / w, bottom / h, width / w, height / h])


def show(axis, picture):
    axis.imshow(picture, interpolation="nearest", aspect="auto")
    axis.axis("off")


def color_bar(figure, place, color_map, low, high, label, ticks):
    axis = axes_of(figure, *place)
    bar = figure.colorbar(ScalarMappable(Normalize(low, high), color_map), cax=axis, ticks=ticks)
    bar.set_label(label)
    bar.outline.set_visible(False)
    return bar


def save(figure, path):
    figure.savefig(path, metadata={"Software": None})
    plt.close(figure)
    print("written:", path)


def step_of(extent, most):
    """A round step that divides the extent into at most so many."""
    power = 10.0 ** np.floor(np.log10(extent / most))
    return next(k * power for k in (1, 2, 5, 10, 20) if k * power * most >= extent)


def scale_bar(figure, left, bottom, per_mm, extent):
    """A line of a round length; left, bottom and per_mm in inches."""
    w, h = figure.get_size_inches()
    length = step_of(extent, 6)
    end = left + length * per_mm
    figure.add_artist(Line2D([left / w, end / w], [bottom / h, bottom / h], color=INK, lw=1.5))
    figure.text((end + 0.06) / w, bottom / h, f"{length:g} mm", va="center", fontsize=8)


def draw_activation(scene, path):
    times = scene.run.activation
    reached = times[np.isfinite(times)]
    last = reached.max() if len(reached) and reached.max() > 0 else 1.0
    step = step_of(last, 12)
    high = step * np.ceil(last / step)
    dpi, width = 160, 3.4
    height = width * scene.shape
    figure = plt.figure(figsize=(2 * width + 1.35, height + 0.5), dpi=dpi)
    for k, title in enumerate(("outside", "cut open")):
        view = scene.view(round(width * dpi), k == 1, sharp=3)
        colors = colored(view, times, ACTIVATION, 0, high)
        colors[view.near_level(times, step, 2)] *= 0.45
        axis = axes_of(figure, 0.1 + k * (width + 0.15), 0.2, width, height)
        show(axis, view.picture(colors))
        axis.set_title(title, fontsize=10, pad=4)
    extent = scene.frame[1] - scene.frame[0]
    scale_bar(figure, 0.17, 0.12, width / extent, extent)
    if len(reached):
        ticks = np.arange(0, high + step / 2, step * (1 if high / step <= 7 else 2))
        place = (2 * width + 0.5, 0.2 + 0.1 * height, 0.14, 0.8 * height)
        color_bar(figure, place, ACTIVATION, 0, high, f"activation, ms (lines every {step:g})", ticks)
    if len(reached) < len(times):
        words = "grey: not activated" if len(reached) else "no node has been activated"
        figure.text(0.99, 0.12 / (height + 0.5), words, ha="right", va="center", fontsize=8)
    save(figure, path)


def telling_times(run, spread, later):
    """Times at which the voltage is worth a look: evenly over the spread of the wave, then over what follows."""
    reached = run.activation[np.isfinite(run.activation)]
    first, end = run.times[0], run.times[-1]
    last = min(end, 1.04 * reached.max()) if len(reached) else end
    if end - last < (last - first) / spread:
        return np.linspace(first, end, spread + later)
    return np.concatenate([np.linspace(first, last, spread), np.linspace(last, end, later + 1)[1:]])


def draw_wave(scene, path):
    frames = scene.run.frames_near(telling_times(scene.run, 6, 3)[1:])
    dpi, width = 160, 1.5
    height = width * scene.shape
    figure = plt.figure(figsize=((width + 0.06) * len(frames) + 1.1, 2 * height + 0.4), dpi=dpi)
    for row, is_open in enumerate((False, True)):
        view = scene.view(round(width * dpi), is_open, sharp=3)
        for k, frame in enumerate(frames):
            axis = axes_of(figure, 0.06 + k * (width + 0.06), 0.06 + (1 - row) * (height + 0.06), width, height)
            show(axis, voltage_picture(view, scene.run.voltage(frame)))
            if row == 0:
                axis.set_title(f"{scene.run.times[frame]:.4g} ms", fontsize=10, pad=4)
    place = ((width + 0.06) * len(frames) + 0.22, 0.06 + 0.4 * height, 0.12, 1.2 * height + 0.06)
    color_bar(figure, place, VOLTAGE, REST, PEAK, "voltage, mV", np.linspace(REST, PEAK, 6))
    save(figure, path)


def plain(axis):
    axis.spines[["top", "right"]].set_visible(False)
    axis.tick_params(labelsize=9)


def name_of(run, node):
    time = run.activation[node]
    return f"node {node + 1}, " + ("not activated" if np.isnan(time) else f"activated at {time:.0f} ms")


def draw_electrograms(scene, path):
    run = scene.run
    many = matplotlib.colormaps["viridis"](np.linspace(0, 0.9, len(run.probes)))
    colors = LINES[:len(run.probes)] if len(run.probes) <= len(LINES) else many
    dpi, width = 160, 2.2
    camera = scene.camera_of_probes()
    view = scene.view(round(width * dpi), False, 3, camera)
    height = view.height / view.sharp / dpi
    figure = plt.figure(figsize=(8.6, 4.4), dpi=dpi)
    axis = axes_of(figure, 0.1, 2.2 - height / 2, width, height)
    show(axis, view.picture(np.broadcast_to([0.86, 0.80, 0.78], (len(view.shown), 3))))
    seen = camera.see(run.points[run.probes])
    places = view.place(seen) / view.sharp
    for (x, y), color, visible in zip(places, colors, view.visible(seen)):
        axis.plot(x, y, "o", color=color, markersize=8, mew=1.5, fillstyle="full" if visible else "none",
                  markeredgecolor="white" if visible else color, clip_on=False)
    upper, lower = axes_of(figure, 3.1, 2.45, 5.3, 1.75), axes_of(figure, 3.1, 0.5, 5.3, 1.75)
    for k, (node, color) in enumerate(zip(run.probes, colors)):
        upper.plot(run.clock, run.probe_voltage[:, k], color=color, lw=1.4, label=name_of(run, node))
        lower.plot(run.clock, run.probe_field[:, k], color=color, lw=1.2)
    upper.set(ylabel="voltage, mV", xlim=(run.clock[0], run.clock[-1]))
    upper.tick_params(labelbottom=False)
    lower.set(ylabel="electrogram, mV", xlabel="time, ms", xlim=(run.clock[0], run.clock[-1]))
    lower.axhline(0, color="0.8", lw=0.8, zorder=0)
    for axis in (upper, lower):
        plain(axis)
    if len(run.probes) <= 12:
        upper.legend(frameon=False, fontsize=8.5, handlelength=1.2, labelspacing=0.3)
    figure.align_ylabels()
    save(figure, path)


class WaveFrames:
    """Draws one frame of the moving picture after the other: two views, a clock, the voltage of a probe."""

    def __init__(self, scene, pixels, dpi=100):
        self.run, self.pictures = scene.run, []
        width = (pixels / dpi - 0.3) / 2
        height = width * scene.shape
        self.views = [scene.view(round(width * dpi), is_open, sharp=3) for is_open in (False, True)]
        self.figure = plt.figure(figsize=(pixels / dpi, round(height * dpi) / dpi + 1.3), dpi=dpi)
        for k, view in enumerate(self.views):
            axis = axes_of(self.figure, 0.1 + k * (width + 0.1), 1.0, width, height)
            axis.axis("off")
            self.pictures.append(axis.imshow(np.zeros((view.height // view.sharp, view.width // view.sharp, 4)),
                                             interpolation="nearest", aspect="auto"))
        self._trace(axes_of(self.figure, 0.5, 0.38, pixels / dpi - 0.65, 0.6))
        top = 1 - 0.14 / self.figure.get_size_inches()[1]
        self.clock = self.figure.text(0.5, top, "", ha="center", va="center", fontsize=12)

    def _trace(self, axis):
        """Of the probe that the wave reaches half-way, in the colours of the heart: the colour bar too."""
        times = self.run.activation[self.run.probes]
        probe = np.argsort(times)[np.count_nonzero(np.isfinite(times)) // 2] if np.isfinite(times).any() else 0
        points = np.stack([self.run.clock, self.run.probe_voltage[:, probe]], 1)
        points = points[:: max(1, len(points) // 200)]
        line = LineCollection(np.stack([points[:-1], points[1:]], 1), cmap=VOLTAGE, norm=Normalize(REST, PEAK), lw=3,
                              capstyle="round")
        line.set_array((points[1:, 1] + points[:-1, 1]) / 2)
        axis.add_collection(line)
        axis.set(xlim=self.run.clock[[0, -1]], ylim=(REST - 8, PEAK + 12), yticks=[REST, PEAK])
        plain(axis)
        axis.set_xlabel(f"ms, at node {self.run.probes[probe] + 1}", fontsize=9, labelpad=1)
        axis.set_ylabel("mV", fontsize=9, labelpad=-8)
        self.cursor = axis.axvline(0, color=INK, lw=1, clip_on=False)

    def draw(self, frame):
        """RGB, (height, width, 3), 0 to 255."""
        for view, picture in zip(self.views, self.pictures):
            picture.set_data(voltage_picture(view, self.run.voltage(frame)))
        time = self.run.times[frame]
        self.cursor.set_xdata([time, time])
        self.clock.set_text(f"{time:.0f} ms")
        self.figure.canvas.draw()
        return np.asarray(self.figure.canvas.buffer_rgba())[..., :3].astype(float)


class WavePalette:
    """Colours of the wave, each in more strengths of light the brighter it is, and greys: what a GIF has room for."""

    def __init__(self):
        wave = VOLTAGE(np.linspace(0, 1, 30))[:, :3]
        lit = [strength * color for color in wave for strength in np.linspace(DARKEST, 1, 3 + int(9 * color.mean()))]
        grey = np.linspace(0.2, 1, 255 - len(lit))[:, None] * np.ones(3)
        self.colors = np.round(255 * np.concatenate([lit, grey]))
        cells = np.stack(np.meshgrid(*[np.arange(2, 256, 4)] * 3, indexing="ij"), -1).reshape(-1, 3)
        square = (self.colors ** 2).sum(axis=1)
        self.nearest = np.concatenate([np.argmin(square - 2 * part @ self.colors.T, axis=1)
                                       for part in np.array_split(cells, 64)]).astype(np.uint8)

    def paint(self, picture):
        """Steps are hidden by a pattern that does not move; what is white stays white."""
        height, width, _ = picture.shape
        pattern = np.tile(BAYER, (height // 4 + 1, width // 4 + 1))[:height, :width, None]
        colored = np.ptp(picture, axis=2, keepdims=True) > 12
        r, g, b = np.moveaxis(np.clip(picture + 9 * pattern * colored, 0, 255).astype(int) // 4, 2, 0)
        image = Image.fromarray(self.nearest[(r * 64 + g) * 64 + b])  # a byte a pixel: indices
        image.putpalette(self.colors.astype(np.uint8).tobytes())
        return image


def say(words):
    """What is under way, on standard error: drawing takes a while."""
    print(f"plot_heart: {words}", file=sys.stderr, flush=True)


def draw_moving(scene, path, count, pixels):
    later = count // 3
    frames = scene.run.frames_near(telling_times(scene.run, count - later, later))
    drawing, palette = WaveFrames(scene, pixels), WavePalette()
    pictures = []
    for k, frame in enumerate(frames):
        if k % 10 == 0:
            say(f"moving picture, frame {k + 1} of {len(frames)}")
        pictures.append(palette.paint(drawing.draw(frame)))
    plt.close(drawing.figure)
    pictures[0].save(path, save_all=True, append_images=pictures[1:], loop=0, optimize=False,
                     duration=[80] * (len(pictures) - 1) + [700])
    print("written:", path)


def direction(text):
    numbers = np.array([float(part) for part in text.split(",")])
    if numbers.shape != (3,) or not np.linalg.norm(numbers) > 0:
        raise ValueError(text)
    return numbers


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path, help="of the run: the --out of newel-heart")
    parser.add_argument("--out", type=pathlib.Path, help="folder for the pictures; default: that of the run")
    parser.add_argument("--gif", type=pathlib.Path, help="the moving picture; default: heart_wave.gif in --out")
    parser.add_argument("--frames", type=int, default=40, help="of the moving picture at most, default %(default)s")
    parser.add_argument("--width", type=int, default=420, help="of the moving picture, pixels, default %(default)s")
    parser.add_argument("--up", type=direction, metavar="X,Y,Z", help="from the apex to the base; default: by shape")
    parser.add_argument("--turn", type=float, default=0, metavar="DEGREES", help="around the long axis, default 0")
    parser.add_argument("--tilt", type=float, default=24, metavar="DEGREES", help="seen from above, default 24")
    arguments = parser.parse_args()
    if arguments.frames < 2 or arguments.width < 200:
        parser.error("--frames takes 2 or more, --width 200 or more")
    out = arguments.out or arguments.folder
    plt.rcParams.update({"font.size": 10, "text.color": INK, "axes.labelcolor": INK, "axes.edgecolor": INK,
                         "xtick.color": INK, "ytick.color": INK})
    try:
        say(f"reading {arguments.folder}")
        run = Run(arguments.folder)
        say(f"{len(run.points)} nodes, {len(run.times)} frames")
        scene = Scene(run, arguments.up, arguments.turn, arguments.tilt)
        out.mkdir(parents=True, exist_ok=True)
        say("activation times")
        draw_activation(scene, out / "heart_activation.png")
        say("wave")
        draw_wave(scene, out / "heart_wave.png")
        say("electrograms")
        draw_electrograms(scene, out / "heart_electrograms.png")
        draw_moving(scene, arguments.gif or out / "heart_wave.gif", arguments.frames, arguments.width)
    except (NoRun, OSError) as error:
        sys.exit(f"plot_heart: {error}")


if __name__ == "__main__":
    main()
