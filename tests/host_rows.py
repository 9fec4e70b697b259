"""How the panel reaches hosts of other machines, for tests."""
# mypy: allow-untyped-calls

from django.utils import timezone
from factory.declarations import LazyAttribute, LazyFunction, Sequence, SubFactory
from factory.django import DjangoModelFactory

from deployments.models import (
    Host,
    HostSlot,
    ModelDirectory,
    ModelListing,
    QueuedBooking,
)
from deployments.models.fleet import HostAccess
from deployments.planning.documents import to_document
from deployments.planning.model_config.reading import read_model
from deployments.planning.text import text
from tests.factories import HostFactory, ReplicaFactory
from tests.planning.model_config.configs import LLAMA


class HostAccessFactory(DjangoModelFactory[HostAccess]):
    """A host whose way nobody has tested yet."""

    class Meta:
        model = HostAccess

    host = SubFactory(HostFactory)


class HostSlotFactory(DjangoModelFactory[HostSlot]):
    """A free place at a host."""

    class Meta:
        model = HostSlot

    host = SubFactory(HostFactory)
    number = Sequence(lambda n: n + 1)


class QueuedBookingFactory(DjangoModelFactory[QueuedBooking]):
    """A device that a queued replica waits for."""

    class Meta:
        model = QueuedBooking

    replica = SubFactory(ReplicaFactory)
    host = LazyAttribute(lambda row: row.replica.host)
    device = Sequence(lambda n: n % 32_000)


class ModelListingFactory(DjangoModelFactory[ModelListing]):
    """A host whose model directories nobody has looked at yet."""

    class Meta:
        model = ModelListing

    host = SubFactory(HostFactory)


class ModelDirectoryFactory(DjangoModelFactory[ModelDirectory]):
    """A complete model on a host, of which nothing but its place is known."""

    class Meta:
        model = ModelDirectory

    host = SubFactory(HostFactory)
    path = Sequence(lambda n: f"/data/models/model-{n}")
    state = "complete"
    digest = "sha256:" + "0" * 64
    since = LazyFunction(timezone.now)
    seen_at = LazyFunction(timezone.now)


def model_directories(host: Host, path: str) -> ModelDirectory:
    """A host that was read: a model that can be imported, and one whose copy broke off."""
    now = timezone.now()
    ModelListingFactory.create(host=host, asked_at=now, read_at=now, others=2)
    ModelDirectoryFactory.create(
        host=host,
        path=f"{path}-broken",
        state="incomplete",
        problem=text(
            "{file} in {path} is cut off: it has {size} of {wanted} bytes",
            file="model-00007-of-00163.safetensors",
            path=f"{path}-broken",
            size=2_147_483_648,
            wanted=4_302_348_920,
        ),
        fix=text("Copy that file again."),
        has_config=True,
        architecture="DeepseekV3ForCausalLM",
        file_count=163,
        weight_bytes=686_400_000_000,
        index_digest="cd" * 32,
    )
    made: ModelDirectory = ModelDirectoryFactory.create(
        host=host,
        path=path,
        has_config=True,
        architecture="LlamaForCausalLM",
        file_count=4,
        weight_bytes=16_060_556_376,
        index_digest="ab" * 32,
        sizes={
            "total": 16_060_522_496,
            "experts": 0,
            "mtp": 0,
            "mtp_experts": 0,
            "mtp_embeddings": 0,
        },
        reading=to_document(
            read_model(LLAMA, source=f"files on {host.name}, {now:%Y-%m-%d}")
        ),
    )
    return made
