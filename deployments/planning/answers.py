"""Plans and recommendations in the shape that the commands print as JSON."""

from deployments.planning.canonical import Json
from deployments.planning.documents import in_english, to_document
from deployments.planning.launch.files import launch_files
from deployments.planning.launch.meaning import environment_of, image_of
from deployments.planning.plan import Gain, Plan, PlannedReplica, RoleMemory

THOUSAND = 1000


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
        "memory": [memory_answer(one) for one in plan.memory],
        "prediction": gain_answer(plan.gain),
        "findings": in_english(to_document(plan.findings)),
        "files": [path for path, _text in launch_files(plan)],
    }


def memory_answer(memory: RoleMemory) -> dict[str, Json]:
    """Return the memory of a role's fullest device in bytes, with who says each part."""
    parts = {one.kind: one for one in memory.parts}
    basis: dict[str, Json] = {one.kind: one.basis.value for one in memory.parts}
    return {
        "role": memory.role.value,
        "tensor_parallel_size": memory.tensor_parallel_size,
        "data_parallel_size": memory.data_parallel_size,
        "device_bytes": memory.device_bytes,
        "budget_bytes": memory.budget_bytes,
        **{f"{kind}_bytes": part.size_bytes for kind, part in parts.items()},
        "kv_bytes": memory.kv_bytes,
        "kv_bytes_per_token": memory.kv_bytes_per_token,
        "state_bytes_per_sequence": memory.state_bytes_per_sequence,
        "kv_tokens": memory.kv_tokens,
        "sequence_tokens": memory.sequence_tokens,
        "sequences": memory.sequences,
        "sequences_wanted": memory.sequences_wanted,
        "max_model_len": memory.max_model_len,
        "largest_context": memory.largest_context,
        "headroom_bytes": memory.headroom_bytes,
        "fits": memory.fits,
        "documented_need": memory.documented.english if memory.documented else None,
        "basis": {**basis, "kv": memory.kv_basis.value},
        "sources": {
            **{kind: str(part.source) for kind, part in parts.items()},
            "kv": str(memory.kv_source),
        },
        "proposals": [one.english for one in memory.proposals],
    }


def gain_answer(gain: Gain | None) -> dict[str, Json] | None:
    """Return a prediction with ratios as decimals; ``None`` without speculation or size."""
    if gain is None:
        return None
    return {
        "method": gain.method,
        "num_speculative_tokens": gain.num_speculative_tokens,
        "expected_tokens_per_step": gain.tokens_per_step / THOUSAND,
        "speedup": [
            {
                "concurrency": point.concurrency,
                "value": _ratio(point.speedup),
                "low": _ratio(point.low),
                "high": _ratio(point.high),
                "best_num_speculative_tokens": point.best_num_speculative_tokens,
            }
            for point in gain.points
        ],
        "concurrency": gain.concurrency,
        "best_num_speculative_tokens": gain.best_num_speculative_tokens,
        "break_even_concurrency": gain.break_even,
        "break_even_range": [gain.break_even_low, gain.break_even_high],
        "measured_up_to_concurrency": gain.measured_up_to,
        "kind": gain.kind,
        "source": gain.source.english,
        "sentence": gain.sentence.english,
        "warnings": [one.english for one in gain.warnings],
    }


def _ratio(thousandths: int | None) -> float | None:
    return None if thousandths is None else thousandths / THOUSAND


def _replica(replica: PlannedReplica) -> dict[str, Json]:
    spec = replica.container
    return {
        "name": spec.name,
        "host": replica.host,
        "role": replica.role.value,
        "rank": replica.rank,
        "canary": replica.canary,
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
