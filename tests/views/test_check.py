"""Checking a launch: with and without htmx, from a file, from a link, and what is refused."""

from urllib.parse import parse_qs, urlparse

import pytest
from bs4 import Tag
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from deployments.models import User
from deployments.services.catalog import load_shipped_catalog
from tests.views.pages import HTMX, parsed, queries_for, text_of

BROKEN = """\
export HEAD=/models/head
vllm serve zai-org/GLM-5.2 \\
  --tensor-parallel-size 8 --max-num-seqs 16 \\
  --disable-log-stats \\
  --speculative-config '{"method":"deepseek_mtp","num_speculative_tokens":3,"num_spec":1}' \\
  --enable-prefix-caching --port 8100
"""
MOST_QUERIES = 12


@pytest.fixture
def catalog(db: None) -> None:
    """The shipped models."""
    load_shipped_catalog()


def one(page: Tag, selector: str) -> Tag:
    """The first element that matches."""
    found = page.select_one(selector)
    assert found is not None, selector
    return found


def test_the_page_is_a_form_with_launches_to_try(as_alice: Client) -> None:
    page = parsed(as_alice.get("/check/"))
    assert page.select_one("form#check-form textarea[name=content]")
    assert len(page.select(".check-examples a")) == 3
    assert one(page, ".nav [aria-current=page]").get_text(strip=True) == "Check"


def test_findings_stand_beside_the_lines_they_are_about(
    as_alice: Client, catalog: None
) -> None:
    page = parsed(as_alice.post("/check/", {"content": BROKEN}))
    assert "Reject" in one(page, ".verdict").get_text()
    codes = {
        str(one(part, ".lines.hit li")["id"]): [
            code.get_text() for code in part.select(".finding .where .mono")
        ]
        for part in page.select(".script .seg")
        if part.select_one(".hit")
    }
    assert "SPEC_KEY_UNKNOWN" in codes["L5"]
    assert any("STATS" in code or "METRICS" in code for code in codes["L4"])
    facts = text_of(as_alice.post("/check/", {"content": BROKEN}), ".facts")
    assert "64" in facts
    assert "no version is named" in facts


def test_every_finding_links_to_its_rule(as_alice: Client) -> None:
    page = parsed(as_alice.post("/check/", {"content": BROKEN}))
    for link in page.select(".finding .where a.mono"):
        assert as_alice.get(str(link["href"])).status_code == 200
    assert page.select(".finding .where a.mono")


def test_an_htmx_request_gets_the_answer_alone(as_alice: Client) -> None:
    response = as_alice.post("/check/", {"content": BROKEN}, headers=HTMX)
    assert response.content.lstrip().startswith(b'<div id="check-answer"')
    assert b"<html" not in response.content


def test_what_was_typed_is_still_there_after_the_answer(as_alice: Client) -> None:
    page = parsed(as_alice.post("/check/", {"content": BROKEN, "version": "0.32.0"}))
    assert one(page, "textarea").get_text().strip() == BROKEN.strip()
    assert one(page, "input[name=version]")["value"] == "0.32.0"


def test_a_file_is_read_in_place_of_the_text(as_alice: Client) -> None:
    file = SimpleUploadedFile("a.sh", b"vllm serve M --max-num-seqs 7\r\n")
    response = as_alice.post("/check/", {"content": BROKEN, "upload": file})
    assert "7" in text_of(response, ".facts")
    assert "Accept" in text_of(response, ".verdict")


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        (b"", "Paste a launch, or choose a file."),
        (b"a\0b", "The input is not text"),
        (b"x" * 1_000_001, "1000000 is the most"),
    ],
)
def test_an_input_that_cannot_be_read_is_one_sentence(
    as_alice: Client, sent: bytes, said: str
) -> None:
    file = SimpleUploadedFile("a.sh", sent)
    response = as_alice.post("/check/", {"upload": file})
    assert response.status_code == 422
    assert said in text_of(response, "#check-answer")


def test_the_link_shows_the_same_answer_without_secrets(as_alice: Client) -> None:
    text = f"export HF_TOKEN=hf_abcdefghijkl\n{BROKEN.rstrip()} --api-key mykey-1\n"
    page = parsed(as_alice.post("/check/", {"content": text}))
    link = str(one(page, ".block.lead .source a")["href"])
    again = as_alice.get(link)
    assert again.status_code == 200
    shown = one(parsed(again), "textarea").get_text()
    assert "hf_abc" not in shown
    assert "mykey-1" not in shown
    assert "HF_TOKEN=***" in shown
    assert text_of(again, ".verdict") == one(page, ".verdict").get_text(" ", strip=True)


def test_a_link_that_was_cut_says_so(as_alice: Client) -> None:
    response = as_alice.get("/check/", {"launch": "eJx7v"})
    assert response.status_code == 422
    assert "may have been cut" in text_of(response, "#check-answer")


def test_the_correction_is_shown_as_a_difference_and_downloaded(
    as_alice: Client,
) -> None:
    page = parsed(as_alice.post("/check/", {"content": BROKEN}))
    assert any("--disable-log-stats" in line.get_text() for line in page.select("del"))
    response = as_alice.post("/check/corrected/", {"content": BROKEN})
    assert "attachment" in response["Content-Disposition"]
    assert (
        response.content.decode().strip()
        == one(page, "#check-corrected").get_text().strip()
    )
    assert b"--disable-log-stats" not in response.content


