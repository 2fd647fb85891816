"""good_ros: goal inference from open-ended dialog, as a stack of ROS 2 nodes.

The generated ``msg``, ``srv`` and ``action`` modules live in the folder that
colcon installs; extending the path lets a source checkout find them too.
"""

from pkgutil import extend_path

__path__ = extend_path(__path__, __name__)
__version__ = "0.1.0"
