"""What ``hccn_tool`` of the Ascend driver and the kernel say of the ways between hosts.

The words are those of ``hccn_tool`` in drivers 23 to 25, as Huawei's manuals and reports of its users
print them; nothing here has met a device. A part of the answer is named by device and subject.
"""

import re
from collections.abc import Iterable, Sequence

from deployments.planning.fabric import DeviceLink, HostFabric, Ping
from deployments.telemetry.device_probe import SHELL, Parts

TOOL = "/usr/local/Ascend/driver/tools/hccn_tool"
CONFIGURATION = "/etc/hccn.conf"
FABRIC = f"""{SHELL}
of=$1; shift
for number in "$@"; do
  for what in link net_health "$of" tls mtu; do
    part "$number $what"
    limit {TOOL} -i "$number" -"$what" -g
  done
done
part conf
show {CONFIGURATION}
part ports
show /proc/sys/net/ipv4/ip_local_port_range
part reserved
show /proc/sys/net/ipv4/ip_local_reserved_ports
part interfaces
for one in /sys/class/net/*; do
  [ -r "$one/mtu" ] && read -r mtu <"$one/mtu" && echo "${{one##*/}} $mtu"
done
part end
"""
"""Arguments: the subject that holds addresses, then the numbers of the devices."""
PINGS = f"""{SHELL}
way=$1; shift
for pair in "$@"; do
  part "$pair"
  limit {TOOL} -i "${{pair%%:*}}" -"$way" -g address "${{pair#*:}}"
done
part end
"""
"""Arguments: ``ping`` or ``hccs_ping``, then DEVICE:ADDRESS."""
ROUTED = ("ip", "ping")
IN_SUPER_NODE = ("vnic", "hccs_ping")
"""What names the address of a device, and what asks another one: over Ethernet, and over the bus."""
_ADDRESS = re.compile(r"(?i)\bip(?:addr)?\s*:\s*(\d{1,3}(?:\.\d{1,3}){3})\b")
_TLS = re.compile(r"(?i)\btls\s+switch\s*(?:\[\s*([01])\s*\]|:\s*([01]))")
_LINK = re.compile(r"(?i)\blink status\s*:\s*(up|down)\b")
_HEALTH = re.compile(r"(?i)\bhealth status\s*:\s*(\S[^\r\n]*?)\s*$")
_MTU = re.compile(r"(?i)\bmtu\s*:\s*(\d{3,5})\b")
_LOSS = re.compile(r"(?i)([\d.]+)\s*%\s*(?:packets?\s+)?loss")
_CONFIGURED = re.compile(r"^\s*address_(\d{1,2})\s*=\s*(\d{1,3}(?:\.\d{1,3}){3})\s*$")


def read_fabric(
    parts: Parts, *, host: str, numbers: Iterable[int], routed: bool
) -> HostFabric:
    """Read the answer of ``FABRIC``; what was not said is unknown."""
    subject = (ROUTED if routed else IN_SUPER_NODE)[0]
    return HostFabric(
        host=host,
        routed=routed,
        devices=tuple(_device(parts, number, subject) for number in numbers),
        configured={
            int(found[1]): found[2]
            for line in parts.get("conf", ())
            if (found := _CONFIGURED.match(line))
        },
        ephemeral=_ephemeral(parts.get("ports", ())),
        reserved=_reserved(parts.get("reserved", ())),
        interfaces={
            row[0]: int(row[1])
            for line in parts.get("interfaces", ())
            if len(row := line.split()) == 2 and row[1].isdigit()
        },
    )


def read_pings(parts: Parts) -> tuple[Ping, ...]:
    """Read the answer of ``PINGS``."""
    found = []
    for name, lines in parts.items():
        number, colon, address = name.partition(":")
        if colon and number.isdigit():
            reached = _reached("\n".join(lines))
            found.append(Ping(number=int(number), address=address, reached=reached))
    return tuple(found)


def _device(parts: Parts, number: int, subject: str) -> DeviceLink:
    def said(what: str, pattern: re.Pattern[str]) -> str:
        matches = map(pattern.search, parts.get(f"{number} {what}", ()))
        found = next((one for one in matches if one), None)
        return next((group for group in found.groups() if group), "") if found else ""

    routed = subject == ROUTED[0]
    link = said("link" if routed else subject, _LINK).lower()
    tls = said("tls", _TLS)
    if not tls and any(
        "no certificate" in one for one in parts.get(f"{number} tls", ())
    ):
        tls = "0"
    mtu = said("mtu", _MTU)
    return DeviceLink(
        number=number,
        up={"up": True, "down": False}.get(link),
        health=said("net_health", _HEALTH) if routed else "",
        address=said(subject, _ADDRESS),
        tls={"1": True, "0": False}.get(tls),
        mtu=int(mtu) if mtu else None,
    )


def _reached(answer: str) -> bool | None:
    loss = _LOSS.search(answer)
    if loss is not None:
        return float(loss[1]) < 100
    if "ping success" in answer:
        return True
    failed = ("ping not start", "send fail", "recv msg fail", "time out", "timeout")
    return False if any(word in answer.lower() for word in failed) else None


def _ephemeral(lines: Sequence[str]) -> tuple[int, int] | None:
    numbers = [int(one) for one in " ".join(lines).split() if one.isdigit()]
    return (numbers[0], numbers[1]) if len(numbers) == 2 else None


def _reserved(lines: Sequence[str]) -> tuple[tuple[int, int], ...]:
    found = []
    for part in "".join(lines).replace(" ", "").split(","):
        first, _dash, last = part.partition("-")
        if first.isdigit() and (last or first).isdigit():
            found.append((int(first), int(last or first)))
    return tuple(found)
