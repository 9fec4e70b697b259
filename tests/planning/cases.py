"""The golden plans: the seed's three Ascend cases, GPU cases, practice."""

from collections.abc import Callable

from deployments.planning.plan import Plan
from deployments.planning.revision import Limits, SpeculationChoice, Workload
from tests.planning.builders import (
    PRACTICE,
    a3,
    apart,
    combined,
    cpu,
    decode,
    gpu,
    plan,
    prefill,
)


def glm_52() -> Plan:
    """GLM-5.2 apart on two Atlas A3 hosts: MTP 1 on prefill, 3 on decode."""
    spec = apart(
        "zai-org/GLM-5.2",
        prefill("a3-01", num_speculative_tokens=1),
        decode("a3-02", num_speculative_tokens=3),
        checkpoint="w8a8",
        engine="vllm-ascend==0.23.0",
        workload=Workload(input_tokens=4000, output_tokens=600, concurrency=32),
        limits=Limits(max_model_len=65536),
    )
    return plan(spec, a3("a3-01", "10.0.0.1"), a3("a3-02", "10.0.0.2"))


def kimi_k26() -> Plan:
    """Kimi-K2.6 apart with a mounted EAGLE-3 head: one prefill host, two decode hosts."""
    spec = apart(
        "moonshotai/Kimi-K2.6",
        prefill("a3-01"),
        decode("a3-02", "a3-03"),
        speculation=SpeculationChoice(method="eagle3"),
    )
    hosts = [a3(f"a3-0{number}", f"10.0.0.{number}") for number in (1, 2, 3)]
    return plan(spec, *hosts)


def deepseek_v4_flash() -> Plan:
    """DeepSeek-V4-Flash combined on one Atlas A3 host with MTP."""
    return plan(combined("deepseek-ai/DeepSeek-V4-Flash", "a3-01"), a3("a3-01"))


def llama_eagle3() -> Plan:
    """Llama-3.1-8B with an EAGLE-3 head on one GPU."""
    return plan(combined("meta-llama/Llama-3.1-8B-Instruct", "gpu-1"), gpu())


def deepseek_v31_two_hosts() -> Plan:
    """DeepSeek-V3.1 over two GPU hosts of 80 GB devices: one instance, a headless follower."""
    spec = combined("deepseek-ai/DeepSeek-V3.1", "gpu-1", "gpu-2")
    hosts = [
        gpu(name, address=address, device="H100", device_memory_bytes=80 * 10**9)
        for name, address in (("gpu-1", "10.0.1.1"), ("gpu-2", "10.0.1.2"))
    ]
    return plan(spec, *hosts)


def deepseek_v31_apart() -> Plan:
    """DeepSeek-V3.1 apart on two GPU hosts over NIXL: MTP 1 on prefill, 3 on decode."""
    spec = apart(
        "deepseek-ai/DeepSeek-V3.1",
        prefill("gpu-1", num_speculative_tokens=1),
        decode("gpu-2", num_speculative_tokens=3),
        engine="vllm==0.32.0",
        workload=Workload(input_tokens=4000, output_tokens=600, concurrency=32),
        limits=Limits(max_model_len=65536),
    )
    return plan(spec, gpu("gpu-1"), gpu("gpu-2", address="10.0.1.2"))


def practice() -> Plan:
    """Qwen3-32B under the practice image on a host without accelerators."""
    return plan(combined("Qwen/Qwen3-32B", "local", image=PRACTICE), cpu())


CASES: dict[str, Callable[[], Plan]] = {
    "glm-5.2-apart": glm_52,
    "kimi-k2.6-apart": kimi_k26,
    "deepseek-v4-flash": deepseek_v4_flash,
    "llama-3.1-8b-eagle3": llama_eagle3,
    "deepseek-v3.1-two-hosts": deepseek_v31_two_hosts,
    "deepseek-v3.1-nvidia-apart": deepseek_v31_apart,
    "practice": practice,
}
