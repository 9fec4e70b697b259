"""The first request of a web worker finds everything read that every page needs."""

import json
import subprocess
import sys

SCRIPT = """
import json, sys, time
import panel.wsgi
from django.template import engines
from django.utils.translation import trans_real
loaded = {
    "addresses": "deployments.views.check" in sys.modules,
    "templates": "overview/overview.html"
    in engines["django"].engine.template_loaders[0].loaders[0].get_template_cache,
    "words": "zh-hans" in trans_real._translations,
}
from deployments.planning.rules.launch.lint import lint
begun = time.process_time()
lint("vllm serve M --speculative-config.method mtp --speculative-config.num_speculative_tokens 3")
print(json.dumps([loaded, time.process_time() - begun]))
"""


def test_a_worker_has_its_pages_read_and_judges_its_first_launch_within_half_a_second() -> (
    None
):
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], check=True, capture_output=True, text=True
    )
    loaded, seconds = json.loads(done.stdout)
    assert loaded == dict.fromkeys(("addresses", "templates", "words"), True)
    assert seconds < 0.5
