"""An in-process household with AI2-THOR's metadata and action rules on its real scenes."""
