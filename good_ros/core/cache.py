"""Where what is fetched or made once is kept."""

import os
from pathlib import Path


def cache_folder() -> Path:
    """The cache that every checkout of a user shares: GOOD_ROS_CACHE, or under XDG's."""
    if folder := os.environ.get("GOOD_ROS_CACHE"):
        return Path(folder).expanduser()
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "good_ros"
