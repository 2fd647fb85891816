"""What a node alone knows of a session, on disk, so that it still knows it after it was killed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from good_ros.core.files import write_whole

if TYPE_CHECKING:
    from good_ros.nodes.base import GoodNode


def private_file(node: GoodNode, folder: Path, suffix: str) -> Path:
    """A file of ``node``'s own in ``folder``: one for each that may run at a time on a machine."""
    domain, namespace = node.context.get_domain_id(), node.get_namespace()
    return folder / f".{node.NAME}_{domain}{namespace.replace('/', '_').rstrip('_')}{suffix}"


class Kept:
    """One value that JSON can hold, of the session that runs.

    A node that cannot write it goes on without, and says so once.
    """

    def __init__(self, node: GoodNode, folder: Path) -> None:
        self.path = private_file(node, folder, ".json")
        self._node = node
        self._works = True

    def of(self, session_id: str) -> Any:
        """What was kept of this session; None where nothing was, or the file is damaged."""
        try:
            found = json.loads(self.path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        if not isinstance(found, dict) or found.get("session_id") != session_id:
            return None
        return found.get("value")

    def keep(self, session_id: str, value: Any) -> None:
        """Keep ``value`` in place of what was kept before; whole or not at all."""
        if not self._works:
            return
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            text = json.dumps({"session_id": session_id, "value": value})
            write_whole(self.path, text + "\n")
        except OSError as error:
            self._works = False
            self._node.get_logger().warning(
                f"what was refused will not be known after a crash ({error}): set sessions_folder"
            )
