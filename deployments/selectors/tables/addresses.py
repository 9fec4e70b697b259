"""The addresses of rows, which lists ask for by the fifty."""

import uuid
from functools import lru_cache

from django.urls import reverse


@lru_cache(maxsize=16_384)
def address_of(url_name: str, pk: uuid.UUID) -> str:
    """The address of a row's own page; it does not depend on person or language."""
    return reverse(url_name, args=[pk])
