"""What would fit instead: a shorter context, fewer sequences, more devices, another checkpoint."""

from collections.abc import Iterator
from dataclasses import replace

from deployments.planning.context import PlanContext, RoleSettings
from deployments.planning.plan import RoleMemory
from deployments.planning.sizing.documented import unmet_need
from deployments.planning.sizing.question import Question
from deployments.planning.sizing.read_weights import read_weights
from deployments.planning.sizing.role import role_memory
from deployments.planning.text import Text, text

MORE_HOSTS = (2, 3, 4, 8)
SMALLEST_CONTEXT = 1024


def proposals(
    context: PlanContext, settings: RoleSettings, question: Question, found: RoleMemory
) -> tuple[Text, ...]:
    """Return what would fit, the smallest change first; each was sized like the role itself."""
    return (
        *_shorter(question, found),
        *_fewer(context, question, found),
        *_more_devices(context, settings, question),
        *_other_checkpoints(context, question),
    )


def _shorter(question: Question, found: RoleMemory) -> Iterator[Text]:
    if found.documented is not None or found.largest_context is None:
        return
    least = max(question.sequence_tokens, SMALLEST_CONTEXT)
    longest = question.context_length or 0
    if least <= found.largest_context < longest:
        yield text("Set max_model_len to {tokens}.", tokens=found.largest_context)


def _fewer(
    context: PlanContext, question: Question, found: RoleMemory
) -> Iterator[Text]:
    sequences = question.sequences // 2
    while found.documented is None and sequences >= question.sequences_wanted:
        fewer = replace(question, sequences=sequences)
        if role_memory(fewer, context.platform.name).fits:
            yield text("Set max_num_seqs to {sequences}.", sequences=sequences)
            return
        sequences //= 2


def _more_devices(
    context: PlanContext, settings: RoleSettings, question: Question
) -> Iterator[Text]:
    platform, layout = context.platform.name, settings.layout
    need = unmet_need(
        context.checkpoint, platform, question.devices, question.launched_devices
    )
    if need is not None:
        yield text(
            "Use {hosts} hosts with {devices} devices each, as documented.",
            hosts=need.hosts,
            devices=need.devices_per_host,
        )
        return
    taken, present = layout.devices_per_host, layout.hosts[0].device_count
    while taken * 2 <= present:
        taken *= 2
        wider = replace(
            question,
            tensor_parallel_size=taken // layout.data_parallel_size_local,
            draft_tensor_parallel_size=question.draft_tensor_parallel_size,
        )
        if role_memory(wider, platform).fits:
            yield text("Use {devices} devices on each host.", devices=taken)
            return
    if question.geometry.mixture:
        yield from _more_hosts(context, settings, question)


def _more_hosts(
    context: PlanContext, settings: RoleSettings, question: Question
) -> Iterator[Text]:
    layout = settings.layout
    for hosts in MORE_HOSTS:
        if hosts <= layout.hosts_per_instance:
            continue
        more = replace(
            question,
            data_parallel_size=layout.data_parallel_size_local * hosts,
            expert_parallel=True,
        )
        if role_memory(more, context.platform.name).fits:
            yield text(
                "Use {hosts} hosts with {devices} devices each.",
                hosts=hosts,
                devices=layout.devices_per_host,
            )
            return


def _other_checkpoints(context: PlanContext, question: Question) -> Iterator[Text]:
    platform = context.platform.name
    for checkpoint in context.model.checkpoints:
        if (
            checkpoint.key == context.checkpoint.key
            or platform not in checkpoint.platforms
        ):
            continue
        read = read_weights(context.hosts, checkpoint.directory)
        other = replace(question, checkpoint=checkpoint, read=read)
        if role_memory(other, platform).fits:
            yield text("Take the checkpoint {checkpoint}.", checkpoint=checkpoint.key)
            return
