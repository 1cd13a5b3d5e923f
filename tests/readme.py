"""The README keeps its promises: the example is tests/example.c, the table is of the committed CSV;
and the pages name what there is: files, links, and in the design every algorithm.

usage: readme.py SOURCE
"""
import pathlib
import re
import subprocess
import sys


FOLDERS = "cuda|data|docs|include|packaging|src|tests|tools"
IN_BACKTICKS = re.compile(rf"`((?:(?:{FOLDERS})/[^`\s]*)|[\w*-]+\.(?:c|h|cu|cuh|py|sh))`")
MADE_BY_THE_EXAMPLE = "src/direct_planes.c"


def fail(text, page="README.md"):
    sys.exit(f"{page}: {text}")


def names_of(text):
    """a{b,c}d is abd and acd; a name with NAME in it stands for any."""
    braces = re.search(r"\{([^}]*)\}", text)
    if not braces:
        return [text.replace("NAME", "*")]
    start, end = text[:braces.start()], text[braces.end():]
    return [name for part in braces[1].split(",") for name in names_of(start + part + end)]


def check_page(page):
    """What it names in backticks, and what it links to."""
    text = page.read_text()
    for target in re.findall(r"\]\(([^)#]+)\)", text):
        if "://" not in target and not (page.parent / target).exists():
            fail(f"links to {target}, which does not exist", page.name)
    for named in IN_BACKTICKS.findall(text):
        for name in names_of(named):
            folders = [source] if "/" in name else [source / f for f in FOLDERS.split("|")]
            found = any(next(f.glob(name if "/" in name else f"**/{name}"), None) for f in folders)
            if not found and name != MADE_BY_THE_EXAMPLE:
                fail(f"names {name}, which does not exist", page.name)


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

for path in (*source.glob("*.md"), *source.glob("docs/*.md")):
    check_page(path)

design = (source / "docs/design.md").read_text()
for path in (*(source / "src").glob("*.c"), *(source / "cuda").glob("*.c*")):
    for name in re.findall(r"csrconv_algorithm csrconv_algorithm_(\w+) = ", path.read_text()):
        if not re.search(rf"^\| [^|]*`{name}`", design, re.M):
            fail(f"has no row for {name}", "design.md")

subprocess.run([sys.executable, source / "tools/scripts/layer_table.py", "check",
                source / "README.md"], check=True)
