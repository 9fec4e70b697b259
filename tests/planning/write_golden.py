"""Write the golden plans anew after a wanted change: ``python -m tests.planning.write_golden``."""

import json

from deployments.planning.plan import Plan
from tests.planning.builders import GOLDEN
from tests.planning.cases import CASES


def golden_text(made: Plan) -> str:
    """One plan as the golden files hold it."""
    document = {"digest": made.digest, "plan": made.document}
    return json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    for name, make in CASES.items():
        (GOLDEN / f"{name}.json").write_text(golden_text(make()), encoding="utf-8")
