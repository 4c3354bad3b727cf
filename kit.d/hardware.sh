# shellcheck shell=bash
# Free tools for hardware from PyPI: ./kit area, which is what a block of hw/rtl takes as Yosys counts, and the
# bus models that are not ours in ./kit test; and ./kit prove, which proves properties of blocks.
# shellcheck disable=SC2154 # root and kit_folder are set by kit.

area_usage() {
    cat <<'TEXT'
Usage: ./kit area TOP [NAME=VALUE ...]

Prints the cells of the RTL module TOP with these parameters, and its longest path between registers,
as a row of a Markdown table: ./kit area probe_scan SlotBytes=128 ValueWords=8

Yosys counts them for UltraScale+, in seconds to minutes. It comes from PyPI into .kit/area.
TEXT
}

run_area() {
    local top=${1:-} list
    case $top in
        -h | --help) area_usage && return ;;
        '') bad_area_argument "no module given" ;;
    esac
    list=$(list_with "$top") || bad_area_argument "no list of files in hw has a module $top"
    make_python_environment area "$root/hw/area/requirements.txt" ||
        give_up "could not get Yosys from PyPI; the message is above"
    "$kit_folder/area/bin/python" -B "$root/hw/area/area.py" "$list" "$@"
}

bad_area_argument() {
    complain "$1"
    area_usage >&2
    exit 2
}

# Prints the list of files that has a module; its own, if there is one.
list_with() {
    local top=$1 list
    for list in "$root"/hw/{,rtl/}*/"$top.f" "$root"/hw/{,rtl/}*/*.f; do
        if [[ -f $list ]] && grep -qE "^(.*/)?$top\.s?v\$" "$list"; then
            printf '%s' "$list"
            return
        fi
    done
    return 1
}

prove_usage() {
    cat <<'TEXT'
Usage: ./kit prove [--quick] [BLOCK ...]
       ./kit prove --self-test

Proves the properties of the RTL's blocks, or of these, and prints a table; docs/formal.md has the last
one. A property that fails is named with its place and a trace (VCD).

  --quick      the jobs that ./kit test runs, in less than a minute
  --self-test  plants faults in copies of blocks, and looks whether their properties fail

Exit code 0: all proven; 1: a property fails, or a cover is not reached; 2: a job, a tool or a solver
did not get to an answer, and the message says which.

Yosys, ABC and the solver come from PyPI into .kit/prove.
TEXT
}

run_prove() {
    if [[ " $* " == *" -h "* || " $* " == *" --help "* ]]; then
        prove_usage
        return
    fi
    python3 -c 'import tomllib' 2>/dev/null ||
        give_up "./kit prove needs Python 3.11 or newer, and python3 is older or missing"
    make_python_environment prove "$root/hw/formal/requirements.txt" ||
        give_up "could not get Yosys and its solver from PyPI; the message is above"
    # In the place of this shell, so that a signal to it ends the solvers.
    exec "$kit_folder/prove/bin/python" -B "$root/hw/formal/prove.py" "$@"
}

# Steps of ./kit test, where their tools can be had.
test_proofs() {
    if ! python3 -c 'import venv, ensurepip, tomllib' 2>/dev/null; then
        say "Skipped: no Python 3.11 here that can make environments (apt-get install python3-venv)."
    elif ! make_python_environment prove "$root/hw/formal/requirements.txt"; then
        say "Skipped: Yosys and its solver could not be had from PyPI; the message is above."
    else
        (run_prove --quick)
    fi
}

test_outside_bus() {
    local folder=$root/checks/outside_bus
    if ! command -v iverilog >/dev/null; then
        say "Skipped: no Icarus Verilog here (apt-get install iverilog)."
    elif ! python3 -c 'import venv, ensurepip' 2>/dev/null; then
        say "Skipped: no Python here that can make environments (apt-get install python3-venv)."
    elif ! make_python_environment outside_bus "$folder/requirements.txt"; then
        say "Skipped: its packages could not be had from PyPI; the message is above."
    else
        timeout --kill-after=10s 10m "$kit_folder/outside_bus/bin/python" -B "$folder/run.py"
    fi
}

# make_python_environment NAME REQUIREMENTS: in .kit, made beside its place and moved there whole. The stamp is
# a copy of what was asked for.
make_python_environment() (
    local name=$1 wanted=$2
    local place=$kit_folder/$name new=$kit_folder/$name.new
    mkdir -p -- "$kit_folder"
    exec 9>"$place.lock"
    flock 9
    if cmp -s -- "$wanted" "$place/requirements.txt"; then return; fi
    headline "Getting Python packages for .kit/$name"
    rm -rf -- "$new"
    { python3 -m venv "$new" &&
        "$new/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps -r "$wanted"; } >&2 ||
        return
    cp -- "$wanted" "$new/requirements.txt" && rm -rf -- "$place" && mv -- "$new" "$place"
)
