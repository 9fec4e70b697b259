"""Where the charts of a deployment lead on to, if the installation has a Grafana."""

from urllib.parse import quote

from django.conf import settings

from deployments.models import Deployment
from deployments.selectors.acceptance_range import Range

MILLISECONDS = 1000


def grafana_link(deployment: Deployment, seen: Range) -> str:
    """The same deployment and times there; empty where ``GRAFANA_LINK`` is not set.

    Grafana reads times as milliseconds since 1970:
    https://grafana.com/docs/grafana/latest/dashboards/use-dashboards/
    """
    template: str = settings.GRAFANA_LINK
    places = {
        "deployment": quote(deployment.name, safe=""),
        "cluster": quote(deployment.cluster.name, safe=""),
        "from": str(seen.start_s * MILLISECONDS),
        "to": str(seen.end_s * MILLISECONDS),
    }
    return template.format(**places)
