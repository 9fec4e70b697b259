"""Sentences in rows: stored with their template and values, so that each reader has them translated."""

import json
from typing import TYPE_CHECKING

from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models.expressions import Expression

from deployments.planning.text import Text, is_text, text_from_document

if TYPE_CHECKING:
    _TextField = models.TextField[Text | str, Text]
else:
    _TextField = models.TextField


class SentenceField(_TextField):
    """A ``Text``, kept as its JSON form in a text column; empty is nothing said.

    Rows from before this field, and strings that are no ``Text``, are taken as words of somebody
    else: a template without values.
    """

    _pyi_private_set_type: Text | str
    _pyi_private_get_type: Text

    def from_db_value(
        self,
        value: str | None,
        expression: Expression,
        connection: BaseDatabaseWrapper,
    ) -> Text | None:
        """Read the column."""
        del expression, connection
        return self.to_python(value)

    def to_python(self, value: object) -> Text | None:
        """Read the JSON form, or take a plain string as it is."""
        if value is None or isinstance(value, Text):
            return value
        document = value if is_text(value) else _document(str(value))
        return text_from_document(document) if is_text(document) else Text(str(value))

    def get_prep_value(self, value: object) -> str | None:
        """Write the JSON form; nothing stays nothing, so that constraints can ask for it."""
        said = self.to_python(value)
        if not said:
            return said
        return json.dumps(said.document, ensure_ascii=False, separators=(",", ":"))


def _document(stored: str) -> object:
    if not stored.startswith('{"template":'):
        return None
    try:
        return json.loads(stored)
    except ValueError:
        return None
