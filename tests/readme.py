"""The README keeps its promises: the example is tests/example.c, the table is of the committed CSV.

usage: readme.py SOURCE
"""
import pathlib
import re
import subprocess
import sys


def fail(text):
    sys.exit(f"README.md: {text}")


source = pathlib.Path(sys.argv[1])
readme = (source / "README.md").read_text()

if "sparse weights, dense activations" not in readme.split("\n", 1)[0]:
    fail('line 1 does not say "sparse weights, dense activations"')

blocks = re.findall(r"^```c\n(.*?)^```$", readme, re.S | re.M)
if blocks != [(source / "tests/example.c").read_text()]:
    fail("its one C block is not tests/example.c")

for command in ("tools/quickstart.sh", "tools/test.sh"):
    if command not in readme or not (source / command).is_file():
        fail(f"{command} is not there")

for target in re.findall(r"\]\(([^)#]+)\)", readme):
    if "://" not in target and not (source / target).exists():
        fail(f"links to {target}, which does not exist")

subprocess.run([sys.executable, source / "tools/scripts/layer_table.py", "check",
                source / "README.md"], check=True)
