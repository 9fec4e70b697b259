"""The container around a launch: devices, mounts, shared memory, ports, image."""

from collections.abc import Iterator

from deployments.planning.importing.launch import API_SERVER, Launch
from deployments.planning.importing.programs import image_program
from deployments.planning.plan import Severity
from deployments.planning.rules.launch.engine import engine_of_image
from deployments.planning.rules.launch.rule import (
    Edit,
    Hit,
    LaunchRule,
    RuleCard,
    replace_text,
)
from deployments.planning.rules.launch.view import LaunchView
from deployments.planning.text import listed, text

MANAGEMENT = ("/dev/davinci_manager", "/dev/devmm_svm", "/dev/hisi_hdc")
MANAGEMENT_950 = ("/dev/davinci_manager", "/dev/hisi_hdc")
DRIVER = "/usr/local/Ascend/driver"
INSTALLATION = "vllm-ascend documentation v0.23.0, installation"
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


@RuleCard(
    code="MANAGEMENT_DEVICES_MISSING",
    category="device",
    severity=Severity.ERROR,
    summary=text("An Ascend container needs the management devices beside its NPUs."),
    fix=text("Pass /dev/davinci_manager, /dev/devmm_svm and /dev/hisi_hdc too."),
    source=INSTALLATION,
    platforms=("ascend",),
)
def management(view: LaunchView) -> Iterator[Hit]:
    """Fires on NPUs without their management devices."""
    container = view.launch.container
    if container is None or not view.ascend or container.privileged:
        return
    if not any(one.startswith("/dev/davinci") for one in container.devices):
        return
    wanted = MANAGEMENT_950 if view.chip == "950" else MANAGEMENT
    missing = [one for one in wanted if one not in container.devices]
    if missing:
        yield Hit(
            message=text("The container lacks {missing}.", missing=listed(missing)),
            fix=text(
                "Add {flags}.", flags=" ".join(f"--device {one}" for one in missing)
            ),
            evidence=", ".join(missing),
            start=container.start,
        )


@RuleCard(
    code="DRIVER_NOT_MOUNTED",
    category="mount",
    severity=Severity.WARNING,
    summary=text("An Ascend container needs the host's driver libraries."),
    fix=text(
        "Mount /usr/local/Ascend/driver/lib64, /usr/local/Ascend/driver/version.info, /usr/local/dcmi, npu-smi and /etc/ascend_install.info."
    ),
    source=INSTALLATION,
    platforms=("ascend",),
)
def driver(view: LaunchView) -> Iterator[Hit]:
    """Fires on an Ascend container that passes NPUs but no driver."""
    container = view.launch.container
    if container is None or not view.ascend or container.runtime == "ascend":
        return
    if not container.devices or any(
        target.startswith(DRIVER) for _host, target in container.mounts
    ):
        return
    if any(
        source.startswith(("/usr/local/Ascend", "/usr/local")) and source.count("/") < 4
        for source, _ in container.mounts
    ):
        return
    yield Hit(
        message=text("The host's driver libraries are not mounted."),
        evidence=DRIVER,
        start=container.start,
    )


@RuleCard(
    code="GPU_NOT_REQUESTED",
    category="device",
    severity=Severity.INFO,
    summary=text(
        "No GPU is asked for: the container sees none unless the NVIDIA runtime is the default."
    ),
    fix=text("Add --gpus all, or a device reservation to the compose service."),
    source="vLLM documentation 0.32.0, Docker",
    platforms=("cuda",),
)
def gpus(view: LaunchView) -> Iterator[Hit]:
    """Fires on a vLLM image without GPUs; a warning on the command line."""
    container = view.launch.container
    if container is None or view.ascend or view.platform not in (None, "cuda"):
        return
    image = container.image or ""
    if image_program(image) is None or "rocm" in image or "cpu" in image:
        return
    if (
        container.gpus
        or container.runtime == "nvidia"
        or container.privileged
        or container.devices
    ):
        return
    yield Hit(
        message=text("The container asks for no GPU."),
        severity=Severity.INFO if container.compose else Severity.WARNING,
        evidence=image,
        start=container.start,
    )


