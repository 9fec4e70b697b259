"""The executor: claims commands and carries releases out, one journaled step at a time."""
