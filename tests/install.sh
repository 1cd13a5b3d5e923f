#!/usr/bin/env bash
# Installs a build into an empty folder and builds the example of the README against it: through
# pkg-config with the shared library and with the static one, and through CMake.
#
#   tests/install.sh BUILD SOURCE
set -euo pipefail
build=$1
source=$2
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT

fail() {
    echo "install: $*" >&2
    exit 1
}

DESTDIR=$root meson install -C "$build" --no-rebuild >"$root/log" 2>&1 ||
    fail "$(tail -n 3 "$root/log")"
pc=$(find "$root" -name csrconv.pc)
package=$(find "$root" -name csrconvConfig.cmake)
library=$(find "$root" -name 'libcsrconv.so')
header=$(find "$root" -name csrconv.h)
for file in "$pc" "$package" "$library" "$header"; do
    [ -n "$file" ] || fail "the pkg-config file, the CMake package, the library or the header is missing"
done
libdir=$(dirname "$library")

# runs PROGRAM: the example, with the library that was installed.
runs() {
    local said
    said=$(LD_LIBRARY_PATH=$libdir "$1") || fail "$1 failed"
    [ "$said" = "1 2" ] || fail "$1 said \"$said\", not \"1 2\""
    said=$(LD_LIBRARY_PATH=$libdir ldd "$1")
    [[ $said == *"$libdir/libcsrconv.so.0 "* ]] ||
        fail "$1 does not load the installed library by its versioned name"
}

export PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR=$root
PKG_CONFIG_PATH=$(dirname "$pc")
export PKG_CONFIG_ALLOW_SYSTEM_CFLAGS=1 PKG_CONFIG_ALLOW_SYSTEM_LIBS=1
read -ra cflags < <(pkg-config --cflags csrconv)
read -ra libs < <(pkg-config --libs csrconv)
"${CC:-cc}" -std=c11 -Wall -Wextra -pedantic -Werror "${cflags[@]}" "$source/tests/example.c" \
    -o "$root/by-pkg-config" "${libs[@]}" || fail "the example does not build through pkg-config"
runs "$root/by-pkg-config"

archive=$libdir/libcsrconv.a
if [ -f "$archive" ]; then
    read -ra libs < <(pkg-config --static --libs csrconv)
    "${CC:-cc}" -std=c11 "${cflags[@]}" "$source/tests/example.c" -o "$root/static" \
        "${libs[@]/#-lcsrconv/$archive}" || fail "the example does not link the static library"
    [ "$("$root/static")" = "1 2" ] || fail "the example with the static library fails"
fi

if command -v cmake >/dev/null; then
    mkdir "$root/cmake"
    cat >"$root/cmake/CMakeLists.txt" <<TXT
cmake_minimum_required(VERSION 3.16)
project(example C)
find_package(csrconv 0.1 REQUIRED CONFIG)
add_executable(by-cmake "$source/tests/example.c")
set_target_properties(by-cmake PROPERTIES C_STANDARD 11)
target_link_libraries(by-cmake PRIVATE csrconv::csrconv)
TXT
    if ! { cmake -G Ninja -S "$root/cmake" -B "$root/cmake/build" -Dcsrconv_DIR="$(dirname "$package")" &&
        cmake --build "$root/cmake/build"; } >"$root/log" 2>&1; then
        fail "the example does not build through CMake: $(tail -n 5 "$root/log")"
    fi
    runs "$root/cmake/build/by-cmake"
else
    echo "install: cmake is not here, its package was not tried"
fi

tool=$(find "$root" -name csrconv -type f -perm -u+x)
[ -n "$tool" ] || fail "the command line is not installed"
"$tool" info --version
