"""Somebody at the panel in a language and on a device: presses, types, looks, keeps pictures."""

import itertools
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from django.utils.translation import gettext, override
from playwright.sync_api import Browser, Locator, Page, expect

from tests.e2e.panel import RunningPanel
from tests.e2e.person import Person

PATIENCE_MS = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """A language, a device and a theme."""

    language: str
    size: Literal["desktop", "phone"]
    theme: Literal["light", "dark"]

    @property
    def phone(self) -> bool:
        """Whether fingers do it."""
        return self.size == "phone"

    def __str__(self) -> str:
        """How tests and pictures name it: en-desktop."""
        return f"{self.language[:2]}-{self.size}"

    def say(self, message: str, **values: object) -> str:
        """A text of the panel as this person reads it."""
        with override(self.language):
            said = gettext(message)
        return said % values if values else said


class Walk:
    """One person's tab. ``presses`` counts clicks and taps, ``faults`` what scripts complained of."""

    def __init__(
        self, browser: Browser, panel: RunningPanel, look: Look, screens: Path
    ) -> None:
        phone = look.phone
        self.width, self.height = (390, 844) if phone else (1440, 900)
        self.look, self.panel, self.screens = look, panel, screens
        self.presses = 0
        self.faults: list[str] = []
        self._numbers = itertools.count(1)
        self.context = browser.new_context(
            base_url=panel.address,
            viewport={"width": self.width, "height": self.height},
            is_mobile=phone,
            has_touch=phone,
            color_scheme=look.theme,
            locale="en-GB",
        )
        self.context.set_default_timeout(PATIENCE_MS)
        self.page: Page = self.context.new_page()
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))

    def say(self, message: str, **values: object) -> str:
        """A text of the panel in the language of the walk."""
        return self.look.say(message, **values)

    def log_in(self, person: Person) -> None:
        """Choose the language on the log-in page, then log in and land on the overview."""
        self.page.goto("/accounts/login/?next=/")
        root = self.page.locator("html")
        language = re.compile(f"^{self.look.language}$", re.IGNORECASE)
        if not language.search(root.get_attribute("lang") or ""):
            self.press(self.page.locator(f"button[lang={self.look.language}]"))
        expect(root).to_have_attribute("lang", language)
        self.page.locator("[name=login]").fill(person.name)
        self.page.locator("[name=password]").fill(person.password)
        self.page.keyboard.press("Enter")
        self.page.wait_for_url(f"{self.panel.address}/")

    def press(self, what: Locator) -> None:
        """Click, or tap on a phone; the page scrolls there by itself, as a person would."""
        self.presses += 1
        if self.look.phone:
            what.tap()
        else:
            what.click()

    def button(self, message: str, **values: object) -> Locator:
        """The first button that can be seen with this text."""
        return self.page.get_by_role("button", name=self.say(message, **values)).first

    def go(self, address: str, key: str) -> None:
        """Use the navigation: its sheet on a phone, two keys on a desktop."""
        if self.look.phone:
            self.press(self.page.locator(".menu"))
            self.press(self.page.locator(f"#nav a[href='{address}']"))
        else:
            self.page.keyboard.press("g")
            self.page.keyboard.press(key)
        self.page.wait_for_url(f"**{address}")

    def shot(self, journey: str, step: str) -> None:
        """Keep a picture of the whole page; nothing may stick out of it sideways.

        The window grows for it, so that a bar at its end stands at the end of the picture.
        """
        wider, height = self.page.evaluate(
            "[document.documentElement.scrollWidth - innerWidth,"
            " document.documentElement.scrollHeight]"
        )
        assert wider <= 0, f"{journey}, {step}: {wider} px too wide"
        name = f"{journey}-{self.look}-{next(self._numbers):02}-{step}.png"
        self.page.set_viewport_size({"width": self.width, "height": height})
        self.page.screenshot(path=self.screens / name)
        self.page.set_viewport_size({"width": self.width, "height": self.height})

    def close(self) -> None:
        """Close the tab; no script may have failed in it."""
        self.context.close()
        assert self.faults == []
