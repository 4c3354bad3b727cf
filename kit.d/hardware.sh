# shellcheck shell=bash
# Free tools for hardware from PyPI: ./kit synth, which is what blocks of hw/rtl take as Yosys counts; ./kit route,
# which routes them on an ECP5; ./kit prove, which proves properties of blocks; ./kit mutate, which judges these by
# planted faults; and the bus models that are not ours in ./kit test.
# shellcheck disable=SC2154 # root and kit_folder are set by kit.

synth_usage() {
    cat <<'TEXT'
Usage: ./kit synth [--check [--changed] | --write] [--jobs N] [BLOCK [NAME=NUMBER ...]] ...

Prints the cells of blocks of hw/rtl and of the lock unit as rows of a Markdown table, with the deepest
path of each and its ends: ./kit synth probe_scan SlotBytes=128 ValueWords=8

Without a block, all of hw/area/blocks.txt. Without parameters, those of that file. What was counted is
kept until the block changes, so that an interrupted run goes on where it stopped.

  --check    compares with hw/area/table.md; exit code 1 where a count is more than 5 % larger
  --changed  compares only rows of the table whose RTL has changed since they were written
  --write    renews their rows of the table
  --jobs N   so many at a time; without it, one for each core

Yosys counts them for UltraScale+, in seconds to minutes for each. It comes from PyPI into .kit/area.
Exit code 2: bad arguments, a damaged table or list, a block that Yosys does not read, or no Yosys.
TEXT
}

run_synth() {
    if asks_for_help "$@"; then synth_usage && return; fi
    run_with_tools area area area/synth.py --cache "$kit_folder/area/results" "$@"
}

route_usage() {
    cat <<'TEXT'
Usage: ./kit route [--write] [--jobs N] [--seeds N] [BLOCK [NAME=VALUE ...]] ...
       ./kit route --check | --mark

Maps blocks of hw/rtl and the lock unit to an ECP5 (LFE5U-85F), places and routes them there, and prints the lowest
and the highest clock of the seeds. These are numbers to watch, in a small and old FPGA, and the clock of no card.

Without a block, all of hw/area/blocks.txt, the smallest first, which takes hours. A block that does not fit, or
that takes more than 5 minutes of the processor with a seed, gets a row that says so. What was measured is kept
until the block changes, so that an interrupted run goes on where it stopped.

  --write    renews a block's row of hw/route/table.md as soon as it is measured
  --jobs N   so many at a time; without it, one for each core
  --seeds N  so many placements of each block; without it, 3
  --check    fails unless that table is well formed, with marks on what is older than its block
  --mark     renews these marks, and measures nothing

Yosys and nextpnr come from PyPI into .kit/route. Exit code 2: bad arguments, a tool could not be had or failed, or
the machine was too busy for a block; the message says which, and the rows of the other blocks are kept.
TEXT
}

run_route() {
    if asks_for_help "$@"; then route_usage && return; fi
    run_with_tools route route route/route.py --cache "$kit_folder/route/results" "$@"
}

prove_usage() {
    cat <<'TEXT'
Usage: ./kit prove [--write] [--jobs N] [BLOCK ...]
       ./kit prove --quick [--write] [--jobs N]
       ./kit prove --self-test [--jobs N] [JOB | PROPERTY ...]

Proves the properties of each BLOCK, or of all that have a job in hw/formal/jobs, and prints a table;
hw/formal/table.md has the last one. The name of one of the jobs of a block may stand for it. A property that
fails is named with its place and a trace (VCD).

  --jobs N     so many at a time; without it, one for each core
  --quick      the jobs that ./kit test runs, in less than a minute
  --write      renews the rows of what is proven in hw/formal/table.md
  --self-test  plants faults in copies of blocks, and looks whether their properties fail; all of
               hw/formal/mutants.toml, or those in a job or of a property

Exit code 0: all proven; 1: a property fails, or a cover is not reached; 2: a job, a table or an argument
is wrong, or a tool or a solver did not get to an answer, and the message says which.

Yosys, ABC and the solver come from PyPI into .kit/prove.
TEXT
}

run_prove() {
    if asks_for_help "$@"; then prove_usage && return; fi
    run_with_tools prove formal formal/prove.py "$@"
}

mutate_usage() {
    cat <<'TEXT'
Usage: ./kit mutate [--write] [--jobs N] [--bench TOP] [BLOCK ...]

Plants faults in blocks of hw/, and prints which of them are found, which change nothing that anybody could
see, and which survive, with file and line: docs/mutants.md. Blocks with a job in hw/formal/jobs are
judged by the properties of ./kit prove, all others by tests, and so are those whose properties tell too little:
hw/mutate/benches.toml.

Without a block, all are judged, which takes hours. What is known of a mutant is kept in .kit/mutate until
the block changes, so that an interrupted run goes on where it stopped.

  --bench TOP  all blocks that the tests of this top judge; may be given several times
  --jobs N     so many at a time; without it, one for each core
  --write      puts the rows of what was judged into hw/mutate/table.md, and the mutants that survived into
               hw/mutate/survivors.md, where a person then writes why nothing finds them

Exit code 0: 95 % of those that change something are found, in each block; 1: fewer; 2: an unknown block,
tests that fail without a mutant, a damaged table, or a tool that is missing, was ended or could not write.
What such a tool was asked is not kept.
TEXT
}

