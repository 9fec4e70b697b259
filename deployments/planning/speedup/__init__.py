"""What speculation is worth before it is deployed: tokens per step, time per step, speed-up."""