@RuleCard(
    code="SHARED_MEMORY_SMALL",
    category="memory",
    severity=Severity.WARNING,
    summary=text("With several ranks the default 64 MB of shared memory are too few."),
    fix=text("Add --ipc=host, or --shm-size 16g."),
    source="vLLM documentation 0.32.0, Docker; vllm#16841",
    platforms=("cuda", "rocm"),
)
def shared_memory(view: LaunchView) -> Iterator[Hit]:
    """Fires on tensor parallelism in a container with neither."""
    container = view.launch.container
    if container is None or view.ascend or view.launch.tensor_parallel_size < 2:
        return
    if container.image is None or container.host_ipc or container.shm_size is not None:
        return
    if not container.privileged:
        yield Hit(
            message=text(
                "{ranks} ranks share the default 64 MB of shared memory.",
                ranks=view.launch.tensor_parallel_size,
            ),
            evidence=str(view.launch.tensor_parallel_size),
            start=container.start,
        )


@RuleCard(
    code="PATH_NOT_MOUNTED",
    category="mount",
    severity=Severity.WARNING,
    summary=text(
        "The model or its drafter is a path in the container that no mount covers."
    ),
    fix=text("Mount the folder at that path."),
    source="field guide, pitfalls; vLLM 0.32.0, run: Invalid repository ID or local directory specified",
)
def not_mounted(view: LaunchView) -> Iterator[Hit]:
    """Fires on absolute paths outside every mount; an error for a drafter beside a mounted target."""
    container = view.launch.container
    if container is None or not container.mounts:
        return
    targets = [target.rstrip("/") for _host, target in container.mounts]
    drafter = view.speculation.drafter_resolved if view.speculation else None
    model_mounted = _covered(view.model, targets)
    for path, is_drafter in ((view.model, False), (drafter, True)):
        if (
            not path
            or not path.startswith("/")
            or "$" in path
            or _covered(path, targets)
        ):
            continue
        yield Hit(
            message=text("{path} is no mounted path.", path=path),
            severity=Severity.ERROR
            if is_drafter and model_mounted
            else Severity.WARNING,
            evidence=path,
            start=view.spec_place if is_drafter else view.launch.start,
        )


def _covered(path: str, targets: list[str]) -> bool:
    return any(path == one or path.startswith(f"{one}/") for one in targets)


@RuleCard(
    code="PORT_NOT_PUBLISHED",
    category="port",
    severity=Severity.WARNING,
    summary=text(
        "The port that the server listens on is not the one that is published."
    ),
    fix=text("Publish the server's port, or change --port."),
    source="Docker documentation, port publishing",
)
def port_published(view: LaunchView) -> Iterator[Hit]:
    """Fires where ports are published, but not the server's."""
    container = view.launch.container
    if container is None or container.host_network or not container.ports:
        return
    given = view.launch.value("--port")
    listening = view.launch.number("--port") if given else 8000
    if listening is None or any(one.container == listening for one in container.ports):
        return
    published = listed(str(one.container) for one in container.ports[:8])
    yield Hit(
        message=text(
            "The server listens on {listening}, but the container publishes {published}.",
            listening=listening,
            published=published,
        ),
        evidence=published,
        start=view.place("--port"),
    )


@RuleCard(
    code="LISTENS_ON_LOOPBACK",
    category="port",
    severity=Severity.WARNING,
    summary=text(
        "A server that listens on the container's own loopback cannot be reached from outside."
    ),
    fix=text("Use --host 0.0.0.0."),
    source="Docker documentation, port publishing",
)
def loopback(view: LaunchView) -> Iterator[Hit]:
    """Fires on --host 127.0.0.1 in a container with its own network."""
    container, host = view.launch.container, view.launch.value("--host")
    if (
        container is not None
        and container.image
        and not container.host_network
        and host in _LOOPBACK
    ):
        yield Hit(
            message=text(
                "The server listens on {host} inside the container.", host=host or ""
            ),
            evidence=host or "",
            start=view.place("--host"),
        )


