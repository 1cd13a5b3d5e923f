"""What the libraries show and need: the header's functions, and nothing of anybody's but libc's.

usage: symbols.py SHARED_LIBRARY STATIC_LIBRARY HEADER
"""
import re
import shutil
import subprocess
import sys

# The C library, its loader and parts, the compiler's own library, and OpenMP.
ALLOWED = re.compile(
    r"(libc|libm|libpthread|libdl|librt|libgcc_s|libgomp|libomp|ld-linux[\w-]*)\.so(\.\d+)*$")
SANITIZER = re.compile(r"lib(clang_rt\.)?(a|ub|t|l)san")


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def declared(header):
    text = open(header, encoding="utf-8").read()
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    names = re.findall(r"^CSRCONV_API\s[^;]*?\b(csrconv_\w+)\(", text, flags=re.M)
    assert len(names) == text.count("\nCSRCONV_API"), "a declaration that is not understood"
    return set(names)


def defined(*command):
    lines = output_of("nm", "--defined-only", *command).splitlines()
    return {line.split()[-1] for line in lines if re.match(r"[0-9a-f]+ [A-Z] ", line)}


def needed(library):
    return re.findall(r"\(NEEDED\).*\[(.*)\]", output_of("readelf", "--dynamic", library))


def main(shared, static, header):
    missing = [tool for tool in ("nm", "readelf") if not shutil.which(tool)]
    libraries = [] if missing else needed(shared)
    if missing or any(map(SANITIZER.match, libraries)):
        print("skipped:", f"no {missing[0]}" if missing else "built with a sanitizer")
        return 77
    wanted, exported = declared(header), defined("--dynamic", shared)
    failures = [
        ("declared but not exported", wanted - exported),
        ("exported but not declared", exported - wanted),
        ("global in the static library", {name for name in defined("--extern-only", static)
                                          if not name.startswith("csrconv_")}),
        ("needed", {name for name in libraries if not ALLOWED.match(name)}),
    ]
    for what, names in failures:
        for name in sorted(names):
            print(f"FAILED: {name} is {what}")
    print(f"{len(wanted)} functions; needs {', '.join(libraries)}")
    return int(any(names for _, names in failures) or not wanted)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
