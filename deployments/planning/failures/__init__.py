"""Known failures: what logs of engines show when something is wrong, each with cause and fix."""
