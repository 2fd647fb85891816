"""The arm's trajectories, things and joints as messages, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from builtin_interfaces.msg import Duration, Time
from geometry_msgs.msg import Point, Quaternion
from geometry_msgs.msg import Pose as PoseMsg
from sensor_msgs.msg import JointState
from std_msgs.msg import ColorRGBA, Header
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint
from visualization_msgs.msg import Marker, MarkerArray

from good_ros.worlds.arm.body import Trajectory
from good_ros.worlds.arm.kinematics import Joints
from good_ros.worlds.arm.scene import Pose, Thing

FRAME = "base_link"
NANO = 1e-9


def duration_msg(seconds: float) -> Duration:
    """Seconds as a duration."""
    whole = int(seconds)
    return Duration(sec=whole, nanosec=min(round((seconds - whole) * 1e9), 999_999_999))


def time_msg(seconds: float) -> Time:
    """Seconds since the epoch as a time."""
    whole = int(seconds)
    return Time(sec=whole, nanosec=min(round((seconds - whole) * 1e9), 999_999_999))


def seconds_of(stamp: Time | Duration) -> float:
    """A time or duration in seconds."""
    return float(stamp.sec) + float(stamp.nanosec) * NANO


def trajectory_msg(joints: Sequence[str], trajectory: Trajectory) -> JointTrajectory:
    """A trajectory that begins at once (stamp 0); the point at time 0, where the arm is, is left
    out, as controllers want it."""
    points = [
        JointTrajectoryPoint(
            positions=[float(v) for v in position],
            velocities=[float(v) for v in velocity],
            time_from_start=duration_msg(float(time)),
        )
        for time, position, velocity in zip(
            trajectory.times[1:], trajectory.positions[1:], trajectory.velocities[1:], strict=True
        )
    ]
    return JointTrajectory(joint_names=list(joints), points=points)


def hold_msg(joints: Sequence[str], positions: Joints, period_s: float) -> JointTrajectory:
    """Come to rest at ``positions`` by the next control period."""
    point = JointTrajectoryPoint(
        positions=[float(v) for v in positions],
        velocities=[0.0] * len(positions),
        time_from_start=duration_msg(period_s),
    )
    return JointTrajectory(joint_names=list(joints), points=[point])


def trajectory_from_msg(
    message: JointTrajectory, joints: Sequence[str], start: Joints
) -> Trajectory:
    """The trajectory from where the arm is; of no points, to stay there.

    Raises ValueError where the joints are others, a number is missing or not finite, or the
    times do not grow.
    """
    if sorted(message.joint_names) != sorted(joints):
        raise ValueError(f"the joints are {list(message.joint_names)}, not {list(joints)}")
    order = [list(message.joint_names).index(name) for name in joints]
    times, positions, velocities = [0.0], [np.array(start)], [np.zeros(len(joints))]
    for point in message.points:
        if len(point.positions) != len(joints):
            raise ValueError("a point has not one position for each joint")
        rates = point.velocities if len(point.velocities) else [0.0] * len(joints)
        times.append(seconds_of(point.time_from_start))
        positions.append(np.array([point.positions[i] for i in order]))
        velocities.append(np.array([rates[i] for i in order]))
    if len(times) == 1:
        times.append(NANO)
        positions.append(positions[0])
        velocities.append(velocities[0])
    result = Trajectory(np.array(times), np.array(positions), np.array(velocities))
    if not all(np.isfinite(a).all() for a in (result.positions, result.velocities)):
        raise ValueError("a number is not finite")
    if (np.diff(result.times) <= 0).any():
        raise ValueError("the times of the points do not grow")
    return result


def joint_state_msg(
    stamp: Time, positions: Mapping[str, float], velocities: Mapping[str, float]
) -> JointState:
    """Joint positions (radians or metres) by name, as a message."""
    return JointState(
        header=Header(stamp=stamp, frame_id=FRAME),
        name=list(positions),
        position=[float(v) for v in positions.values()],
        velocity=[float(velocities.get(name, 0.0)) for name in positions],
    )


def things_msg(stamp: Time, things: Mapping[str, Thing], poses: Mapping[str, Pose]) -> MarkerArray:
    """Where things are: a marker each, whose namespace is the thing's name."""
    markers = []
    for number, (name, pose) in enumerate(poses.items()):
        thing = things[name]
        (x, y, z), (w, i, j, k) = pose.position, pose.turn
        red, green, blue = thing.colour
        marker = Marker(
            header=Header(stamp=stamp, frame_id=FRAME),
            ns=name,
            id=number,
            type=Marker.CUBE if thing.shape == "box" else Marker.CYLINDER,
            pose=PoseMsg(position=Point(x=x, y=y, z=z), orientation=Quaternion(w=w, x=i, y=j, z=k)),
            color=ColorRGBA(r=float(red), g=float(green), b=float(blue), a=1.0),
            text=thing.words,
        )
        marker.scale.x, marker.scale.y, marker.scale.z = (float(v) for v in thing.size)
        markers.append(marker)
    return MarkerArray(markers=markers)


def poses_from_msg(message: MarkerArray) -> dict[str, Pose]:
    """By name, where things are."""
    result = {}
    for marker in message.markers:
        place, turn = marker.pose.position, marker.pose.orientation
        result[marker.ns] = Pose((place.x, place.y, place.z), (turn.w, turn.x, turn.y, turn.z))
    return result
