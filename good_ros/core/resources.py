"""Finding the files of ``config/``, in a checkout and where the package is installed."""

from pathlib import Path

from good_ros.core.errors import InputError


def config_folder() -> Path:
    """The ``config`` folder. Raises InputError where there is none."""
    checkout = Path(__file__).parents[2] / "config"
    if (checkout / "profiles").is_dir():
        return checkout
    try:
        from ament_index_python.packages import get_package_share_directory

        installed = Path(get_package_share_directory("good_ros")) / "config"
    except Exception as error:
        raise InputError(f"the config folder is not found: {error}") from error
    if not installed.is_dir():
        raise InputError(f"the config folder {installed} is not there: build with colcon again")
    return installed
