"""The belief for RViz, rqt_plot and displays over the picture."""

from __future__ import annotations

import importlib
import math
from typing import Any

from geometry_msgs.msg import Point, Pose, Quaternion, Vector3
from rclpy.duration import Duration
from std_msgs.msg import ColorRGBA, Float32, Header
from visualization_msgs.msg import Marker as MarkerMsg
from visualization_msgs.msg import MarkerArray

from good_ros.core.belief import Belief
from good_ros.core.errors import InputError
from good_ros.monitor.markers import (
    BeliefMarkers,
    Marker,
    MarkerKind,
    PanelSize,
    as_probability,
    overlay_text,
)
from good_ros.nodes.base import GoodNode
from good_ros.nodes.parameters import Parameter
from good_ros.nodes.qos import LATCHED, MARKERS

NAMESPACE = "belief"
Vector = tuple[float, float, float]
PARAMETERS = (
    Parameter("marker_frame", "map", "Frame that the belief's bars are drawn in."),
    Parameter(
        "marker_pose",
        [0.0, 0.0, 1.5, 1.5708, 0.0, 0.0],
        "Where the top bar begins: x, y, z in metres, then roll, pitch and yaw in radians; a "
        "quarter turn of roll stands the bars upright.",
    ),
    Parameter("marker_length", 2.0, "Metres of a bar of probability 1.", 0.01, 100.0),
    Parameter("marker_row_height", 0.25, "Metres from one bar to the next.", 0.01, 10.0),
    Parameter(
        "marker_lifetime_s",
        0.0,
        "Seconds after which bars vanish unless they are renewed, so that none is left behind "
        "where the monitor was killed; 0 for never.",
        0.0,
        3600.0,
    ),
)
SHAPES = {
    MarkerKind.BAR: (MarkerMsg.CUBE, MarkerMsg.ADD),
    MarkerKind.LABEL: (MarkerMsg.TEXT_VIEW_FACING, MarkerMsg.ADD),
    MarkerKind.DELETED: (MarkerMsg.CUBE, MarkerMsg.DELETE),
}


def quaternion(roll: float, pitch: float, yaw: float) -> tuple[float, float, float, float]:
    """x, y, z and w of turning by yaw about z, then pitch about y, then roll about x (radians)."""
    (sr, cr), (sp, cp), (sy, cy) = ((math.sin(a / 2), math.cos(a / 2)) for a in (roll, pitch, yaw))
    return (
        sr * cp * cy - cr * sp * sy,
        cr * sp * cy + sr * cp * sy,
        cr * cp * sy - sr * sp * cy,
        cr * cp * cy + sr * sp * sy,
    )


def rotate(by: tuple[float, float, float, float], v: Vector) -> Vector:
    """``v`` turned by the unit quaternion ``by``: v + 2 q × (q × v + w v)."""
    x, y, z, w = by
    tx = y * v[2] - z * v[1] + w * v[0]
    ty = z * v[0] - x * v[2] + w * v[1]
    tz = x * v[1] - y * v[0] + w * v[2]
    return (
        v[0] + 2 * (y * tz - z * ty),
        v[1] + 2 * (z * tx - x * tz),
        v[2] + 2 * (x * ty - y * tx),
    )


class BeliefDisplay:
    """Publishes each belief as markers, numbers and, where RViz's overlays are there, as text."""

    def __init__(self, node: GoodNode, values: Any) -> None:
        pose = list(values.marker_pose)
        if len(pose) != 6 or not all(math.isfinite(n) for n in pose):
            raise InputError(
                "marker_pose must be six numbers: x, y, z, roll, pitch, yaw; it is "
                f"{', '.join(f'{n:g}' for n in pose) or 'empty'}"
            )
        self.node = node
        self.frame = values.marker_frame
        self.origin = (pose[0], pose[1], pose[2])
        self.turned = quaternion(pose[3], pose[4], pose[5])
        self.lifetime = Duration(seconds=values.marker_lifetime_s).to_msg()
        self.drawing = BeliefMarkers(PanelSize(values.marker_length, values.marker_row_height))
        self.last: Belief | None = None
        self.markers = node.publisher(MarkerArray, "belief_markers", MARKERS)
        self.entropy = node.publisher(Float32, "belief_entropy", LATCHED)
        self.top = node.publisher(Float32, "belief_top", LATCHED)
        self.overlay_type = _overlay_type()
        self.overlay = (
            node.publisher(self.overlay_type, "belief_overlay", LATCHED)
            if self.overlay_type
            else None
        )
        if values.marker_lifetime_s > 0:
            timer = node.create_timer(values.marker_lifetime_s / 2, self.renew)
            node.at_cleanup(lambda: node.destroy_timer(timer))

    def show(self, belief: Belief) -> None:
        self.last = belief
        self.renew()
        entropy = belief.entropy if math.isfinite(belief.entropy) else 0.0
        self.entropy.publish(Float32(data=entropy))
        top = belief.top.probability if belief.hypotheses else 0.0
        self.top.publish(Float32(data=as_probability(top)))
        if self.overlay is not None:
            self.overlay.publish(
                self.overlay_type(
                    width=700,
                    height=160,
                    text_size=11.0,
                    bg_color=ColorRGBA(r=0.0, g=0.0, b=0.0, a=0.6),
                    fg_color=ColorRGBA(r=1.0, g=1.0, b=1.0, a=1.0),
                    text=overlay_text(belief),
                )
            )

    def renew(self) -> None:
        """Draw the last belief again."""
        if self.last is not None:
            header = Header(stamp=self.node.get_clock().now().to_msg(), frame_id=self.frame)
            markers = [self.to_msg(marker, header) for marker in self.drawing.draw(self.last)]
            self.markers.publish(MarkerArray(markers=markers))

    def to_msg(self, marker: Marker, header: Header) -> MarkerMsg:
        kind, action = SHAPES[marker.kind]
        if marker.kind is MarkerKind.DELETED:
            return MarkerMsg(header=header, ns=NAMESPACE, id=marker.id, type=kind, action=action)
        offset = rotate(self.turned, marker.position)
        place = [origin + shift for origin, shift in zip(self.origin, offset, strict=True)]
        x, y, z, w = self.turned
        red, green, blue, opacity = marker.colour
        return MarkerMsg(
            header=header,
            ns=NAMESPACE,
            id=marker.id,
            type=kind,
            action=action,
            pose=Pose(
                position=Point(x=place[0], y=place[1], z=place[2]),
                orientation=Quaternion(x=x, y=y, z=z, w=w),
            ),
            scale=Vector3(x=marker.size[0], y=marker.size[1], z=marker.size[2]),
            color=ColorRGBA(r=red, g=green, b=blue, a=opacity),
            lifetime=self.lifetime,
            text=marker.text,
        )


def _overlay_type() -> Any:
    """The message of rviz_2d_overlay_plugins, or None where it is not installed."""
    try:
        return importlib.import_module("rviz_2d_overlay_msgs.msg").OverlayText
    except ImportError:
        return None
