"""Makes this machine look like an Atlas A3 host to one Docker Engine, and to nothing else.

Run as ``unshare --mount python stand_in_host.py FOLDER PROGRAM ...``: what it writes into /dev, /etc
and /usr/local lies in memory above the real folders, in a mount namespace of its own, and is gone with
the program.
"""

import os
import stat
import subprocess
import sys
from pathlib import Path

OVERLAID = ("/dev", "/etc", "/usr/local")
NODES = (
    *(f"/dev/davinci{number}" for number in range(16)),
    *("/dev/davinci_manager", "/dev/devmm_svm", "/dev/hisi_hdc"),
)
FILES = (
    "/etc/ascend_install.info",
    "/etc/hccn.conf",
    "/usr/local/Ascend/driver/version.info",
    "/usr/local/Ascend/driver/tools/hccn_tool",
    "/usr/local/bin/npu-smi",
)
FOLDERS = ("/usr/local/Ascend/driver/lib64", "/usr/local/dcmi")
NPU_SMI = Path("/usr/local/bin/npu-smi")
NPU_SMI_SCRIPT = """#!/bin/sh
# Stands in for npu-smi 26.0.rc2 of an Atlas A3, in its own form: shows the nodes that are mapped.
case "$*" in *board*)
  echo "        NPU ID                         : $5"
  echo "        Software Version               : 26.0.rc2"
  echo "        Firmware Version               : 7.9.0.1.2"
  echo "        Compatibility                  : OK"
  exit 0;;
esac
echo "| npu-smi 26.0.rc2                            Version: 26.0.rc2                       |"
echo "| NPU   Name                | Health        | Power(W)     Temp(C)                    |"
echo "| Chip  Phy-ID              | Bus-Id        | AICore(%)    HBM-Usage(MB)              |"
for node in /dev/davinci[0-9] /dev/davinci[0-9][0-9]; do
  [ -e "$node" ] || continue
  number=${node#/dev/davinci}
  health=OK; [ "$number" = 9 ] && health=Alarm
  echo "| $((number / 2))     Ascend910           | $health            | 162.6     34          |"
  echo "| $((number % 2))     $number         | 0000:9D:00.0  | 0         $((3000 + number)) / 65536 |"
done
"""
HCCN_TOOL = Path("/usr/local/Ascend/driver/tools/hccn_tool")
HCCN_TOOL_SCRIPT = """#!/bin/sh
# Stands in for hccn_tool of an Atlas A3, in its own form: die 15 encrypts, and nothing reaches 10.1.1.5.
[ -e "/dev/davinci$2" ] || { echo "[Error]: device $2 is not there"; exit 1; }
case "$3" in
-vnic) echo "vnic link status: UP"; echo "vnic ipaddr: 10.1.1.$2"; echo "vnic netmask: 255.255.0.0";;
-tls) echo "dev_id:$2, tls switch[$(($2 / 15))](0:disable, 1:enable)";;
-mtu) echo "mtu:4096";;
-hccs_ping)
  [ "$6" = 10.1.1.5 ] && { echo "3 packets transmitted, 0 received, 100.00% packets loss"; exit 0; }
  echo "This pkt ping success!"; echo "3 packets transmitted, 3 received, 0.00% packets loss";;
esac
"""
NULL = os.makedev(1, 3)
"""Every node is /dev/null under another name: it opens, and swallows what is written."""


def main(folder: Path, program: list[str]) -> None:
    """Prepare, then become the program."""
    memory = folder / "stand-in"
    memory.mkdir(parents=True, exist_ok=True)
    _mount("-t", "tmpfs", "tmpfs", str(memory))
    for real in OVERLAID:
        above = memory / real.strip("/").replace("/", "-")
        upper, work = above / "upper", above / "work"
        upper.mkdir(parents=True)
        work.mkdir()
        layers = f"lowerdir={real},upperdir={upper},workdir={work}"
        _mount("-t", "overlay", "overlay", "-o", layers, real)
    for name in NODES:
        Path(name).unlink(missing_ok=True)
        os.mknod(name, 0o660 | stat.S_IFCHR, NULL)
        Path(name).chmod(0o660)
    for name in FOLDERS:
        Path(name).mkdir(parents=True)
    for name in FILES:
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"stand-in for {name}\n", encoding="utf-8")
    NPU_SMI.write_text(NPU_SMI_SCRIPT, encoding="utf-8")
    NPU_SMI.chmod(0o755)
    HCCN_TOOL.write_text(HCCN_TOOL_SCRIPT, encoding="utf-8")
    HCCN_TOOL.chmod(0o755)
    os.execvp(program[0], program)  # noqa: S606 - the tests' own Docker Engine


def _mount(*arguments: str) -> None:
    subprocess.run(["mount", *arguments], check=True)  # noqa: S607


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
