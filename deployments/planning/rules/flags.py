"""Extra flags that a person types: unknown, managed by the plan, or forbidden."""

from collections.abc import Iterator

from deployments.planning.context import PlanContext
from deployments.planning.engines.arguments import flag_values
from deployments.planning.engines.nearest import flag_span, nearest_flag
from deployments.planning.plan import Finding, Role, Severity
from deployments.planning.text import Text, text

MANAGED = frozenset(
    f"--{name}"
    for name in [
        "model",
        "served-model-name",
        "host",
        "port",
        "uds",
        "tensor-parallel-size",
        "pipeline-parallel-size",
        "data-parallel-size",
        "data-parallel-size-local",
        "data-parallel-start-rank",
        "data-parallel-rank",
        "data-parallel-address",
        "data-parallel-rpc-port",
        "data-parallel-backend",
        "api-server-count",
        "headless",
        "enable-expert-parallel",
        "quantization",
        "max-model-len",
        "max-num-seqs",
        "max-num-batched-tokens",
        "gpu-memory-utilization",
        "device-memory-utilization",
        "speculative-config",
        "spec-method",
        "spec-model",
        "spec-tokens",
        "kv-transfer-config",
        "nnodes",
        "node-rank",
        "master-addr",
        "master-port",
        "device-ids",
        "root-path",
    ]
)
FORBIDDEN = frozenset(
    f"--{name}"
    for name in [
        "trust-remote-code",
        "config",
        "middleware",
        "api-key",
        "allowed-local-media-path",
        "allowed-media-domains",
        "tool-parser-plugin",
        "reasoning-parser-plugin",
        "io-processor-plugin",
        "logits-processors",
        "worker-cls",
        "worker-extension-cls",
        "scheduler-cls",
        "model-class-overrides",
        "download-dir",
        "hf-token",
        "hf-config-path",
        "hf-overrides",
        "ssl-keyfile",
        "ssl-certfile",
        "ssl-ca-certs",
        "log-config-file",
        "logging-config",
        "tool-server",
        "chat-template",
        "trust-request-chat-template",
        "trust-request-mm-kwargs",
        "profiler-config",
        "weight-transfer-config",
        "otlp-traces-endpoint",
        "kv-events-config",
        "ec-transfer-config",
        "disable-log-stats",
    ]
)
SHORT = {
    "-tp": "--tensor-parallel-size",
    "-pp": "--pipeline-parallel-size",
    "-dp": "--data-parallel-size",
    "-sc": "--speculative-config",
    "-q": "--quantization",
    "-ep": "--enable-expert-parallel",
    "-cc": "--compilation-config",
    "-asc": "--api-server-count",
    "-n": "--nnodes",
    "-r": "--node-rank",
}
SECURITY = text("security rules of this panel")


def flag_rules(context: PlanContext) -> Iterator[Finding]:
    """Judge every extra flag of the revision, and what the plan itself gives this release."""
    yield from _too_new(context)
    for flag, value in context.spec.extra_flags:
        yield from _flag(context, flag)
        if "$" in value:
            yield _finding(
                "FLAG_VALUE_HAS_DOLLAR",
                flag,
                text(
                    "The value of {flag} holds a dollar sign; nothing expands it.",
                    flag=flag,
                ),
                text("Write the value itself."),
            )

        if value.startswith("-") and not value[1:2].isdigit():
            yield _finding(
                "FLAG_VALUE_IS_FLAG",
                flag,
                text(
                    "The value of {flag} begins with a dash and would be read as another flag.",
                    flag=flag,
                ),
                text("Write one flag with its own value."),
            )


def _too_new(context: PlanContext) -> Iterator[Finding]:
    """Flags of documents or of the planner that the chosen release does not have."""
    added = {flag for flag, _value in context.spec.extra_flags}
    needed = {
        flag
        for replica in context.replicas
        if replica.role is not Role.ROUTER and not context.practice
        for flag in flag_values(replica.container.command)
    }
    profile = context.profile
    for flag in sorted(needed - added):
        if profile.knows(flag.partition(".")[0]):
            continue
        yield Finding(
            code="FLAG_NOT_IN_RELEASE",
            category="unknown-flag",
            severity=Severity.ERROR,
            message=text(
                "The plan needs {flag}, which {engine} {version} does not know.",
                flag=flag,
                engine=profile.engine,
                version=profile.version,
            ),
            fix=_instead(context, flag),
            source=profile.source,
            evidence=flag,
        )


def canonical_flag(flag: str, known: tuple[str, ...]) -> tuple[str, ...]:
    """Resolve short names, underscores, dotted keys, ``--no-`` forms and abbreviations.

    Returns every long flag that the engine's parser could mean.
    """
    long = SHORT.get(flag, flag).replace("_", "-").split(".", maxsplit=1)[0]
    long = long.split("=", maxsplit=1)[0]
    positive = f"--{long.removeprefix('--no-')}" if long.startswith("--no-") else long
    for exact in (long, positive):
        if exact in known:
            return (exact,)
    return tuple(name for name in known if name.startswith(positive)) or (long,)


def _flag(context: PlanContext, flag: str) -> Iterator[Finding]:
    known = tuple(sorted({*context.profile.flags, *context.profile.switches}))
    meant = canonical_flag(flag, known)
    if FORBIDDEN.intersection(meant):
        yield _finding(
            "FLAG_FORBIDDEN",
            flag,
            text(
                "{flag} may not be added by hand: it opens files, code or networks, or hides the "
                "metrics.",
                flag=flag,
            ),
            text("Leave it out; the catalog sets what a model needs."),
        )
    elif MANAGED.intersection(meant) or _emitted(context, meant):
        yield _finding(
            "FLAG_MANAGED",
            flag,
            text("{flag} is set by the plan itself.", flag=flag),
            text("Set it in its own field of the revision."),
        )
    elif not set(meant) <= set(known):
        yield Finding(
            code="FLAG_UNKNOWN",
            category="unknown-flag",
            severity=Severity.ERROR,
            message=text(
                "{engine} {version} does not know {flag}.",
                engine=context.profile.engine,
                version=context.profile.version,
                flag=flag,
            ),
            fix=_instead(context, flag),
            source=context.profile.source,
            evidence=flag,
        )


def _instead(context: PlanContext, flag: str) -> Text:
    near = nearest_flag(context.profile, flag)
    if near is not None:
        return text("The nearest flag that it knows is {near}.", near=near)
    span = flag_span(context.profile.engine, flag)
    if span is not None:
        return text(
            "{engine} {first} to {last} know it; choose one of them, or leave it out.",
            engine=context.profile.engine,
            first=span.first,
            last=span.last,
        )
    return text("Check the spelling, or leave it out.")


def _emitted(context: PlanContext, meant: tuple[str, ...]) -> bool:
    return any(
        flag in settings.layout.serving.flags
        for settings in context.roles
        for flag in meant
    )


def _finding(code: str, flag: str, message: Text, fix: Text) -> Finding:
    return Finding(
        code=code,
        category="unknown-flag",
        severity=Severity.ERROR,
        message=message,
        fix=fix,
        source=SECURITY,
        evidence=flag,
    )
