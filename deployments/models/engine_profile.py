"""Engine profiles that people made of their own wheels and images, beside those that ship."""

from django.db import models

from deployments.models.base import Row


class OwnEngineProfile(Row):
    """One profile, known to the whole panel under ``name``, such as ``vllm==0.32.0+acme``.

    ``document`` is the profile in full (``deployments.planning.engines.profile``); ``source`` says
    which wheel or image it was read from.
    """

    name = models.CharField(max_length=80, unique=True)
    engine = models.CharField(max_length=20)
    source = models.CharField(max_length=400)
    document = models.JSONField()

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name
