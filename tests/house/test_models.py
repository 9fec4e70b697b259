"""Every table is described, and can be shown to a person."""

import inspect

import pytest
from django.apps import apps
from django.db.models import Model

TABLES = list(apps.get_app_config("deployments").get_models())


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.__name__)
def test_table_has_a_docstring_and_a_name_for_people(table: type[Model]) -> None:
    """Django would make a docstring of the field list."""
    doc = inspect.getdoc(table) or ""
    assert doc
    assert not doc.startswith(f"{table.__name__}(")
    assert any("__str__" in vars(base) for base in table.__mro__[:-2])


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.__name__)
def test_every_choice_is_also_a_rule_of_the_database(table: type[Model]) -> None:
    """A state that the code does not know must not be written by anyone."""
    rules = " ".join(str(rule.deconstruct()) for rule in table._meta.constraints)
    loose = [
        field.name
        for field in table._meta.get_fields()
        if isinstance(getattr(field, "choices", None), list)
        and f"{field.name}__in" not in rules
    ]
    assert loose == []
