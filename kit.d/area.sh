# shellcheck shell=bash
# ./kit area: what a block of hw/rtl takes, as Yosys counts.
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
    make_area_environment
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

# Made beside its place and moved there whole; the stamp is a copy of what was asked for.
make_area_environment() (
    local wanted=$root/hw/area/requirements.txt new=$kit_folder/area.new
    mkdir -p -- "$kit_folder"
    exec 9>"$kit_folder/area.lock"
    flock 9
    if cmp -s -- "$wanted" "$kit_folder/area/requirements.txt"; then return; fi
    headline "Getting Yosys: $(grep -v '^#' "$wanted")"
    rm -rf -- "$new"
    { python3 -m venv "$new" &&
        "$new/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps -r "$wanted"; } >&2 ||
        give_up "could not get Yosys; the message is above"
    cp -- "$wanted" "$new/requirements.txt"
    rm -rf -- "$kit_folder/area"
    mv -- "$new" "$kit_folder/area"
)
