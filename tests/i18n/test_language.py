"""Who reads which language: the browser's until somebody logs in, then the person's own."""

import re

import pytest
from django.test import Client
from django.urls import reverse

from deployments.models import User
from tests.factories import UserFactory

CHINESE = "zh-CN,zh;q=0.9,en;q=0.5"
LANGUAGE = re.compile(r'<html[^>]* lang="([^"]+)"')

pytestmark = pytest.mark.django_db


def language_of(client: Client, address: str, accepted: str) -> str:
    """Return the language that a page says it is in."""
    page = client.get(address, headers={"accept-language": accepted})
    found = LANGUAGE.search(page.content.decode())
    assert found is not None
    return found[1]


def reader(language: str) -> Client:
    """Return the browser of a person who chose a language."""
    user: User = UserFactory.create(language=language)
    client = Client()
    client.force_login(user)
    return client


@pytest.mark.parametrize(
    ("accepted", "expected"),
    [(CHINESE, "zh-Hans"), ("zh-Hans", "zh-Hans"), ("de", "en"), ("en-GB", "en")],
)
def test_log_in_follows_the_browser(
    client: Client, accepted: str, expected: str
) -> None:
    """What nobody translated is read in English."""
    assert language_of(client, reverse("account_login"), accepted) == expected


def test_log_in_in_chinese_says_everything_in_chinese(client: Client) -> None:
    """Also the refusal, which is not this panel's own."""
    answer = client.post(
        reverse("account_login"),
        {"login": "nobody", "password": "wrong"},
        headers={"accept-language": CHINESE},
    )
    page = answer.content.decode()
    assert "用户名或邮箱" in page
    assert "密码" in page
    assert re.search(r"password you specified|are not correct", page) is None


def test_a_person_s_choice_wins_over_the_browser() -> None:
    """In both directions."""
    settings = reverse("settings")
    assert language_of(reader("zh-hans"), settings, "en") == "zh-Hans"
    assert language_of(reader("en"), settings, CHINESE) == "en"


def test_times_follow_the_person_s_zone() -> None:
    """The exact time behind a relative one names the zone."""
    user: User = UserFactory.create(language="zh-hans", time_zone="Asia/Shanghai")
    client = Client()
    client.force_login(user)
    page = client.get(reverse("settings")).content.decode()
    assert re.search(r"服务器时间.{0,200}CST", page, re.DOTALL)
