"""Every table by its key."""

from collections.abc import Mapping

from deployments.models import TableKey
from deployments.selectors.tables.alarms import ALARMS
from deployments.selectors.tables.approvals import APPROVALS
from deployments.selectors.tables.audit import AUDIT
from deployments.selectors.tables.catalog import CATALOG
from deployments.selectors.tables.deployments import DEPLOYMENTS
from deployments.selectors.tables.hosts import HOSTS
from deployments.selectors.tables.releases import RELEASES
from deployments.selectors.tables.table import Table

TABLES: Mapping[TableKey, Table] = {
    table.key: table
    for table in (DEPLOYMENTS, RELEASES, APPROVALS, CATALOG, HOSTS, ALARMS, AUDIT)
}
