"""Rules over launches that people already have, the findings, and their mechanical fixes."""
