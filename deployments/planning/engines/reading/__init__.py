"""Reads an engine's sources as text, never importing them, into an EngineProfile."""
