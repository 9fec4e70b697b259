"""Atlas 300I DUO (310P): no prefill and decode apart, float16, few methods, a short context."""

from deployments.planning.methods import Method
from deployments.planning.platforms.ascend import Ascend
from deployments.planning.platforms.platform import Traits

ASCEND_310P = Ascend(
    name="ascend-310p",
    title="Atlas 300I DUO (Ascend 310P)",
    image_suffix="-310p",
    first_kv_port=28000,
    kv_connector=None,
    fabric_mounts=(),
    shm_size_bytes=10 << 30,
    traits=Traits(
        methods=frozenset((Method.MTP, Method.NGRAM)),
        flags=(
            (
                "--additional-config",
                {"ascend_compilation_config": {"enable_npugraph_ex": False}},
            ),
            ("--dtype", "float16"),
        ),
        needs_length=True,
        source="vllm-ascend documentation v0.23.0, quick start and 310P tutorials",
    ),
)
