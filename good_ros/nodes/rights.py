"""What each node of a running graph uses, and the same as an SROS2 policy."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping, Sequence

from rclpy.action import get_action_client_names_and_types_by_node
from rclpy.action import get_action_server_names_and_types_by_node as action_servers
from rclpy.node import Node

Rights = Mapping[str, Sequence[str]]
"""By kind (``publish``, ``subscribe``, ``reply``, ``request``, ``execute``, ``call``) the names."""

KINDS = (
    ("topics", "subscribe", "topic"),
    ("topics", "publish", "topic"),
    ("services", "reply", "service"),
    ("services", "request", "service"),
    ("actions", "execute", "action"),
    ("actions", "call", "action"),
)


def rights_of(observer: Node, name: str, namespace: str = "/") -> Rights:
    """What the node of a name uses, as ``observer`` sees it on the graph; sorted."""
    found = {
        "publish": observer.get_publisher_names_and_types_by_node(name, namespace),
        "subscribe": observer.get_subscriber_names_and_types_by_node(name, namespace),
        "reply": observer.get_service_names_and_types_by_node(name, namespace),
        "request": observer.get_client_names_and_types_by_node(name, namespace),
        "execute": action_servers(observer, name, namespace),
        "call": get_action_client_names_and_types_by_node(observer, name, namespace),
    }
    # An action is made of topics and services of its own, which its right covers.
    return {
        kind: sorted(n for n, _ in names if kind in ("execute", "call") or "/_action/" not in n)
        for kind, names in found.items()
    }


def policy(nodes: Mapping[str, Rights], package: str = "good_ros") -> str:
    """The SROS2 policy, version 0.2.0: an enclave a node, with nothing but what it uses."""
    root = ElementTree.Element("policy", version="0.2.0")
    enclaves = ElementTree.SubElement(root, "enclaves")
    for node, rights in sorted(nodes.items()):
        enclave = ElementTree.SubElement(enclaves, "enclave", path=f"/{package}/{node}")
        profiles = ElementTree.SubElement(enclave, "profiles")
        profile = ElementTree.SubElement(profiles, "profile", ns="/", node=node)
        for group, kind, tag in KINDS:
            if rights[kind]:
                allowed = ElementTree.SubElement(profile, group, {kind: "ALLOW"})
                for name in rights[kind]:
                    ElementTree.SubElement(allowed, tag).text = name
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, "unicode") + "\n"
