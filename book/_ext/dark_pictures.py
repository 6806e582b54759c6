"""Pictures for dark pages, made from the PNG that a notebook stored.

Photographs and maps of colors stay as they are. What surrounds them, such as background, text and
axes, changes its lightness and keeps its hue: white becomes the color of a dark page, black that of
its text. A photograph is a large area without thin lines; where several of one size stand in rows
and columns, so do those whose white edge cannot be told from the page.
"""

import io

import numpy as np
from PIL import Image
from scipy import ndimage
from two_themes import INK, PAPER

WHITE = 250  # of 255: lighter is background
THIN = 9  # pixels: thinner lines are text and axes
LARGE = 2_000  # pixels of an area that is a picture
FULL = 0.7  # of its box: what fills less is a cloud of marks
SAME = 3  # pixels by which photographs of one size may differ
MARK = 11  # pixels: white lines on a map of colors are thinner
GRID = 4  # photographs of one size are a grid


def dark(png):
    """The picture for a dark page, as bytes."""
    with Image.open(io.BytesIO(png)) as opened:
        picture = flat(opened)
    pixels = np.where(pictures(picture)[:, :, None], picture, turned(picture))
    target = io.BytesIO()
    Image.fromarray(pixels).save(target, "PNG", optimize=True)
    return target.getvalue()


def flat(picture):
    """Its pixels on white, (height, width, 3)."""
    picture = picture.convert("RGBA")
    ground = Image.new("RGBA", picture.size, "white")
    return np.asarray(Image.alpha_composite(ground, picture).convert("RGB"))


def turned(pixels):
    """The same hues; white is ``PAPER`` and black is ``INK``."""
    paper, ink = (int(color[1:3], 16) for color in (PAPER, INK))
    values = pixels.astype(float)
    high, low = values.max(2, keepdims=True), values.min(2, keepdims=True)
    other = 255 - high - low + values  # lightness l becomes 1 - l, hue and chroma stay
    return np.round(paper + other * (ink - paper) / 255).astype(np.uint8)


def pictures(pixels):
    """Which pixels belong to photographs and maps of colors."""
    drawn = (pixels < WHITE).any(2)
    thick = ndimage.maximum_filter(ndimage.minimum_filter(drawn, THIN), THIN)
    areas, _ = ndimage.label(thick)
    sizes = np.bincount(areas.ravel())
    boxes = [
        (k, box)
        for k, box in enumerate(ndimage.find_objects(areas), 1)
        if sizes[k] >= max(LARGE, FULL * area(box))
    ]
    if grid := same_size([box for _, box in boxes]):
        return in_grid(drawn, grid)
    kept = np.isin(areas, [k for k, _ in boxes])
    kept = ndimage.minimum_filter(ndimage.maximum_filter(kept, MARK), MARK)
    return ndimage.binary_fill_holes(kept)


def area(box):
    return np.prod([side.stop - side.start for side in box])


def same_size(boxes):
    """The boxes of the most frequent size, if there are some of it."""
    shapes = np.array([[side.stop - side.start for side in box] for box in boxes]).reshape(-1, 2)
    alike = (np.abs(shapes[:, None] - shapes[None]) <= SAME).all(2)
    if not len(boxes) or alike.sum(1).max() < GRID:
        return []
    return [box for box, chosen in zip(boxes, alike[alike.sum(1).argmax()], strict=True) if chosen]


def in_grid(drawn, boxes):
    """The cells of rows and columns in which something is drawn."""
    rows, columns = (sides([box[axis] for box in boxes]) for axis in (0, 1))
    kept = np.zeros(drawn.shape, bool)
    for row in rows:
        for column in columns:
            kept[row, column] = drawn[row, column].any()
    return kept


def sides(slices):
    """The different intervals among nearly equal ones."""
    found = []
    for side in sorted(slices, key=lambda s: s.start):
        if found and side.start - found[-1].start <= 2 * SAME:
            found[-1] = slice(found[-1].start, max(found[-1].stop, side.stop))
        else:
            found.append(side)
    return found
