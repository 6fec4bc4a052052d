# SPDX-License-Identifier: Apache-2.0
"""A body of tetrahedra seen from one side, whole or cut open: which node values a pixel shows, found once a view.

Needs numpy alone. All lengths are those of the mesh.
"""
import numpy as np

FACES = np.array([[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]])  # outward, of a tetrahedron of positive volume
CREASE = np.cos(np.radians(40))  # faces that meet more sharply keep an edge between them
DARKEST = 0.6  # share of its colour that a surface keeps where the light does not fall


def boundary_triangles(tets, node_count):
    """The faces that belong to one tetrahedron only, as node numbers (m, 3)."""
    faces = tets[:, FACES].reshape(-1, 3)
    ordered = np.sort(faces, axis=1).astype(np.int64)
    low, middle, high = ordered.T
    order = np.lexsort((high, middle, low))
    same = np.all(ordered[order[1:]] == ordered[order[:-1]], axis=1)
    alone = np.ones(len(faces), bool)
    alone[order[1:][same]] = alone[order[:-1][same]] = False
    return faces[alone]


def cross_section(tets, side):
    """Where the tetrahedra meet the surface side = 0: triangles whose corners lie between two nodes.

    Returns (i, j, w), each (m, 3): the value of a corner is (1 - w) v[i] + w v[j].
    """
    side = np.where(side == 0, np.finfo(float).tiny, side)
    below = side[tets] < 0
    count = below.sum(axis=1)
    triangles = []

    def add(rows, pairs):
        i, j = rows[:, [p[0] for p in pairs]], rows[:, [p[1] for p in pairs]]
        triangles.append((i, j, side[i] / (side[i] - side[j])))

    for alone, among in ((1, below), (3, ~below)):
        cut = tets[count == alone]
        first = np.argsort(~among[count == alone], axis=1, kind="stable")
        add(np.take_along_axis(cut, first, axis=1), ((0, 1), (0, 2), (0, 3)))
    cut = tets[count == 2]
    rows = np.take_along_axis(cut, np.argsort(~below[count == 2], axis=1, kind="stable"), axis=1)
    add(rows, ((0, 2), (0, 3), (1, 3)))
    add(rows, ((0, 2), (1, 3), (1, 2)))
    return tuple(np.concatenate(part) for part in zip(*triangles))