run_mutate() {
    if asks_for_help "$@"; then mutate_usage && return; fi
    run_with_tools prove formal mutate/bench.py --kept "$kit_folder/mutate" "$@"
}

blocks_usage() {
    cat <<'TEXT'
Usage: ./kit blocks [--check | --write]

Prints one table of all RTL blocks: what is proven of each, which mutants were found, and its cells and
levels, from the tables that ./kit prove, ./kit mutate and ./kit synth have written. What is older than its
block is marked.

  --check  fails unless hw/blocks/table.md says the same, and hw/mutate/survivors.md gives a reason for each
           mutant that survives
  --write  renews hw/blocks/table.md

Exit code 1: --check found a difference; 2: a table, a list or a block cannot be read.
TEXT
}

run_blocks() {
    if asks_for_help "$@"; then blocks_usage && return; fi
    need_python
    exec python3 -B "$root/kit.d/start.py" "$root/hw/blocks/blocks.py" "$@"
}

asks_for_help() {
    [[ " $* " == *" -h "* || " $* " == *" --help "* ]]
}

need_python() {
    local code=0
    # Bash forgets an interrupt that comes to it alone while it waits for a program that goes on.
    trap 'exit 130' INT
    python3 -c 'import tomllib' 2>/dev/null || code=$?
    # It was ended by a signal.
    if ((code > 128)); then exit "$code"; fi
    ((code == 0)) ||
        give_up "this command needs Python 3.11 or newer, and $(found_python);" \
            "get one with the package manager of this system, and have it as python3 in PATH"
}

found_python() {
    if command -v python3 >/dev/null; then
        printf 'python3 is %s' "$(python3 --version 2>&1 | head -n 1)"
    else
        printf 'there is no python3'
    fi
}

# run_with_tools ENVIRONMENT FOLDER PROGRAM [ARGUMENT ...]: runs a program of hw with the packages that a folder of hw
# requires.
run_with_tools() {
    local name=$1 folder=$2 program=$3
    shift 3
    need_python
    make_python_environment "$name" "$root/hw/$folder/requirements.txt" || exit 2
    # In the place of this shell, so that a signal to it ends what the program runs.
    exec "$kit_folder/$name/bin/python" -B "$root/kit.d/start.py" "$root/hw/$program" "$@"
}

# Steps of ./kit test, where their tools can be had.
test_proofs() {
    if has_python_for prove "$root/hw/formal/requirements.txt" tomllib; then (run_prove --quick); fi
}

# Counts what has changed since the table was written.
test_area() {
    if has_python_for area "$root/hw/area/requirements.txt" tomllib; then (run_synth --check --changed); fi
}

test_outside_bus() {
    local folder=$root/checks/outside_bus
    if ! command -v iverilog >/dev/null; then
        say "Skipped: no Icarus Verilog here (apt-get install iverilog)."
    elif has_python_for outside_bus "$folder/requirements.txt"; then
        timeout --kill-after=10s 10m "$kit_folder/outside_bus/bin/python" -B "$folder/run.py"
    fi
}

# has_python_for NAME REQUIREMENTS [MODULE]: makes the environment; says it if that cannot be had.
has_python_for() {
    if ! python3 -c "import venv, ensurepip${3:+, $3}" 2>/dev/null; then
        say "Skipped: no Python here that can make environments${3:+ and has $3} (apt-get install python3-venv)."
    elif ! make_python_environment "$1" "$2"; then
        say "Skipped: it has no environment of Python; the message is above."
    else
        return 0
    fi
    return 1
}

# make_python_environment NAME REQUIREMENTS: in .kit, made beside its place and moved there whole. The stamp is
# a copy of what was asked for.
make_python_environment() (
    local name=$1 wanted=$2
    local place=$kit_folder/$name new=$kit_folder/$name.new
    if ! mkdir -p -- "$kit_folder" || ! { : >>"$place.lock"; }; then
        complain "$kit_folder cannot be written"
        return 1
    fi
    exec 9>"$place.lock"
    flock 9
    # One whose Python is gone from this system is made again.
    if cmp -s -- "$wanted" "$place/requirements.txt" && "$place/bin/python" -c '' 2>/dev/null; then return; fi
    headline "Getting Python packages for .kit/$name"
    rm -rf -- "$new"
    if ! python3 -m venv "$new" >&2; then
        complain "python3 -m venv could not make .kit/$name; its message is above"
        return 1
    fi
    if ! "$new/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps -r "$wanted" >&2; then
        complain "pip could not get what ${wanted#"$root/"} lists; its message is above"
        return 1
    fi
    if ! { cp -- "$wanted" "$new/requirements.txt" && rm -rf -- "$place" && mv -- "$new" "$place"; }; then
        complain "$place could not be written"
        return 1
    fi
)