def test_an_input_that_starts_nothing_is_not_accepted(as_alice: Client) -> None:
    """It is neither right nor wrong."""
    page = parsed(as_alice.post("/check/", {"content": "echo hello"}))
    verdict = one(page, ".verdict")
    assert "Nothing to judge" in verdict.get_text()
    assert "idle" in str(one(page, ".verdict .tone")["class"])


def test_nothing_to_correct_cannot_be_read_either(as_alice: Client) -> None:
    response = as_alice.post("/check/corrected/", {"content": ""})
    assert response.status_code == 422


def test_the_wizard_opens_with_what_the_launch_says(
    as_alice: Client, catalog: None
) -> None:
    """The launch as corrected: what was mended needs not be mended again in the wizard."""
    launch = BROKEN.replace("--port", "--trust-remote-code --port")
    page = parsed(
        as_alice.post("/check/", {"content": launch, "platform": "ascend-a3"})
    )
    link = str(one(page, "section[aria-labelledby=h-carried] a.button")["href"])
    held = {key: values[0] for key, values in parse_qs(urlparse(link).query).items()}
    assert held["model"] == "zai-org/GLM-5.2"
    assert held["platform"] == "ascend-a3"
    assert (held["method"], held["tokens"]) == ("mtp", "3")
    assert held["max_num_seqs"] == "16"
    assert (held["combined_tp"], held["combined_port"]) == ("8", "8100")
    assert held["extra_flags"] == "--enable-prefix-caching"
    assert "as corrected" in one(page, ".carry h3").get_text()
    left = one(page, ".carry > div + div").get_text(" ", strip=True)
    assert "--trust-remote-code" in left
    assert "--disable-log-stats" not in left
    assert "num_spec" not in left
    assert as_alice.get(link).status_code == 200


def test_the_wizard_takes_the_environment_and_says_what_it_does_not(
    as_alice: Client, catalog: None
) -> None:
    text = (
        "export VLLM_USE_V1=1 HCCL_BUFFSIZE=1024 HF_TOKEN=hf_abc VLLM_HOST_IP=10.0.0.1\n"
        "export OMP_PROC_BIND=$BIND LD_PRELOAD=/x.so\n" + BROKEN
    )
    page = parsed(as_alice.post("/check/", {"content": text, "platform": "ascend-a3"}))
    link = str(one(page, "section[aria-labelledby=h-carried] a.button")["href"])
    held = {key: values[0] for key, values in parse_qs(urlparse(link).query).items()}
    kept = held["environment"].split()
    assert {"VLLM_USE_V1=1", "HCCL_BUFFSIZE=1024"} <= set(kept)
    left = one(page, ".carry > div + div").get_text(" ", strip=True)
    for name in ("HF_TOKEN", "VLLM_HOST_IP", "OMP_PROC_BIND", "LD_PRELOAD"):
        assert name in left
        assert name not in held["environment"]
    assert "hf_abc" not in link
    assert as_alice.get(link).status_code == 200


def test_a_prefill_and_a_decode_become_one_plan_apart(
    as_alice: Client, catalog: None
) -> None:
    def node(role: str, tp: int, count: int) -> str:
        transfer = f'{{"kv_connector":"MooncakeConnectorV1","kv_role":"{role}"}}'
        config = f'{{"method":"mtp","num_speculative_tokens":{count}}}'
        return (
            f"vllm serve zai-org/GLM-5.2 -tp {tp} --kv-transfer-config '{transfer}' "
            f"--speculative-config '{config}' &\n"
        )

    text = node("kv_producer", 16, 1) + node("kv_consumer", 4, 3)
    page = parsed(as_alice.post("/check/", {"content": text, "platform": "ascend-a3"}))
    link = str(one(page, "section[aria-labelledby=h-carried] a.button")["href"])
    held = {key: values[0] for key, values in parse_qs(urlparse(link).query).items()}
    assert held["topology"] == "disaggregated"
    assert (held["prefill_tp"], held["decode_tp"]) == ("16", "4")
    assert (held["prefill_tokens"], held["decode_tokens"]) == ("1", "3")
    assert as_alice.get(link).status_code == 200


def test_a_long_input_shows_the_lines_around_its_findings(as_alice: Client) -> None:
    text = "echo before\n" * 5_000 + BROKEN + "echo after\n" * 5_000
    response = as_alice.post("/check/", {"content": text}, headers=HTMX)
    assert len(response.content) < 150_000
    assert "lines without a finding" in text_of(response, ".script")


def test_a_launch_with_hundreds_of_findings_stays_a_page(as_alice: Client) -> None:
    text = "vllm serve M --no-such-flag 1 --disable-log-stats\n" * 400
    response = as_alice.post("/check/", {"content": text}, headers=HTMX)
    assert len(response.content) < 150_000
    assert "more findings are counted" in text_of(response, "#check-answer")


def test_markup_in_the_input_stays_text(as_alice: Client) -> None:
    text = "vllm serve '<script>alert(1)</script>' --no-such-flag '<b>'\n"
    response = as_alice.post("/check/", {"content": text})
    assert b"<script>alert" not in response.content


def test_the_page_needs_few_queries(
    as_alice: Client, alice: User, catalog: None
) -> None:
    assert queries_for(as_alice, "/check/") <= MOST_QUERIES
    page = parsed(as_alice.get("/check/"))
    example = str(one(page, ".check-examples a")["href"])
    assert queries_for(as_alice, example) <= MOST_QUERIES
