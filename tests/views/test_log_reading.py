"""Reading a log: with and without htmx, from a file, from a link, hostile text, what is refused."""

import pytest
from bs4 import Tag
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from deployments.forms.log_reading import LARGEST_BYTES
from deployments.selectors.log_examples import EXAMPLES
from tests.views.pages import HTMX, parsed, queries_for, text_of

MOST_QUERIES = 12
ACCEPTANCE = EXAMPLES[0].content
FAILURE = EXAMPLES[1].content
HOSTILE = (
    "<script>alert(1)</script><img src=x onerror=alert(1)>\n"
    "\x1b[31mRuntimeError: NIXL is not available\x1b[0m \u202egnp.exe <b>bold</b> \x07\n"
    "web-1<i>  | (APIServer pid=1) INFO 11-29 15:04:05 [metrics.py:101] SpecDecoding metrics: "
    "Accepted: 5 tokens, Drafted: 10 tokens <script>\n"
)


def one(page: Tag, selector: str) -> Tag:
    """The first element that matches."""
    found = page.select_one(selector)
    assert found is not None, selector
    return found


def test_the_page_is_a_form_with_logs_to_try(as_alice: Client) -> None:
    page = parsed(as_alice.get("/logs/read/"))
    assert page.select_one("form#log-form textarea[name=content]")
    assert one(page, ".nav [aria-current=page]").get_text(strip=True) == "Check"
    assert one(page, ".tabs [aria-current=page]").get_text(strip=True) == "A log"
    links = [str(link["href"]) for link in page.select(".check-examples a")]
    assert len(links) == 3
    for link in links:
        answer = as_alice.get(link)
        assert answer.status_code == 200
        assert parsed(answer).select_one("#log-answer .verdict")


def test_records_stand_in_a_table_and_a_chart(as_alice: Client) -> None:
    page = parsed(as_alice.post("/logs/read/", {"content": ACCEPTANCE}))
    assert len(page.select("#log-answer tbody tr")) == 5
    assert page.select_one("svg.chart path.series")
    facts = one(page, ".facts").get_text(" ")
    assert "mtp \N{MULTIPLICATION SIGN}3" in " ".join(facts.split())
    assert "3,692 of 6,000" in " ".join(facts.split())
    assert page.select_one("#h-log-advice")


def test_the_cause_comes_first_and_links_to_its_reference(as_alice: Client) -> None:
    page = parsed(as_alice.post("/logs/read/", {"content": FAILURE}))
    codes = page.select("#log-answer .finding .where a.mono")
    assert [code.get_text() for code in codes] == ["MTP_WEIGHTS_MISSING"]
    reference = as_alice.get(str(codes[0]["href"]))
    assert reference.status_code == 200
    assert "shared_head.head.weight" in text_of(reference)
    assert "Something is wrong" in one(page, ".verdict").get_text()


def test_an_htmx_request_gets_the_answer_alone(as_alice: Client) -> None:
    response = as_alice.post("/logs/read/", {"content": FAILURE}, headers=HTMX)
    assert response.content.lstrip().startswith(b'<div id="log-answer"')
    assert b"<html" not in response.content


def test_a_file_is_read_in_place_of_the_text(as_alice: Client) -> None:
    upload = SimpleUploadedFile("engine.log", ACCEPTANCE.encode())
    response = as_alice.post("/logs/read/", {"content": FAILURE, "upload": upload})
    assert "MTP_WEIGHTS_MISSING" not in text_of(response, "#log-answer")
    assert len(parsed(response).select("#log-answer tbody tr")) == 5


def test_a_file_that_is_too_large_is_refused_in_a_sentence(as_alice: Client) -> None:
    upload = SimpleUploadedFile("engine.log", b"x" * (LARGEST_BYTES + 1))
    response = as_alice.post("/logs/read/", {"upload": upload})
    assert response.status_code == 422
    assert "larger than 16 MB" in text_of(response, "#log-answer")


def test_year_and_zone_are_asked_for_and_used(as_alice: Client) -> None:
    said = text_of(as_alice.post("/logs/read/", {"content": ACCEPTANCE}), "#log-answer")
    assert "neither year nor time zone" in said
    fields = {"content": ACCEPTANCE, "year": "2026", "zone": "480"}
    told = text_of(as_alice.post("/logs/read/", fields), "#log-answer")
    assert "2026-11-29 15:04:05+08:00" in told
    assert "neither year" not in told


