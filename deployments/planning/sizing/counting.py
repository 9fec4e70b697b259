"""How large counts of parameters are said in sentences."""

_UNITS = ((10**12, "T"), (10**9, "B"), (10**6, "M"))
_WHOLE_FROM = 20
_SPACE = "\u00a0"


def parameter_count(count: int) -> str:
    """Return 671 B for 671000000000 and 0.6 B for 596000000, as model names count them."""
    for size, unit in _UNITS:
        if count >= size or (unit == "B" and count >= size // 2):
            scaled = round(count / size, 1)
            whole = scaled >= _WHOLE_FROM or scaled == int(scaled)
            return f"{scaled:.{0 if whole else 1}f}{_SPACE}{unit}"
    return f"{count:,}"
