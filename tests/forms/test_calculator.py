"""The calculator's choices are read in the language of the page, not in that of the start."""

from typing import Any

from django.utils import translation

from deployments.forms.calculator import CalculatorForm


def test_methods_are_named_in_the_language_of_the_page() -> None:
    field: Any = CalculatorForm.base_fields["method"]
    with translation.override("zh-hans"):
        said = {value: str(title) for value, title in field.choices}
    assert said["draft_model"] == "独立草稿模型"
    assert said["eagle3"] == "EAGLE-3"
