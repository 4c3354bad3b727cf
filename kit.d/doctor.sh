# shellcheck shell=bash
# ./kit doctor: every tool, its version, and what is missing; then what `lockstep doctor` finds.
# shellcheck disable=SC2154 # root, the colours and the oldest versions are set elsewhere.

doctor() {
    local missing=0
    printf '%s\n' "${bold}Required${plain}"
    required rustc "$(first_line rustc --version)" "https://rustup.rs" "$(rust_is_old)"
    required cargo "$(first_line cargo --version)" "https://rustup.rs"
    required g++ "$(first_line g++ --version)" "apt-get install g++"
    required python3 "$(first_line python3 --version)" "apt-get install python3 python3-venv"
    local remedy=./kit\ setup
    if [[ -n ${VERILATOR:-}${VERILATOR_ROOT:-} ]]; then
        remedy="point VERILATOR and VERILATOR_ROOT elsewhere, or unset them"
    fi
    required verilator "$(describe_verilator)" "$remedy" "$(verilator_is_old)"

    printf '%s\n' "${bold}Optional${plain}"
    optional cargo-nextest "$(version_line cargo nextest --version)" "runs the tests faster"
    optional bsc "$(version_line bsc -v)" "compiles hw/bsv; the generated Verilog is committed"
    optional chromium "$(version_line chromium --version)" "looks at the page of ./kit figures"
    optional gtkwave "$(version_line gtkwave --version)" "shows waves"
    optional surfer "$(version_line surfer --version)" "shows waves"
    optional pg_waldump "$(version_line "$(postgres_program pg_waldump)" --version)" \
        "makes lock traces from PostgreSQL's log"
    optional postgres "$(version_line "$(postgres_program postgres)" --version)" \
        "measured beside the lock table by ./kit bench postgres"

    printf '%s\n' "${bold}This machine${plain}"
    this_machine

    if ((missing > 0)); then
        complain "$missing of the required tools are missing or too old"
        exit 2
    fi
}

# PCI devices, IOMMU, huge pages and limits, by the command that was built last.
this_machine() {
    local program found
    program=$(realpath -m -- "${CARGO_TARGET_DIR:-$root/target}")/release/lockstep
    if [[ -x $program ]] && found=$("$program" doctor 2>/dev/null); then
        printf '%s\n' "$found" | sed 's/^/  /'
    else
        row "$plain" lockstep "not built, or old (PCI devices, IOMMU, huge pages, limits): ./kit check sim:"
    fi
}

# required NAME VERSION REMEDY [PROBLEM]
required() {
    local name=$1 version=$2 remedy=$3 problem=${4:-}
    if [[ -z $version ]]; then problem="missing"; fi
    if [[ -n $problem ]]; then
        missing=$((missing + 1))
        row "$red" "$name" "${version:+$version }$problem; get it: $remedy"
    else
        row "$green" "$name" "$version"
    fi
}

# optional NAME VERSION USE
optional() {
    if [[ -n $2 ]]; then row "$green" "$1" "$2"; else row "$plain" "$1" "not there ($3)"; fi
}

row() { printf '  %s%-14s%s %s\n' "$1" "$2" "$plain" "$3"; }

# The first line that a command prints; nothing when there is no such command.
first_line() {
    command -v -- "$1" >/dev/null || return 0
    "$@" 2>/dev/null </dev/null | sed -n 1p || true
}

# The first line with a version that an optional command prints. Some, such as gtkwave without a display,
# print how they are used instead: these are there, and no more is known.
version_line() {
    command -v -- "$1" >/dev/null || return 0
    local line
    line=$("$@" 2>/dev/null </dev/null | sed -nE '/[0-9]+\.[0-9]+/{p;q}') || true
    printf '%s' "${line:-there; tells no version here}"
}

rust_is_old() {
    local version
    version=$(rust_version) && ! version_at_least "$version" "$oldest_rust" &&
        printf '(older than %s)' "$oldest_rust"
    return 0
}

describe_verilator() {
    local version
    version=$(verilator_version 2>/dev/null) && printf '%s at %s' "$version" "$(find_verilator)"
    return 0
}

verilator_is_old() {
    local version
    version=$(verilator_version 2>/dev/null) && ! version_at_least "$version" "$oldest_verilator" &&
        printf '(older than %s)' "$oldest_verilator"
    return 0
}

# Debian keeps the programs of each PostgreSQL release in a folder of its own.
postgres_program() {
    local program
    for program in /usr/lib/postgresql/*/bin/"$1"; do
        if [[ -x $program ]]; then
            printf '%s' "$program"
            return
        fi
    done
    printf '%s' "$1"
}