@RuleCard(
    code="IMAGE_OF_OTHER_PLATFORM",
    category="device",
    severity=Severity.ERROR,
    summary=text("The image is built for other hardware."),
    fix=text("Use the image of the platform."),
    source="vLLM and vllm-ascend documentation, images",
)
def other_platform(view: LaunchView) -> Iterator[Hit]:
    """Fires on a GPU image for Ascend, an Ascend image with GPUs, and the wrong chip's tag."""
    container = view.launch.container
    if container is None or container.image is None:
        return
    _engine, tag, _version = engine_of_image(container.image)
    ascend_image = "vllm-ascend" in container.image
    gpu_image = image_program(container.image) is not None
    if gpu_image and view.platform == "ascend":
        yield Hit(
            message=text("{image} is not built for Ascend.", image=container.image),
            evidence=container.image,
            start=container.start,
        )
    elif ascend_image and (container.gpus or view.platform in ("cuda", "rocm", "xpu")):
        yield Hit(
            message=text(
                "{image} is built for Ascend, not for GPUs.", image=container.image
            ),
            evidence=container.image,
            start=container.start,
        )
    elif (
        ascend_image
        and tag
        and view.chip in ("a3", "310p", "950")
        and not _fits(tag, view.chip)
    ):
        yield Hit(
            message=text("The tag {tag} is not the one of this chip.", tag=tag),
            severity=Severity.WARNING,
            evidence=tag,
            start=container.start,
        )


def _fits(tag: str, chip: str) -> bool:
    lowered = tag.lower()
    suffixes = {"a3": ("-a3",), "310p": ("-310p",), "950": ("-950", "-a5")}[chip]
    return any(one in lowered for one in suffixes)


@RuleCard(
    code="MODEL_AS_WORD",
    category="unknown-flag",
    severity=Severity.ERROR,
    summary=text(
        "Images up to vLLM 0.11.0 start the old server module, which takes the model as --model only."
    ),
    fix=text("Write --model in front of it."),
    source="vLLM Dockerfiles, entrypoint 0.8.5 to 0.33.0",
    versions=text("up to vLLM 0.11.0"),
)
def model_as_word(view: LaunchView) -> Iterator[Hit]:
    """Fires on a model without --model for the old module."""
    launch = view.launch
    positional = bool(launch.arguments.positional) and launch.flag("--model") is None
    container = launch.container
    by_image = (
        container is not None
        and image_program(container.image) is not None
        and container.entrypoint is None
        and view.vllm_before(0, 11, 1)
        and not launch.words[0].text.endswith("vllm")
    )
    if positional and (by_image or launch.program == API_SERVER) and launch.is_vllm:
        yield Hit(
            message=text(
                "{model} stands without --model, which this server needs.",
                model=view.model,
            ),
            evidence=view.model,
            start=launch.start,
            edits=_named(launch),
        )


def _named(launch: Launch) -> tuple[Edit, ...]:
    word = launch.model_word
    if word is None or not word.has_place or word.form != "shell":
        return ()
    return (replace_text(word.start, word.start, "--model "),)


@RuleCard(
    code="PORT_TAKEN",
    category="port",
    severity=Severity.ERROR,
    summary=text("Two containers of one file publish the same port of the host."),
    fix=text("Publish each on a port of its own."),
    source="Docker documentation, port publishing: port is already allocated",
)
def port_taken(view: LaunchView) -> Iterator[Hit]:
    """Fires on the second container that takes a port."""
    own = view.launch.container
    if own is None or not own.compose:
        return
    before = [
        one for one in view.source.containers if one.compose and one.start < own.start
    ]
    taken = {port.host for one in before for port in one.ports if port.host is not None}
    for port in own.ports:
        if port.host in taken:
            yield Hit(
                message=text(
                    "Port {port} of the host is already published.", port=port.host or 0
                ),
                evidence=str(port.host),
                start=own.start,
            )


SURROUNDING_RULES: tuple[LaunchRule, ...] = (
    management,
    driver,
    gpus,
    shared_memory,
    not_mounted,
    port_published,
    port_taken,
    loopback,
    other_platform,
    model_as_word,
)
