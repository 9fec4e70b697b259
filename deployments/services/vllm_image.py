"""Build the image of a real vLLM for the CPU on a host through the Docker API."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Thread
from typing import BinaryIO

from deployments.services.image_builds import (
    BuiltImage,
    Content,
    ImageBuildError,
    build_image,
)
from deployments.services.local_host import LOCAL
from practice.elf import ElfError
from practice.vllm_cpu.image import (
    IMPORT_CHANGES,
    VLLM_IMAGE,
    recipe,
    write_root_filesystem,
)
from practice.vllm_cpu.install import InstallError

CONTENT_LABEL = "draftboard.vllm-cpu.content"
NO_ENTRY = b"\xff" * 512
"""No header of a tar archive: without it the engine would take the first half for the whole."""


def build_vllm_image(host_name: str = LOCAL) -> BuiltImage:
    """Put the image onto a host, unless exactly this one is there.

    Raises:
        ImageBuildError: no host has the name, its engine does not answer, or a part of the image is
            missing on this machine.
    """
    try:
        digest = recipe()
    except (InstallError, OSError) as error:
        raise ImageBuildError(str(error)) from error
    content = Content(
        reference=VLLM_IMAGE,
        changes=IMPORT_CHANGES,
        label=CONTENT_LABEL,
        digest=digest,
        opened=_packed,
    )
    return build_image(host_name, content)


@contextmanager
def _packed() -> Iterator[BinaryIO]:
    """Pack in a thread while the engine reads: the gigabytes lie nowhere in between.

    Raises:
        ImageBuildError: something cannot be packed.
    """
    troubles: list[Exception] = []
    reading, writing = os.pipe()

    def pack() -> None:
        complete = False
        with suppress(BrokenPipeError), os.fdopen(writing, "wb") as stream:
            try:
                write_root_filesystem(stream)
                complete = True
            except BrokenPipeError:
                raise
            except (ElfError, InstallError, OSError) as error:
                troubles.append(error)
            finally:
                if not complete:
                    stream.write(NO_ENTRY)

    packer = Thread(target=pack, name="packing vLLM")
    packer.start()
    try:
        with os.fdopen(reading, "rb") as stream:
            yield stream
    finally:
        packer.join()
        if troubles:
            raise ImageBuildError(str(troubles[0])) from troubles[0]
