"""``manage.py export_audit``: every entry of the audit as a line of JSON."""

import json
from typing import Any

from django.core.management.base import BaseCommand

from deployments.selectors.audit_chain import whole_chain


class Command(BaseCommand):
    """Print the chain from its first entry; ``verify_audit`` checks such a file anywhere."""

    help = "Print every audit entry as a line of JSON, the first first."

    def handle(self, *_args: Any, **_options: Any) -> None:
        """Write one line after the other, so that a long chain needs no memory."""
        for line in whole_chain():
            self.stdout.write(json.dumps(line, ensure_ascii=False, sort_keys=True))
