"""Features of images from a network that never saw their labels; used by ``pool_file``.

The paper uses SimCLR. Its weights have no documented home that can be called without other
packages, so the default here is the ResNet-50 that DINO trained: on the images of ImageNet, without
any label. Any other network is a function of your own, see ``plugin``.
"""

from __future__ import annotations

import hashlib
import importlib
from http.client import HTTPException
from urllib.error import URLError

import numpy as np

DINO_URL = "https://dl.fbaipublicfiles.com/dino/dino_resnet50_pretrain/dino_resnet50_pretrain.pth"
SMALLEST = 128  # smaller images are enlarged to this many pixels
MEAN, SPREAD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)  # of the colors it was trained on
BATCH = 64


def dino_resnet50(folder):
    """The network as a function of uint8 images (n, h, w, 3) -> (n, 2048), and its origin.

    The weights are downloaded once, to ``folder``. Their SHA-256 is part of the origin: we know of
    no published one to compare with. Only tensors are unpacked from the file, no pickled objects.
    """
    try:
        import torch
        from torchvision.models import resnet50
    except (ImportError, RuntimeError) as error:  # RuntimeError: incompatible versions
        raise ImportError(
            f"the default network needs two more packages ({error}): pip install torch "
            "torchvision; or give FEATURES=module:function or FEATURES=file.npy"
        ) from error
    path = folder / DINO_URL.rsplit("/", 1)[1]
    if not path.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        try:
            torch.hub.download_url_to_file(DINO_URL, str(path))  # moved into place when complete
        except (URLError, HTTPException, TimeoutError, ConnectionError) as error:
            raise OSError(
                f"cannot download {DINO_URL} ({error}): try again with a network, or give "
                "FEATURES=module:function or FEATURES=file.npy"
            ) from error
    with open(path, "rb") as file:
        checksum = hashlib.file_digest(file, "sha256").hexdigest()
    network = resnet50(weights=None)
    network.fc = torch.nn.Identity()
    try:
        weights = torch.load(path, map_location="cpu", weights_only=True)
        lacking = network.load_state_dict(weights, strict=False).missing_keys
    except Exception as error:  # torch's errors have no class in common
        raise ValueError(
            f"{path} must hold the weights of a ResNet-50: remove it and try again ({error!r:.200})"
        ) from error
    if lacking:
        raise ValueError(f"{path} must hold all weights of a ResNet-50, got no {lacking[0]}")
    device = "cuda" if torch.cuda.is_available() else "cpu"
    network = network.eval().to(device)
    mean, spread = (torch.tensor(v, device=device)[:, None, None] for v in (MEAN, SPREAD))

    @torch.inference_mode()
    def features(images):
        parts = []
        for start in range(0, len(images), BATCH):
            x = torch.from_numpy(np.ascontiguousarray(images[start : start + BATCH])).to(device)
            x = x.permute(0, 3, 1, 2).float() / 255
            if x.shape[-1] < SMALLEST:
                x = torch.nn.functional.interpolate(
                    x, (SMALLEST, SMALLEST), mode="bicubic", align_corners=False
                ).clamp(0, 1)
            parts.append(network((x - mean) / spread).cpu().numpy())
        return np.concatenate(parts)

    return features, f"DINO ResNet-50, trained without labels, {DINO_URL} SHA-256 {checksum}"


def plugin(spec):
    """The function named "module:function", and a line about its origin: its attribute ``source``.

    It takes uint8 images (n, h, w, 3) and returns (n, D) numbers, one row per image.
    """
    module, _, name = spec.partition(":")
    try:
        function = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise ValueError(
            f"FEATURES must be module:function or a .npy file, got {spec!r} ({error})"
        ) from error
    if not callable(function):
        raise ValueError(f"FEATURES must name a function, got {spec!r}, a {type(function)}")
    return function, getattr(function, "source", spec)


def checked(features, n, spec):
    """(n, D) float32; ValueError if it is anything else."""
    features = np.asarray(features)
    if features.ndim != 2 or len(features) != n or features.dtype.kind not in "iuf":
        raise ValueError(
            f"{spec} must give one row of numbers for each of {n} images, "
            f"got shape {features.shape} of type {features.dtype}"
        )
    features = features.astype(np.float32, copy=False)
    if not np.isfinite(features).all():
        raise ValueError(f"{spec} must give finite numbers, got NaN or infinite ones")
    return features
