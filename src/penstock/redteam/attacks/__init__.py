"""Attacks: one file a family. Each is a plugin of the kind `attack`, by its name."""
