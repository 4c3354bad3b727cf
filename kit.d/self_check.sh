#!/usr/bin/env bash
# Looks whether parts of ./kit do what they should, without what they are for. ./kit test runs it.
set -euo pipefail

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf -- "$folder"' EXIT
# shellcheck disable=SC2034 # setup.sh uses it.
kit_folder=$folder
# shellcheck source=kit.d/say.sh
source "$root/kit.d/say.sh"
# shellcheck source=kit.d/setup.sh
source "$root/kit.d/setup.sh"
# shellcheck source=kit.d/doctor.sh
source "$root/kit.d/doctor.sh"
# shellcheck source=kit.d/hardware.sh
source "$root/kit.d/hardware.sh"

# same WHAT FOUND EXPECTED
same() {
    if [[ $2 != "$3" ]]; then
        complain "$1: found '$2', expected '$3'"
        exit 1
    fi
}

# program NAME TEXT: prints the text, and fails.
program() {
    printf '#!/bin/sh\ncat <<TEXT\n%s\nTEXT\nexit 1\n' "$2" >"$folder/$1"
    chmod +x "$folder/$1"
}

PATH=$folder:$PATH
program gtkwave $'Could not initialize GTK!\n\nUsage: gtkwave [OPTION]... [DUMPFILE]'
program surfer $'a banner\nsurfer 0.3.0'
same "a program that tells how it is used" "$(version_line gtkwave --version)" \
    "there; tells no version here"
same "a version behind a banner" "$(version_line surfer --version)" "surfer 0.3.0"
same "a program that is not there" "$(version_line lockstep-none --version)" ""

# The steps of the continuous integration share what they build.
printf '#!/bin/sh\necho clippy-driver "$@"\n' >"$folder/clippy-driver"
chmod +x "$folder/clippy-driver"
in_the_place_of_rustc=$root/kit.d/lint_checked.sh
same "a crate that is checked" \
    "$("$in_the_place_of_rustc" echo --crate-name a --emit=dep-info,metadata -o b)" \
    "clippy-driver echo --crate-name a --emit=dep-info,metadata -o b -D warnings"
same "a build script" \
    "$("$in_the_place_of_rustc" echo --crate-name build_script_build --emit=dep-info,link)" \
    "clippy-driver echo --crate-name build_script_build --emit=dep-info,link -D warnings"
same "a crate that is compiled" \
    "$("$in_the_place_of_rustc" echo --crate-name a --emit=dep-info,metadata,link -o b)" \
    "--crate-name a --emit=dep-info,metadata,link -o b -C lto=off"

mkdir -p -- "$folder/venv.new/bin"
printf '#!%s/venv.new/bin/python3\nprint("it runs")\n' "$folder" >"$folder/venv.new/bin/script"
printf 'command = python3 -m venv %s/venv.new\n' "$folder" >"$folder/venv.new/pyvenv.cfg"
ln -s -- "$(command -v python3)" "$folder/venv.new/bin/python3"
chmod +x "$folder/venv.new/bin/script"
name_scripts "$folder/venv.new" "$folder/venv"
mv -- "$folder/venv.new" "$folder/venv"
same "a script of the environment" "$("$folder/venv/bin/script")" "it runs"
same "what still names the old place" "$(grep -rlF venv.new "$folder/venv" || true)" ""
# One that was moved before its scripts were named anew.
printf '#!%s/venv.new/bin/python3\nprint("it runs")\n' "$folder" >"$folder/venv/bin/script"
name_scripts "$folder/venv.new" "$folder/venv" "$folder/venv"
same "a script of an older environment" "$("$folder/venv/bin/script")" "it runs"

