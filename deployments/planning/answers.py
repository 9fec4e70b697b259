"""Plans and recommendations in the shape that the commands print as JSON."""

from deployments.planning.canonical import Json
from deployments.planning.documents import in_english, to_document
from deployments.planning.launch.files import launch_files
from deployments.planning.launch.meaning import environment_of, image_of
from deployments.planning.plan import Plan, PlannedReplica


def plan_answer(plan: Plan) -> dict[str, Json]:
    """Return a plan as ``plan_deployment --json`` prints it; what is not known is null."""
    return {
        "digest": plan.digest,
        "can_submit": plan.can_submit,
        "decision": in_english(to_document(plan.decision)),
        "engine": f"{plan.engine}=={plan.engine_version}",
        "model": plan.model,
        "checkpoint": plan.checkpoint,
        "replicas": [_replica(replica) for replica in plan.replicas],
        "memory": [],
        "prediction": None,
        "findings": in_english(to_document(plan.findings)),
        "files": [path for path, _text in launch_files(plan)],
    }


def _replica(replica: PlannedReplica) -> dict[str, Json]:
    spec = replica.container
    return {
        "name": spec.name,
        "host": replica.host,
        "role": replica.role.value,
        "rank": replica.rank,
        "devices": list(replica.devices),
        "image": image_of(spec),
        "entrypoint": None,
        "argv": list(spec.command),
        "env": dict(environment_of(spec)),
        "mounts": to_document(spec.mounts),
        "ports": [
            {"host": port.host, "container": port.container, "purpose": port.purpose}
            for port in spec.ports
        ],
        "speculation": to_document(replica.speculation),
        "practice": replica.practice,
    }
