"""The version of the installed package."""

from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed_version


def version() -> str:
    """The version, or "unknown" where hrcase runs without having been installed."""
    try:
        return installed_version("hrcase")
    except PackageNotFoundError:
        return "unknown"
