"""Real AI2-THOR scenes through the real ``ai2thor.controller.Controller``."""
