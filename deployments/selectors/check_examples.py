"""Launches to try: each a link that is checked at once."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.translation import gettext_lazy as _

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise


@dataclass(frozen=True, slots=True, kw_only=True)
class TryOut:
    """One launch to try, with what it shows."""

    title: "StrOrPromise"
    content: str


EXAMPLES = (
    TryOut(
        title=_("Decode on Ascend, a variable in single quotes"),
        content="""\
#!/usr/bin/env bash
export HCCL_BUFFSIZE=800
export HCCL_OP_EXPANSION_MODE=AIV
export EAGLE_PATH=/models/kimi-k2.6-eagle3

vllm serve /workspace/Kimi-K2.6-w8a8 \\
  --served-model-name kimi_k26 \\
  --tensor-parallel-size 4 --data-parallel-size 4 \\
  --enable-expert-parallel --quantization ascend \\
  --max-num-seqs 8 \\
  --max-num-batched-tokens 16 \\
  --speculative-config '{"method":"eagle3","model":"$EAGLE_PATH","num_speculative_tokens":3}' \\
  --compilation-config '{"cudagraph_mode":"FULL_DECODE_ONLY","cudagraph_capture_sizes":[1,2,4,8,16]}' \\
  --kv-transfer-config '{"kv_connector":"MooncakeConnectorV1","kv_role":"kv_consumer"}' \\
  --disable-log-stats \\
  --port 8100
""",
    ),
    TryOut(
        title=_("docker run with flags of an older engine"),
        content="""\
docker run --gpus all -p 8000:8000 \\
  vllm/vllm-openai:v0.32.0 \\
  --model meta-llama/Llama-3.1-8B-Instruct \\
  --speculative-model yuhuili/EAGLE3-LLaMA3.1-Instruct-8B \\
  --num-speculative-tokens 3 \\
  --max-num-seqs 32
""",
    ),
    TryOut(
        title=_("A compose file with MTP, nothing wrong"),
        content="""\
services:
  chat:
    image: vllm/vllm-openai:v0.32.0
    ipc: host
    ports: ["8000:8000"]
    volumes: ["/data/models:/models:ro"]
    command:
      - /models/GLM-5.2-FP8
      - --served-model-name=glm
      - --tensor-parallel-size=8
      - --max-num-seqs=32
      - --speculative-config={"method":"mtp","num_speculative_tokens":3}
    deploy:
      resources:
        reservations:
          devices: [{driver: nvidia, count: all, capabilities: [gpu]}]
""",
    ),
)