def corner_normals(points, triangles):
    """Normals at the corners (m, 3, 3): means over the faces around a node that meet at less than the crease."""
    a, b, c = (points[triangles[:, k]] for k in range(3))
    area = np.cross(b - a, c - a)
    flat = area / np.maximum(np.linalg.norm(area, axis=1, keepdims=True), 1e-300)
    corners = np.argsort(triangles.ravel(), kind="stable")  # places 3 face + k, sorted by node
    nodes = triangles.ravel()[corners]
    start = np.searchsorted(nodes, nodes, "left")
    valence = np.searchsorted(nodes, nodes, "right") - start
    total = np.zeros((len(corners), 3))
    own = flat[corners // 3]
    for k in range(valence.max()):
        has = valence > k
        other = corners[start[has] + k] // 3
        smooth = np.einsum("ij,ij->i", own[has], flat[other]) > CREASE
        total[has] += area[other] * smooth[:, None]
    normals = np.empty_like(total)
    normals[corners] = total / np.maximum(np.linalg.norm(total, axis=1, keepdims=True), 1e-300)
    return normals.reshape(-1, 3, 3)


def long_axis(points, surface, on_base):
    """From the apex to the base: the base's normal where it is nearly plane, else the axis of the greatest spread.

    `on_base`: which triangles of the surface are the base's.
    """
    a, b, c = (points[surface[on_base, k]] for k in range(3))
    area = np.cross(b - a, c - a)
    normal, size = area.sum(axis=0), np.linalg.norm(area, axis=1).sum()
    if np.linalg.norm(normal) > 0.7 * size:
        return normal / np.linalg.norm(normal)
    centred = points[np.unique(surface)] - points.mean(axis=0)
    axis = np.linalg.eigh(centred.T @ centred)[1][:, 2]
    return -axis if axis @ normal < 0 else axis


def across(points, up):
    """The wider and the narrower direction across an axis, so that wide, up, narrow is right-handed."""
    flat = points - points.mean(axis=0)
    flat = flat - np.outer(flat @ up, up)
    wide = np.linalg.eigh(flat.T @ flat)[1][:, 2]
    return wide, np.cross(wide, up)


class Camera:
    """Looks at a body from `toward`, from `tilt` degrees above, with `up` upwards; parallel rays."""

    def __init__(self, up, toward, tilt):
        self.up = np.asarray(up, float) / np.linalg.norm(up)
        level = toward - (toward @ self.up) * self.up
        self.level = level / np.linalg.norm(level)  # horizontal, at the viewer
        right = np.cross(self.up, self.level)
        angle = np.radians(tilt)
        near = np.cos(angle) * self.level + np.sin(angle) * self.up
        self.axes = np.stack([right, np.cross(near, right), near])  # right, upwards on the screen, at the viewer

    def see(self, points):
        return points @ self.axes.T


class View:
    """The pixels of one view: for each that shows the body, three nodes or points between nodes and their weights.

    `cut`: None, or a point; the half in front of the upright plane through it is taken away. `frame`: (left, right,
    bottom, top) on the screen. `size`: (width, height) in pixels; `sharp` squared rays make a pixel.
    """

    def __init__(self, points, tets, surface, camera, frame, size, cut=None, sharp=2):
        self.width, self.height, self.sharp = size[0] * sharp, size[1] * sharp, sharp
        self.per_length = self.width / (frame[1] - frame[0])
        self.frame = frame
        i, j, w = surface, surface, np.zeros(surface.shape)
        normals = corner_normals(points, surface) @ camera.axes.T
        side = None
        if cut is not None:
            side = (points - cut) @ camera.level
            ci, cj, cw = cross_section(tets, side)
            level = np.broadcast_to(camera.level @ camera.axes.T, (len(ci), 3, 3))
            i, j, w = (np.concatenate(pair) for pair in ((i, ci), (j, cj), (w, cw)))
            normals = np.concatenate([normals, level])
        self.i, self.j, self.w = i, j, w
        seen = camera.see(points)
        self.whole = len(surface)  # triangles from here on are the cut
        corners = self.corners(seen)
        clip = None if side is None else np.where(np.arange(len(i))[:, None] < self.whole, side[i], -1.0)
        self._rasterise(corners, clip)
        self._shade(normals)
        self._screen = corners[:, :, :2]

    def corners(self, values):
        """Values of nodes at the corners of the triangles."""
        w = self.w.reshape(self.w.shape + (1,) * (values.ndim - 1))
        return (1 - w) * values[self.i] + w * values[self.j]

    def place(self, seen):
        """Pixels (x, y), before the rays are averaged, of points that Camera.see gave."""
        return np.stack([(seen[..., 0] - self.frame[0]), (self.frame[3] - seen[..., 1])], -1) * self.per_length

    def _rasterise(self, corners, clip):
        xy, depth = self.place(corners), corners[..., 2]
        self.depth = np.full(self.width * self.height, -np.inf)
        self.triangle = np.full(self.width * self.height, -1)
        self.weight = np.zeros((self.width * self.height, 3))
        limit = np.array([self.width, self.height])
        low = np.clip(np.ceil(xy.min(axis=1) - 0.5), 0, limit).astype(int)
        high = np.clip(np.floor(xy.max(axis=1) - 0.5) + 1, 0, limit).astype(int)
        extent = high - low
        drawn = np.all(extent > 0, axis=1)
        # What faces away lies behind what faces the viewer: the body is closed, cut open or not.
        (bx, by), (cx, cy) = (xy[:self.whole, 1] - xy[:self.whole, 0]).T, (xy[:self.whole, 2] - xy[:self.whole, 0]).T
        drawn[:self.whole] &= bx * cy - by * cx < 0  # y points down the screen
        if clip is not None:
            drawn &= clip.min(axis=1) <= 0
        box = 1 << np.ceil(np.log2(np.maximum(extent, 1))).astype(int)
        for w, h in np.unique(box[drawn], axis=0):
            rows = np.flatnonzero(drawn & (box[:, 0] == w) & (box[:, 1] == h))
            for part in np.array_split(rows, 1 + len(rows) * w * h // 2_000_000):
                self._fill(part, low[part], (w, h), xy[part], depth[part], None if clip is None else clip[part])

    def _fill(self, rows, low, box, xy, depth, clip):
        x, y = (axis.ravel() for axis in np.meshgrid(np.arange(box[0]), np.arange(box[1])))
        # From corner a: pixels of the box as (triangles, 1) + (pixels), so that weights are sums of two terms.
        ax, ay = (low - xy[:, 0] + 0.5).T[:, :, None]
        (bx, by), (cx, cy) = (xy[:, 1] - xy[:, 0]).T[:, :, None], (xy[:, 2] - xy[:, 0]).T[:, :, None]
        twice = bx * cy - by * cx
        with np.errstate(divide="ignore", invalid="ignore"):
            wb = (ax * cy - ay * cx) / twice + (cy / twice) * x - (cx / twice) * y
            wc = (bx * ay - by * ax) / twice - (by / twice) * x + (bx / twice) * y
        inside = (wb >= -1e-9) & (wc >= -1e-9) & (wb + wc <= 1 + 1e-9)  # never where NaN
        triangle, place = np.nonzero(inside)
        px, py = low[triangle, 0] + x[place], low[triangle, 1] + y[place]
        on_screen = (px < self.width) & (py < self.height)
        wb, wc = wb[triangle, place], wc[triangle, place]
        weight = np.stack([1 - wb - wc, wb, wc], -1)
        if clip is not None:
            on_screen &= np.einsum("pk,pk->p", weight, clip[triangle]) <= 0
        triangle, weight, pixel = triangle[on_screen], weight[on_screen], (py * self.width + px)[on_screen]
        near = np.einsum("pk,pk->p", weight, depth[triangle])
        nearer = np.flatnonzero(near > self.depth[pixel])
        order = nearer[np.argsort(near[nearer], kind="stable")]
        pixel = pixel[order]  # of a pixel's candidates the last one stays: the nearest
        self.depth[pixel], self.triangle[pixel], self.weight[pixel] = near[order], rows[triangle[order]], weight[order]

    def _shade(self, normals):
        self.shown = np.flatnonzero(self.triangle >= 0)
        self.triangle, self.weight = self.triangle[self.shown], self.weight[self.shown]
        n = np.einsum("pk,pkx->px", self.weight, normals[self.triangle])
        n /= np.maximum(np.linalg.norm(n, axis=1, keepdims=True), 1e-300)
        n *= np.where(n[:, 2:] < 0, -1, 1)  # what is seen faces the viewer
        light = np.array([-0.29, 0.33, 0.90])
        bright = DARKEST + (1 - DARKEST) * np.clip(n @ light, 0, 1)
        on_cut = self.triangle >= self.whole
        bright[on_cut] = 1
        self.light = bright * self._ink(n, on_cut)
        y, x = np.divmod(self.shown, self.width)
        self.pixel = y // self.sharp * (self.width // self.sharp) + x // self.sharp

    def _ink(self, normals, on_cut):
        """Darkens the outline, the rim of the cut, folds, and edges where the body turns sharply."""
        def differs(values, by):
            image = np.zeros((self.height * self.width, values.shape[1]))
            image[self.shown] = values
            image = image.reshape(self.height, self.width, -1)
            edge = np.zeros((self.height, self.width), bool)
            edge[:, 1:] |= np.square(image[:, 1:] - image[:, :-1]).sum(axis=2) > by * by
            edge[1:] |= np.square(image[1:] - image[:-1]).sum(axis=2) > by * by
            return edge.ravel()[self.shown]

        fold = differs(self.depth[self.shown, None], 0.04 * (self.frame[1] - self.frame[0]))
        outline = differs(1.0 + on_cut[:, None], 0.5)
        turn = differs(normals, 2 * np.sin(np.arccos(CREASE) / 2))
        return np.where(fold | outline, 0.5, np.where(turn, 0.75, 1.0))

    def values(self, node_values):
        """Node values at the rays that meet the body. NaN spreads over every triangle that it touches."""
        return np.einsum("pk,pk->p", self.weight, self.corners(node_values)[self.triangle])

    def near_level(self, node_values, levels_apart, thickness):
        """Rays within `thickness` rays of a level line of the values: k levels_apart, k = 1, 2, ..."""
        xy, corner = self.place(self._screen), self.corners(node_values)
        (ax, ay), (bx, by) = (xy[:, 1] - xy[:, 0]).T, (xy[:, 2] - xy[:, 0]).T
        first, second = corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0]
        twice = ax * by - ay * bx
        with np.errstate(divide="ignore", invalid="ignore"):
            slope = np.hypot(first * by - second * ay, second * ax - first * bx) / abs(twice)
            value = self.values(node_values)
            away = abs(value - levels_apart * np.maximum(1, np.round(value / levels_apart)))
            return away < thickness * slope[self.triangle]

    def picture(self, colors):
        """RGBA (height, width, 4) of the colours (p, 3) of the rays, shaded, without anything where no body is."""
        height, width = self.height // self.sharp, self.width // self.sharp
        lit = np.clip(colors * self.light[:, None], 0, 1)
        hits = np.bincount(self.pixel, minlength=height * width)
        mean = np.stack([np.bincount(self.pixel, lit[:, k], height * width) for k in range(3)] +
                        [hits * (1.0 / self.sharp ** 2)], -1)
        mean[:, :3] /= np.maximum(hits, 1)[:, None]
        return mean.reshape(height, width, 4)

    def visible(self, seen):
        """Which of a few points on the surface, as Camera.see gave them, are not hidden."""
        x, y = np.clip(self.place(seen).astype(int), 0, [self.width - 1, self.height - 1]).T
        slack = 0.04 * (self.frame[1] - self.frame[0])
        return seen[:, 2] >= self.depth[y * self.width + x] - slack
