"""Browsers and programs by their family, from what they say of themselves."""

AGENTS = (
    ("Edg/", "Edge"),
    ("OPR/", "Opera"),
    ("Firefox/", "Firefox"),
    ("Chromium/", "Chromium"),
    ("Chrome/", "Chrome"),
    ("CriOS/", "Chrome"),
    ("FxiOS/", "Firefox"),
    ("Safari/", "Safari"),
    ("curl/", "curl"),
    ("Wget/", "Wget"),
    ("python-requests/", "Python requests"),
    ("python-httpx/", "Python httpx"),
    ("Python-urllib/", "Python urllib"),
)
"""The first mark that is found decides: most browsers also name those that they are like."""
SYSTEMS = (
    ("Android", "Android"),
    ("iPhone", "iOS"),
    ("iPad", "iPadOS"),
    ("Windows", "Windows"),
    ("Mac OS X", "macOS"),
    ("CrOS", "ChromeOS"),
    ("Linux", "Linux"),
)


def agent_family(words: str) -> str:
    """As ``Firefox, Linux``; ``other`` for a program that is not known, empty for none named."""
    if not words:
        return ""
    family = next((name for mark, name in AGENTS if mark in words), "other")
    system = next((name for mark, name in SYSTEMS if mark in words), "")
    return f"{family}, {system}" if system else family
