"""What a person does in the browser: log in, and take a plan through the wizard."""

from dataclasses import dataclass

from playwright.sync_api import Browser, Page

from tests.e2e.panel import RunningPanel, free_port

STEPS = ("workload", "method", "details", "review")


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Somebody who can log in."""

    name: str
    password: str


def add_person(panel: RunningPanel, name: str, *roles: str) -> Person:
    """Make a person with these roles in the default team."""
    flags = [word for role in roles for word in ("--role", role)]
    said = panel.manage("add_person", name, "--keep-password", *flags)
    return Person(name=name, password=said.split()[-1])


def log_in(page: Page, panel: RunningPanel, person: Person) -> Page:
    """Log in and land on the overview."""
    page.goto(f"{panel.address}/accounts/login/?next=/")
    page.locator("[name=login]").fill(person.name)
    page.locator("[name=password]").fill(person.password)
    page.locator("main button").first.click()
    page.wait_for_url(f"{panel.address}/")
    return page


def choose_password(browser: Browser, panel: RunningPanel, person: Person) -> Person:
    """Log in with a one-time password, which opens nothing but the form for another."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{panel.address}/accounts/login/?next=/fleet/")
    page.locator("[name=login]").fill(person.name)
    page.locator("[name=password]").fill(person.password)
    page.locator("main button").first.click()
    page.wait_for_url("**/accounts/password/change/")
    chosen = f"{person.password}, my own"
    page.locator("[name=oldpassword]").fill(person.password)
    page.locator("[name=password1]").fill(chosen)
    page.locator("[name=password2]").fill(chosen)
    page.locator("main button").first.click()
    page.wait_for_url(f"{panel.address}/")
    context.close()
    return Person(name=person.name, password=chosen)


def tab_of(browser: Browser, panel: RunningPanel, person: Person) -> Page:
    """A tab in a browser profile of the person's own, logged in."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    return log_in(context.new_page(), panel, person)


def plan_practice(page: Page, panel: RunningPanel, model: str, name: str) -> None:
    """Walk the wizard to its review: this model, the local host, the practice image.

    The port is a free one, since other engines of this machine may hold the default.
    """
    page.goto(f"{panel.address}/plan/?q={model}")
    page.get_by_role("link", name=model, exact=True).click()
    page.wait_for_url("**model=**")
    page.get_by_role("button", name="Continue to hardware").first.click()
    page.wait_for_url("**step=hardware**")
    page.locator("#id_cluster a").first.click()
    page.wait_for_url("**cluster=**")
    page.locator("#host-local").check()
    page.wait_for_url("**host=local**")
    page.get_by_label("The practice image").check()
    page.wait_for_url("**image_source=practice**")
    for step in STEPS:
        page.get_by_role("button", name=f"Continue to {step}").first.click()
        page.wait_for_url(f"**step={step}**")
        if step == "details":
            page.locator("[name=name]").fill(name)
            page.locator("[name=name]").blur()
            page.wait_for_url(f"**name={name}**")
    page.goto(f"{page.url}&combined_port={free_port()}")