# Environments of Python, which a python3 of this test makes.
made() { # made CODE_OF_VENV CODE_OF_PIP: runs make_python_environment, prints what it says and its code
    printf '#!/bin/bash\n[[ $2 == pip ]] && exit %s\n[[ $1 == -c ]] && exit\nmkdir -p "$3/bin" && cp "$0" "$3/bin/python"\nexit %s\n' \
        "$2" "$1" >"$folder/fake/python3"
    chmod +x "$folder/fake/python3"
    local code=0
    PATH=$folder/fake:$PATH make_python_environment some "$root/kit.d/requirements.txt" 2>&1 || code=$?
    echo "code $code"
}
mkdir -- "$folder/fake"
same "an environment that venv does not make" "$(made 1 0 | tail -n 2)" \
    $'kit: python3 -m venv could not make .kit/some; its message is above\ncode 1'
same "an environment without packages" "$(made 0 1 | tail -n 2)" \
    $'kit: pip could not get what kit.d/requirements.txt lists; its message is above\ncode 1'
same "an environment that is made" "$(made 0 0 | tail -n 1)" "code 0"
same "an environment that is there" "$(made 1 1)" "code 0"
rm -- "$folder/some/bin/python"
same "an environment whose Python is gone" "$(made 0 0 | tail -n 1)$(ls "$folder/some/bin")" "code 0python"
same "a Python that is missing" "$(PATH=$folder/none need_python 2>&1; true)" \
    "kit: this command needs Python 3.11 or newer, and there is no python3; get one with the package manager of this \
system, and have it as python3 in PATH"

# A program that is interrupted before it listens. What runs in the background may have interrupts ignored.
printf 'import os, signal\nos.kill(os.getpid(), signal.SIGINT)\nprint("goes on")\n' >"$folder/program.py"
same "a program that is interrupted as it begins" \
    "$(code=0; env --default-signal=INT python3 -B "$root/kit.d/start.py" "$folder/program.py" 2>&1 || code=$?; echo "code $code")" "code 130"
printf 'import sys, program_beside\nprint(sys.argv[1:], __name__)\n' >"$folder/program.py"
touch "$folder/program_beside.py"
same "a program with arguments" "$(python3 -B "$root/kit.d/start.py" "$folder/program.py" a --b)" "['a', '--b'] __main__"

same "what counts the cells of blocks" "$(python3 -B "$root/hw/area/test_synth.py" 2>&1 | tail -n 1)" "OK"
same "what routes blocks" "$(python3 -B "$root/hw/route/test_route.py" 2>&1 | tail -n 1)" "OK"
same "the table of routed blocks" "$(python3 -B "$root/hw/route/route.py" --check 2>&1)" ""
if python3 -c 'import tomllib' 2>/dev/null; then
    same "what proves properties" "$(python3 -B "$root/hw/formal/test_prove.py" 2>&1 | tail -n 1)" "OK"
    same "what plants mutants" "$(python3 -B "$root/hw/mutate/test_mutate.py" 2>&1 | tail -n 1)" "OK"
    same "what judges mutants by tests" "$(python3 -B "$root/hw/mutate/test_bench.py" 2>&1 | tail -n 1)" "OK"
    same "what lists mutants" "$(python3 -B "$root/hw/blocks/test_record_mutants.py" 2>&1 | tail -n 1)" "OK"
    same "the table of all blocks" "$(python3 -B "$root/hw/blocks/blocks.py" --check 2>&1)" ""
fi

# What is generated says from what instead.
same "sources without a licence" "$(
    cd -- "$root" && grep -rL --include='*.rs' --include='*.sv' --include='*.bsv' --include='*.rdl' \
        --exclude-dir=target --exclude-dir=generated \
        -e 'SPDX-License-Identifier: MIT OR Apache-2.0' -e '^// Generated from' \
        checks cli driver hw lockdb ndp-runtime sim tests workloads || true
)" ""
# Where this is a checkout; what was unpacked from an archive has been one.
same "files with marks of a merge" "$(cd -- "$root" && git grep -lE '^(<<<<<<<|>>>>>>>) ' 2>/dev/null || true)" ""
say "The shell of ./kit does what it should."
