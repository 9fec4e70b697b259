"""Sentences in rows come back with their template and values."""

import pytest
from django.db import connection

from deployments.models import Host
from deployments.planning.text import NOTHING, Text, text
from tests.factories import HostFactory

SAID = text("The Docker Engine of {host} does not answer.", host="gpu-1")


@pytest.fixture
def host(db: None) -> Host:
    """A host that nobody has said anything about."""
    return HostFactory.create()


def reason_of(host: Host) -> Text:
    """What stands in the row."""
    return Host.objects.get(pk=host.pk).reason


def column_of(host: Host) -> str:
    """What stands in the column."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT reason FROM deployments_host")
        (row,) = cursor.fetchall()
    return str(row[0])


def test_template_and_values_come_back(host: Host) -> None:
    Host.objects.update(reason=SAID)
    assert reason_of(host) == "The Docker Engine of gpu-1 does not answer."
    assert reason_of(host).values == (("host", "gpu-1"),)
    host.refresh_from_db()
    host.save()
    assert reason_of(host).template == SAID.template


def test_the_json_form_may_be_stored_as_it_is(host: Host) -> None:
    Host.objects.update(reason=SAID.document)
    assert reason_of(host).values == SAID.values


def test_nothing_stays_an_empty_column(host: Host) -> None:
    Host.objects.update(reason=NOTHING)
    assert column_of(host) == ""
    assert Host.objects.filter(reason="").count() == 1
    assert not reason_of(host)


def test_rows_from_before_are_words_of_somebody_else(host: Host) -> None:
    for stored in ("Connection refused.", '{"template": broken', '{"template":1}'):
        with connection.cursor() as cursor:
            cursor.execute("UPDATE deployments_host SET reason = %s", [stored])
        assert reason_of(host) == stored
        assert reason_of(host).values == ()
