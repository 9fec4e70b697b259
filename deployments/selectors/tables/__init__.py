"""Tables: what a list can be sorted, filtered, searched and shown by, and how its rows are read."""
