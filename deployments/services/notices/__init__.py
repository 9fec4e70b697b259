"""Tell people and teams what happened: written with the act, sent by a worker, never in its way."""
