"""What every table of the panel has: an opaque id and the time it was made."""

import uuid

from django.db import models


class Row(models.Model):
    """A row with a random id, so that ids can stand in addresses and guess nothing."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        abstract = True