@pytest.mark.parametrize("quoted", ["", "> "])
def test_a_scrape_of_metrics_is_recognised(as_alice: Client, quoted: str) -> None:
    content = "\n".join(quoted + line for line in EXAMPLES[2].content.splitlines())
    said = text_of(as_alice.post("/logs/read/", {"content": content}), "#log-answer")
    assert "A scrape of metrics, counted" in said
    assert "11,905" in said


def test_two_scrapes_at_once_are_not_added_up(as_alice: Client) -> None:
    content = EXAMPLES[2].content
    content += content.replace("11905", "12000")
    said = text_of(as_alice.post("/logs/read/", {"content": content}), "#log-answer")
    assert "without figures that can be used" in said
    assert "Read one scrape at a time" in said


def test_a_benchmark_is_sent_where_it_belongs(as_alice: Client) -> None:
    content = (
        "============ Serving Benchmark Result ============\nSuccessful requests: 5\n"
    )
    page = parsed(as_alice.post("/logs/read/", {"content": content}))
    assert one(page, ".verdict a")["href"] == "/benchmarks/"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("[2026-11-29 15:04:05] Decode batch, #running-req: 3, #token: 12", "SGLang"),
        ("slot print_timing: id 0 | draft acceptance = 0.5", "llama.cpp"),
        ("hello", "No line of an engine"),
    ],
)
def test_other_engines_are_named(as_alice: Client, content: str, said: str) -> None:
    assert said in text_of(
        as_alice.post("/logs/read/", {"content": content}), ".verdict"
    )


def test_log_text_is_inert(as_alice: Client) -> None:
    response = as_alice.post("/logs/read/", {"content": HOSTILE})
    answer = one(parsed(response), "#log-answer")
    assert not answer.select("script, img, b, i")
    shown = answer.get_text()
    assert "NIXL_MISSING" in shown
    assert "⟨U+202E⟩" in shown
    assert "\u202e" not in shown
    assert "\x1b" not in shown


def test_long_lines_and_broken_bytes_are_read(as_alice: Client) -> None:
    raw = (
        b"x" * 1_000_000 + b"\n\xff\xfe\x00 NIXL is not available \x80\n" + b"\x00" * 9
    )
    upload = SimpleUploadedFile("engine.log", raw)
    response = as_alice.post("/logs/read/", {"upload": upload})
    assert "NIXL_MISSING" in text_of(response, "#log-answer")
    assert len(response.content) < 150_000


def test_a_link_shows_the_same_answer_without_secrets(as_alice: Client) -> None:
    content = f"HF_TOKEN=hf_abcdefgh12345678\n{FAILURE}"
    page = parsed(as_alice.post("/logs/read/", {"content": content}))
    link = str(one(page, ".lead .source a")["href"])
    again = as_alice.get(link)
    assert again.status_code == 200
    assert "hf_abc" not in one(parsed(again), "textarea").get_text()
    assert "MTP_WEIGHTS_MISSING" in text_of(again, "#log-answer")
    cut = as_alice.get("/logs/read/", {"log": "eJx7v"})
    assert cut.status_code == 422
    assert "may have been cut" in text_of(cut, "#log-answer")


def test_nothing_to_read_is_one_sentence(as_alice: Client) -> None:
    response = as_alice.post("/logs/read/", {"content": " "})
    assert response.status_code == 422
    assert "Paste a log" in text_of(response, "#log-answer")


def test_failures_of_another_platform_are_left_out(as_alice: Client) -> None:
    content = "AssertionError: Conflict engine id 0 with local engine id 0."
    everywhere = as_alice.post("/logs/read/", {"content": content})
    assert "ENGINE_ID_CONFLICT" in text_of(everywhere, "#log-answer")
    elsewhere = as_alice.post("/logs/read/", {"content": content, "platform": "nvidia"})
    assert "ENGINE_ID_CONFLICT" not in text_of(elsewhere, "#log-answer")


def test_it_takes_few_queries(as_alice: Client) -> None:
    assert queries_for(as_alice, "/logs/read/?example=failure") <= MOST_QUERIES
