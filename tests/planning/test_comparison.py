"""MTP beside EAGLE-3: what each needs, drafts, captures and mounts."""

from deployments.planning.comparison import compare_methods
from deployments.planning.plan import Role
from tests.planning.builders import a3, combined, gpu, plan, shipped

GLM = "zai-org/GLM-5.2"
KIMI = "moonshotai/Kimi-K2.6"


def test_glm_has_its_drafter_inside_and_runs_it_eager() -> None:
    made = plan(combined(GLM, "a"), a3("a"))
    mtp, eagle3 = compare_methods(made, shipped(GLM), "ascend-a3")
    assert (mtp.open, mtp.needs_drafter, mtp.mounts, mtp.drafter_bytes) == (
        True,
        False,
        (),
        0,
    )
    assert mtp.drafter_graph == "eager, forced by the engine for GLM models"
    assert dict(mtp.counts) == {Role.COMBINED: 3, Role.PREFILL: 1, Role.DECODE: 3}
    assert (eagle3.open, eagle3.needs_drafter, eagle3.drafter) == (False, True, None)
    assert eagle3.drafter_bytes is None


def test_kimi_must_mount_its_head() -> None:
    made = plan(combined(KIMI, "a"), a3("a"))
    mtp, eagle3 = compare_methods(made, shipped(KIMI), "ascend-a3")
    assert not mtp.open
    assert eagle3.drafter == "lightseekorg/kimi-k2.6-eagle3"
    assert eagle3.mounts == ("kimi-k2.6-eagle3",)
    assert eagle3.drafter_bytes is None
    assert eagle3.drafter_graph == "captured"
    assert "Kimi-K2.6 tutorial" in eagle3.counts_source


def test_methods_without_a_model_mount_and_load_nothing() -> None:
    made = plan(combined("openai/gpt-oss-20b", "gpu-1"), gpu())
    (ngram,) = compare_methods(made, shipped("gpt-oss-20b"), "nvidia", ["ngram"])
    assert (ngram.drafter_bytes, ngram.mounts) == (0, ())
    assert ngram.drafter_graph == "none: it drafts without a model"
    assert dict(ngram.counts)[Role.PREFILL] is None
    assert not ngram.async_scheduling


def test_drafter_inside_the_checkpoint_mounts_nothing() -> None:
    flash = "deepseek-ai/DeepSeek-V4-Flash"
    made = plan(combined(flash, "gpu-1", checkpoint="fp8-dspark"), gpu())
    (dspark,) = compare_methods(made, shipped(flash), "nvidia", ["dspark"])
    assert (dspark.open, dspark.drafter, dspark.mounts, dspark.drafter_bytes) == (
        True,
        None,
        (),
        0,
    )
    documented = plan(combined(flash, "a"), a3("a"))
    (mtp,) = compare_methods(documented, shipped(flash), "ascend-a3", ["mtp"])
    assert mtp.drafter_graph == "eager, as documented"
