"""The grocery store of GOOD's shopping experiments (IV-B)."""
