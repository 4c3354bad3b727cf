#!/usr/bin/env bash
# Checks the shell parts of ./kit qemu, without network, QEMU or guest.
set -euo pipefail

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf -- "$folder"' EXIT
# Nothing is there yet, as on a fresh machine.
kit_folder=$folder/kit
# shellcheck disable=SC2034 # qemu.sh builds with them.
cargo_options=()
# shellcheck source=kit.d/say.sh
source "$root/kit.d/say.sh"
# shellcheck source=kit.d/qemu.sh
source "$root/kit.d/qemu.sh"

failures=0

# expect WHAT FOUND EXPECTED
expect() {
    if [[ $2 == "$3" ]]; then return; fi
    complain "$1: expected '$3', found '$2'"
    failures=$((failures + 1))
}

# outcome COMMAND...: its exit code and the last line that it prints.
outcome() {
    local result=0 said
    said=$("$@" 2>/dev/null) || result=$?
    printf '%s %s' "$result" "${said##*$'\n'}"
}

check_modules() {
    local order
    order=$(modules_in_order <<'TEXT'
kernel/drivers/vfio/pci/vfio-pci.ko.xz: kernel/pci/vfio-pci-core.ko.xz kernel/vfio.ko.xz kernel/irqbypass.ko.xz
kernel/drivers/vfio/pci/mlx5-vfio-pci.ko.xz: kernel/mlx5_core.ko.xz
kernel/drivers/vfio/vfio_iommu_type1.ko.xz: kernel/vfio.ko.xz
TEXT
    )
    expect "modules in the order of loading" "$(sed 's,.*/,,; s,\.ko.*,,' <<<"$order" | paste -sd' ')" \
        "irqbypass vfio vfio-pci-core vfio-pci vfio_iommu_type1"
}

# check_verdict CONSOLE GUEST_RESULT SERVED EXPECTED
check_verdict() {
    # shellcheck disable=SC2034 # report_guest reads them.
    guest_folder=$(mktemp -d -- "$folder/guest.XXXX") guest_result=$2 served=$3
    touch -- "$guest_folder"/{qemu,serve}.log
    printf '%s\r\n' "$1" | show_console >/dev/null
    expect "verdict on the console '$1'" "$(outcome report_guest)" "$4"
}

check_skip() {
    local commands=$folder/commands
    mkdir -- "$commands"
    ln -s -- "$(command -v uname)" "$commands/"
    expect "a machine without apt" "$(PATH=$commands outcome see_to_packages bookworm false)" \
        "0 SKIPPED: no apt-get here; QEMU and the kernel come from Debian's packages"
}

check_modules
check_verdict "LOCKSTEP-GUEST: PASS" 0 true "0 PASS"
check_verdict "LOCKSTEP-GUEST: FAIL doctor (exit code 2)" 0 true "1 FAIL doctor (exit code 2)"
check_verdict "LOCKSTEP-GUEST: PASS" 143 false "1 FAIL lockstep serve ended before the guest did"
check_verdict "Kernel panic" 0 true "1 FAIL the guest ended without a verdict"
check_verdict "LOCKSTEP-GUEST: up" 124 true "1 FAIL the guest came to no end within $guest_bound s"
check_skip
expect "unknown kernel" "$(outcome run_qemu --kernel sarge)" "2 "
expect "argument after the last" "$(outcome run_qemu --shell now)" "2 "
((failures == 0))
