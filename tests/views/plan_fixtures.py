"""What tests of the wizard's pages share: models, hosts, and complete addresses."""

import pytest

from deployments.models import Cluster, Host, TargetModel
from tests.factories import DeviceFactory, HostFactory, TargetModelFactory
from tests.wizard_values import DOCUMENTS, GLM, QWEN, query


@pytest.fixture(name="models")
def shipped_models(db: None) -> dict[str, TargetModel]:
    """GLM-5.2 with MTP layers and Qwen3-8B with drafters, as they ship."""
    return {
        key: TargetModelFactory.create(key=key, document=DOCUMENTS[key])
        for key in (GLM, QWEN)
    }


@pytest.fixture(name="gpu")
def gpu_host(cluster: Cluster) -> Host:
    """A host with two devices of 80 GiB."""
    host = HostFactory.create(cluster=cluster, name="gpu-1", model_root="/data/models")
    for number in range(2):
        DeviceFactory.create(host=host, number=number)
    return host


@pytest.fixture(name="local")
def local_host(cluster: Cluster) -> Host:
    """A host without accelerators."""
    return HostFactory.create(cluster=cluster, name="local", platform="cpu")


@pytest.fixture(name="state")
def complete_state(
    cluster: Cluster, gpu: Host, models: dict[str, TargetModel]
) -> dict[str, object]:
    """The state of a wizard that only needs to be submitted."""
    return {"model": QWEN, "cluster": str(cluster.pk), "host": gpu.name}


def at(step: str, state: dict[str, object], **more: object) -> str:
    """The address of a step."""
    return f"/plan/?{query(step=step, **{**state, **more})}"
