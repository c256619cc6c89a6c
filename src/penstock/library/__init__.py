"""The library that ships: data only. Own texts; each dataset names its licence."""
