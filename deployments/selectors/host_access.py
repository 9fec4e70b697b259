"""The way to a host as its page shows it: the last test, certificates, and what is to be confirmed."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import DateTimeField, Expression
from django.db.models.functions import Coalesce, Least
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from deployments.models import Host, Reachability
from deployments.models.fleet import HostAccess
from deployments.planning.engine_address import Way, fingerprint_of
from deployments.planning.text import NOTHING, Text, is_text, text_from_document

WARNED_BEFORE = timedelta(days=30)
"""A certificate that ends sooner needs somebody; renewing one goes through several hands."""
URGENT_BEFORE = timedelta(days=7)

STEP_NAMES = {
    "name": _("Name"),
    "route": _("Way to the port"),
    "certificate": _("Certificate"),
    "host_key": _("SSH host key"),
    "login": _("Login"),
    "api": _("Docker API"),
    "rights": _("Rights"),
    "identity": _("Identity"),
    "clock": _("Clock"),
}


STEP_STATES = {
    "passed": ("good", _("Passed")),
    "noted": ("attention", _("Note")),
    "failed": ("bad", _("Failed")),
    "not_reached": ("idle", _("Not reached")),
}
"""Tone and word of each state."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepLine:
    """One step of the last test; ``state`` is passed, noted, failed or not_reached."""

    name: object
    state: str
    sentence: Text

    @property
    def tone(self) -> str:
        """How much it needs somebody."""
        return STEP_STATES[self.state][0]

    @property
    def label(self) -> object:
        """The state in a word."""
        return STEP_STATES[self.state][1]


@dataclass(frozen=True, slots=True, kw_only=True)
class CertificateLine:
    """A certificate on the way and until when it holds."""

    name: object
    ends: datetime

    @property
    def days(self) -> int:
        """Whole days that are left, negative when it is over."""
        return (self.ends - timezone.now()).days

    @property
    def tone(self) -> str:
        """How much it needs somebody."""
        left = self.ends - timezone.now()
        if left < URGENT_BEFORE:
            return "bad"
        return "attention" if left < WARNED_BEFORE else "good"


@dataclass(frozen=True, slots=True, kw_only=True)
class WayView:
    """Everything that the page of the way to a host shows."""

    host: Host
    way: Way
    row: HostAccess | None
    steps: tuple[StepLine, ...]
    certificates: tuple[CertificateLine, ...]

    @property
    def waiting(self) -> bool:
        """Whether a test was asked for and has no result yet."""
        return self.row is not None and (
            self.row.test_asked_at is not None and self.row.tested_at is None
        )

    @property
    def stamp(self) -> str:
        """Changes when the page would."""
        if self.row is None:
            return "0"
        moment = self.row.tested_at or self.row.test_asked_at
        return (
            f"{'w' if self.waiting else 'd'}{moment.timestamp() if moment else 0:.0f}"
        )

    @property
    def failed(self) -> bool:
        """Whether a step failed."""
        return any(step.state == "failed" for step in self.steps)

    @property
    def has_credentials(self) -> bool:
        """Whether something is kept to prove the panel with."""
        return self.row is not None and bool(self.row.sealed)

    @property
    def offered_key(self) -> str:
        """The SSH host key that waits for somebody to confirm it, as ``type base64``."""
        return self.row.offered_host_key if self.row else ""

    @property
    def offered_fingerprint(self) -> str:
        """Its fingerprint."""
        return fingerprint_of(self.offered_key)

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the confirmed SSH host key."""
        return fingerprint_of(self.row.host_key) if self.row else ""

    @property
    def offered_engine(self) -> str:
        """The id of another engine that waits for somebody to confirm it."""
        different = self.host.reachability == Reachability.DIFFERENT_ENGINE
        return self.row.offered_engine_id if self.row and different else ""


def way_view(host: Host) -> WayView:
    """The way to one host, in one query."""
    row = HostAccess.objects.filter(host=host).first()
    return WayView(
        host=host,
        way=Way(host.docker_address.partition(":")[0]),
        row=row,
        steps=tuple(map(_step, row.steps)) if row else (),
        certificates=_certificates(row) if row else (),
    )


def way_ends(never: Expression) -> Least:
    """When the first certificate on the way to a host ends; ``never`` where there is none."""
    names = ("authority_expires_at", "certificate_expires_at", "server_expires_at")
    return Least(
        *(
            Coalesce(f"access__{name}", never, output_field=DateTimeField())
            for name in names
        )
    )


def _step(row: dict[str, object]) -> StepLine:
    sentence = row["sentence"]
    return StepLine(
        name=STEP_NAMES.get(str(row["step"]), row["step"]),
        state=str(row["state"]),
        sentence=text_from_document(sentence) if is_text(sentence) else NOTHING,
    )


def _certificates(row: HostAccess) -> tuple[CertificateLine, ...]:
    found = (
        (_("Certificate of the host"), row.server_expires_at),
        (_("Client certificate of the panel"), row.certificate_expires_at),
        (_("Authority"), row.authority_expires_at),
    )
    return tuple(CertificateLine(name=name, ends=ends) for name, ends in found if ends)
