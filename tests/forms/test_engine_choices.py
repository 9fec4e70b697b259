"""The engine select: what people look for stands first."""

from deployments.forms.wizard.details import DetailsFields, engine_choices
from deployments.planning.engines.profile import shipped_profiles
from deployments.planning.versions import parse_version


def test_newest_first_and_releases_before_candidates() -> None:
    untouched, *groups = engine_choices()
    assert untouched[0] == ""
    titles = [str(title) for title, _versions in groups]
    assert titles == ["vllm", "vllm-ascend", "vllm-ascend, release candidates"]
    for _title, versions in groups:
        assert isinstance(versions, list)
        numbers = [parse_version(name.partition("==")[2]) for name, _said in versions]
        assert numbers == sorted(numbers, reverse=True)


def test_every_shipped_version_can_be_chosen() -> None:
    field = DetailsFields.base_fields["engine"]
    for profile in shipped_profiles():
        assert field.clean(profile.name) == profile.name
