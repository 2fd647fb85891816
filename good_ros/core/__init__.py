"""Plain data types that every other part shares; nothing here imports them back."""
