"""Kernels that must not spill registers: compiles their sources again, and reads what ptxas says.

usage: no_spills.py BUILD ARCH NAME ...      names of .cu files without the ending

Spills for ARCH, such as sm_90, where the kernels are tuned, are a failure; others are told.
"""
import json
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ENTRY = re.compile(r"Compiling entry function '(\S+)' for '(\S+)'")
SPILLS = re.compile(r"(\d+) bytes spill stores, (\d+) bytes spill loads")


def command_of(build, name):
    """The arguments that the build compiles the file with, and the folder to do so in."""
    for entry in json.loads((build / "compile_commands.json").read_text()):
        if pathlib.Path(entry["file"]).name == name + ".cu":
            return shlex.split(entry["command"]), entry["directory"]
    sys.exit(f"no_spills.py: {build} does not compile {name}.cu")


def said_by_ptxas(build, name):
    arguments, directory = command_of(build, name)
    with tempfile.TemporaryDirectory() as folder:
        arguments[arguments.index("-o") + 1] = str(pathlib.Path(folder) / "object.o")
        done = subprocess.run([*arguments, "-Xptxas=-v"], cwd=directory, stderr=subprocess.STDOUT,
                              stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        sys.exit(done.stdout)
    return done.stdout


def check(name, text):
    """How many kernels there are, and of those that spill the architecture and a line."""
    kernel, kernels, found = None, 0, []
    for line in text.splitlines():
        entry, spills = ENTRY.search(line), SPILLS.search(line)
        if entry:
            kernel = entry
            kernels += 1
        elif spills and kernel and spills.groups() != ("0", "0"):
            found.append((kernel[2], f"{name}.cu: {kernel[1]} for {kernel[2]} spills {spills[1]}"
                                     f" bytes out and {spills[2]} in"))
    return kernels, found


def main(build, arch, *names):
    failed = []
    for name in names:
        kernels, found = check(name, said_by_ptxas(pathlib.Path(build), name))
        if not kernels:
            found = [(arch, f"{name}.cu: ptxas told of no kernel")]
        lines = [line for _, line in found]
        print(f"{name}.cu: {kernels} kernels, {len(found)} of them spill", *lines, sep="\n  ")
        failed += [line for where, line in found if where == arch]
    return bool(failed) or not names


sys.exit(main(*sys.argv[1:]))
