"""Wiring only: settings, URLs, middleware, Celery, and the one-machine lab."""

from panel.celery import app as celery_app

__all__ = ["celery_app"]
