"""A column whose text ``services.secrets`` has encrypted."""

from typing import TYPE_CHECKING

from django.db import models

if TYPE_CHECKING:
    _TextField = models.TextField[str, str]
else:
    _TextField = models.TextField


class SealedField(_TextField):
    """Marks secrets, so that a change of keys finds every one of them; empty is none kept."""

    _pyi_private_set_type: str
    _pyi_private_get_type: str
