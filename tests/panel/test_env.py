"""Readers of environment variables: what they accept, and what they say otherwise."""

from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from panel import env


@pytest.fixture(autouse=True)
def _asked_names_stay_as_they_were(monkeypatch: pytest.MonkeyPatch) -> None:
    """The names read here are none of the panel's."""
    monkeypatch.setattr(env, "_asked", set())


@pytest.mark.parametrize(
    ("word", "meaning"),
    [("1", True), ("yes", True), ("ON", True), ("0", False), ("false", False)],
)
def test_boolean_takes_the_usual_words(
    monkeypatch: pytest.MonkeyPatch, word: str, *, meaning: bool
) -> None:
    """Upper and lower case alike."""
    monkeypatch.setenv("SWITCH", word)
    assert env.boolean("SWITCH", default=not meaning) is meaning


def test_boolean_refuses_other_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """A typing error must not switch protection off."""
    monkeypatch.setenv("SWITCH", "ture")
    with pytest.raises(ImproperlyConfigured, match="SWITCH is 'ture', but must be 1"):
        env.boolean("SWITCH", default=False)


@pytest.mark.parametrize("text", ["-1", "3.5", "many"])
def test_integer_refuses_what_is_no_count(
    monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    """The message names variable and value."""
    monkeypatch.setenv("COUNT", text)
    with pytest.raises(ImproperlyConfigured, match=f"COUNT is '{text}'"):
        env.integer("COUNT", default=1)


def test_missing_variable_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Empty counts as missing."""
    monkeypatch.setenv("ADDRESS", " ")
    with pytest.raises(ImproperlyConfigured, match="ADDRESS is not set"):
        env.text("ADDRESS")


def test_secret_comes_from_a_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Without the newline that editors add; both names are remembered."""
    file = tmp_path / "key"
    file.write_text("s3cret\n", encoding="utf-8")
    monkeypatch.setenv("KEY_FILE", str(file))
    assert env.secret("KEY") == "s3cret"
    assert env.asked_names() == {"KEY_FILE"}


def test_secret_file_that_cannot_be_read_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Falling back to no secret would be worse than not starting."""
    monkeypatch.setenv("KEY_FILE", str(tmp_path / "absent"))
    with pytest.raises(ImproperlyConfigured, match="absent, which cannot be read"):
        env.secret("KEY", default="fallback")


def test_secret_given_twice_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Nobody could tell which one counts."""
    monkeypatch.setenv("KEY", "a")
    monkeypatch.setenv("KEY_FILE", str(tmp_path / "key"))
    with pytest.raises(ImproperlyConfigured, match="Both KEY and KEY_FILE"):
        env.secret("KEY")


@pytest.mark.parametrize(
    ("redis", "celery"),
    [
        ("redis://:p@host:6379/2", "redis://:p@host:6379/2"),
        ("unix:///run/redis.sock", "redis+socket:///run/redis.sock"),
        ("unix://:p%2F@/r.sock?db=1", "redis+socket://:p%2F@/r.sock?virtual_host=1"),
    ],
)
def test_broker_address_is_the_same_redis(redis: str, celery: str) -> None:
    """Celery has another word for a Unix socket."""
    assert env.broker_address(redis) == celery


def test_broker_of_another_kind_is_refused() -> None:
    """Only Redis is tested, so only Redis is accepted."""
    with pytest.raises(ImproperlyConfigured, match="begins with 'amqp'"):
        env.broker_address("amqp://host")


PLACES = frozenset({"from", "to", "deployment"})


def test_a_link_template_may_hold_what_is_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nothing is nothing; a good one comes back as it is."""
    assert env.link_template("LINK", PLACES) == ""
    link = "https://grafana.example/d/a?var-x={deployment}&from={from}&to={to}"
    monkeypatch.setenv("LINK", link)
    assert env.link_template("LINK", PLACES) == link


@pytest.mark.parametrize(
    ("link", "why"),
    [
        ("javascript:alert({from})", "must begin with http"),
        ("https:///d/a?from={from}", "must begin with http"),
        ("https://{deployment}.example/", "must name its host without"),
        ("https://g.example/?v={version}", "nothing is known for; there are"),
        ("https://g.example/?v={from.real}", "nothing is known for"),
        ("https://g.example/?v={from!r}", "nothing is known for"),
        ("https://g.example/?v={", "cannot be read"),
    ],
)
def test_a_link_template_that_leads_nowhere_is_refused(
    monkeypatch: pytest.MonkeyPatch, link: str, why: str
) -> None:
    """It is found at the start and not under somebody's hands."""
    monkeypatch.setenv("LINK", link)
    with pytest.raises(ImproperlyConfigured, match=why):
        env.link_template("LINK", PLACES)
