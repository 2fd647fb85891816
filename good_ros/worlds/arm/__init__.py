"""An arm with a gripper at a table: in physics (MuJoCo), or a real one behind ros2_control."""
