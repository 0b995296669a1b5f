"""Where networks are trained: on the CPU, or on a CUDA device that is there."""

from __future__ import annotations

import torch


def on_gpu(device: str) -> bool:
    """Whether it is a CUDA device."""
    return device.startswith("cuda")


def check_device(device: str) -> None:
    """Raise unless the networks can be trained there."""
    if device != "cpu" and not on_gpu(device):
        raise ValueError(f"device must be cpu or cuda, got {device!r}")
    if on_gpu(device) and not torch.cuda.is_available():
        raise ValueError(f"device {device!r} asks for a CUDA device, and torch finds none")


def device_name(device: str) -> str:
    """The device and what it is."""
    return f"{device} ({torch.cuda.get_device_name(device)})" if on_gpu(device) else device
