"""Plans as values, small and complete, for tests that need one without planning it."""

from deployments.planning.canonical import Json
from deployments.planning.container import (
    ContainerSpec,
    ImageReference,
    Mount,
    PortMapping,
)
from deployments.planning.documents import to_document
from deployments.planning.plan import (
    Decision,
    ExpectedSpeculation,
    Plan,
    PlannedReplica,
    Role,
)
from deployments.planning.revision import RevisionSpec, RoleSpec, SpeculationChoice

IMAGE_DIGEST = "sha256:" + "ab" * 32


def planned_replica(  # noqa: PLR0913 - tests name what they care about
    *,
    name: str = "chat",
    host: str = "gpu-1",
    role: Role = Role.COMBINED,
    rank: int = 0,
    devices: tuple[int, ...] = (0,),
    port: int = 8000,
    method: str | None = "mtp",
    count: int = 3,
    flags: tuple[str, ...] = ("--max-num-seqs", "16"),
    practice: bool = False,
) -> PlannedReplica:
    """One replica that serves ``name`` with ``method`` (``None``: without speculation)."""
    speculation = (
        (
            "--speculative-config",
            f'{{"method":"{method}","num_speculative_tokens":{count}}}',
        )
        if method
        else ()
    )
    return PlannedReplica(
        role=role,
        rank=rank,
        host=host,
        devices=devices,
        container=ContainerSpec(
            name=f"{name}-{role}-{rank}",
            image=ImageReference(
                reference="vllm/vllm-openai:v0.32.0", digest=IMAGE_DIGEST
            ),
            command=("vllm", "serve", "/models/target", *flags, *speculation),
            environment=(("VLLM_LOGGING_LEVEL", "INFO"),),
            mounts=(Mount(source="/data/models/target", target="/models/target"),),
            ports=(PortMapping(host=port, container=8000, purpose="api"),),
        ),
        served_model_name=name,
        speculation=ExpectedSpeculation(method=method, num_speculative_tokens=count)
        if method
        else None,
        health_port=port,
        practice=practice,
    )


def revision_document(
    *, name: str = "chat", number: int = 1, hosts: tuple[str, ...] = ("gpu-1",)
) -> dict[str, Json]:
    """The document of a revision that combines prefill and decode on ``hosts``."""
    spec = RevisionSpec(
        name=name,
        model="acme/target",
        roles=(RoleSpec(role=Role.COMBINED, hosts=hosts),),
        speculation=SpeculationChoice(method="mtp", num_speculative_tokens=3),
        number=number,
    )
    document = to_document(spec)
    if not isinstance(document, dict):
        raise TypeError("a revision is a JSON object")
    return document


def plan_value(
    *,
    name: str = "chat",
    number: int = 1,
    method: str | None = "mtp",
    count: int = 3,
    replicas: tuple[PlannedReplica, ...] | None = None,
) -> Plan:
    """A plan of one combined replica, or of the replicas given."""
    if replicas is None:
        replicas = (planned_replica(name=name, method=method, count=count),)
    return Plan(
        deployment=name,
        revision=revision_document(name=name, number=number),
        engine="vllm",
        engine_version="0.32.0",
        model="acme/target",
        checkpoint="bf16",
        decision=Decision(
            method=method or "off",
            num_speculative_tokens=count if method else None,
            drafter=None,
            path=(),
            methods=(),
        ),
        replicas=replicas,
        findings=(),
        snapshot_digests=(("gpu-1", "sha256:" + "0" * 64),),
    )
