# shellcheck shell=bash
# ./kit qemu: the driver under a real Linux kernel, which sees the Verilated device on its PCI bus.
# docs/qemu.md says how the parts stand together.
# shellcheck disable=SC2154 # root, kit_folder, cargo_options and the colours are set elsewhere.

# shellcheck source=kit.d/qemu/packages.sh
source "$root/kit.d/qemu/packages.sh"
# shellcheck source=kit.d/qemu/initramfs.sh
source "$root/kit.d/qemu/initramfs.sh"

# Seconds. A guest that works needs a fraction of this.
readonly serve_bound=20
guest_bound=150

qemu_usage() {
    cat <<'TEXT'
Usage: ./kit qemu [--kernel NAME] [--full | --shell | --no-iommu] [--refresh] [--program FILE]

Boots a stock Linux kernel in QEMU with the Verilated device attached, and runs the acceptance
suite and a short scenario in this guest, through sysfs and through VFIO. Ends with PASS (exit
code 0), with what failed (1), or with SKIPPED and the reason where QEMU cannot be had (0).

  --kernel NAME   bookworm  Linux 6.1 of Debian 12, the default
                  trixie    Linux 6.12 of Debian 13
                  backports the newest Linux that is made for Debian 13
                  noble     Linux 6.8 of Ubuntu 24.04, which has iommufd; no kernel of Debian does
  --full          the acceptance suite with all its cases, for a minute or two
  --shell         gives a shell in the guest instead, with the device bound to vfio-pci
  --no-iommu      a machine without an IOMMU: sysfs, and VFIO's mode for such machines where the kernel
                  has it
  --refresh       gets the newest packages again; without it, what is in .kit/qemu stays
  --program FILE  takes this command `lockstep` instead of building one
TEXT
}

run_qemu() {
    local kernel=bookworm course='' refresh=false program=''
    while (($# > 0)); do
        case $1 in
            --kernel)
                kernel=${2:-}
                kernel_package "$kernel" >/dev/null ||
                    bad_qemu_argument "--kernel $kernel: expected bookworm, trixie, backports or noble"
                shift
                ;;
            --program)
                program=${2:-}
                [[ -f $program && -x $program ]] || bad_qemu_argument "--program $program: expected a program"
                shift
                ;;
            --full)
                course=full
                guest_bound=400
                ;;
            --shell) course=shell ;;
            --no-iommu) course=no_iommu ;;
            --refresh) refresh=true ;;
            -h | --help) qemu_usage && return ;;
            *) bad_qemu_argument "unknown argument: $1" ;;
        esac
        shift
    done

    see_to_packages "$kernel" "$refresh"
    if [[ -z $program ]]; then build_program; fi
    boot_guest "$kernel" "$program" "$course"
}

bad_qemu_argument() {
    complain "$1"
    qemu_usage >&2
    exit 2
}

skip() {
    printf 'SKIPPED: %s\n' "$*"
    exit 0
}

see_to_packages() {
    local kernel=$1 refresh=$2 needed
    [[ $(uname -sm) == "Linux x86_64" ]] ||
        skip "this is $(uname -sm); the guest runs the command lockstep of a Linux x86_64"
    if ! $refresh && have_packages "$kernel"; then return; fi
    for needed in apt-get dpkg-deb; do
        command -v "$needed" >/dev/null ||
            skip "no $needed here; QEMU and the kernel come from Debian's packages"
    done
    if get_packages "$kernel" "$refresh"; then return; fi
    have_packages "$kernel" ||
        skip "offline: the packages of QEMU and of the kernel could not be had; the reason is above"
    say "Nothing newer could be had; what was there before serves."
}

# Sets the variable program of the caller.
build_program() {
    set_up
    cargo build "${cargo_options[@]}" --manifest-path "$root/Cargo.toml" --release -p lockstep-cli
    program=$(realpath -m -- "${CARGO_TARGET_DIR:-$root/target}")/release/lockstep
}

# boot_guest KERNEL PROGRAM COURSE: the course is full, shell, no_iommu, or empty for the usual one. What this
# run makes is in one folder, which goes at the end.
boot_guest() {
    local kernel_folder program=$2 course=$3
    kernel_folder=$(kernel_folder "$1")
    guest_folder=$(mktemp -d -- "${TMPDIR:-/tmp}/lockstep-qemu.XXXXXX")
    guest_processes=()
    trap clean_up_guest EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP

    make_initramfs "$program" "$kernel_folder" "$guest_folder" ||
        give_up "the guest's files could not be put together; the reason is above"
    serve_device "$program"
    describe_machine "$kernel_folder" "$course"
    headline "Booting Linux $(<"$kernel_folder/version") with the device on its PCI bus"
    if [[ $course == shell ]]; then
        "${machine[@]}" -serial mon:stdio
    else
        watch_guest
        report_guest
    fi
}

clean_up_guest() {
    local process
    for process in "${guest_processes[@]}"; do kill "$process" 2>/dev/null || true; done
    for process in "${guest_processes[@]}"; do wait "$process" 2>/dev/null || true; done
    rm -rf -- "$guest_folder"
}

# serve_device PROGRAM: returns when it may be connected to.
serve_device() {
    local log=$guest_folder/serve.log socket=$guest_folder/device.sock waited
    # Whatever it is doing, it is gone 5 s after it has been told to end.
    timeout --kill-after=5 0 "$1" serve --socket "$socket" >"$log" 2>&1 </dev/null &
    serve_process=$!
    guest_processes+=("$serve_process")
    for ((waited = 0; waited < serve_bound * 10; waited++)); do
        if [[ -S $socket && -s $log ]]; then return; fi
        kill -0 "$serve_process" 2>/dev/null || break
        sleep 0.1
    done
    show_end "serve" "$log"
    give_up "lockstep serve ended, or was not ready within $serve_bound s; its words are above"
}

# describe_machine KERNEL_FOLDER COURSE: sets machine, the command that boots the guest.
describe_machine() {
    local words="console=ttyS0 quiet loglevel=3 panic=-1 hugepages=32"
    local iommu=(-device intel-iommu,caching-mode=on,intremap=on)
    if [[ $2 == no_iommu ]]; then iommu=(); else words+=" intel_iommu=on iommu=pt"; fi
    # An emulated machine on a busy one may be too slow for the kernel's test of its timer.
    words+=" no_timer_check"
    if [[ -n $2 ]]; then words+=" lockstep.$2"; fi
    # shellcheck disable=SC2054 # QEMU's own commas.
    machine=(
        "${tool_loader[@]}" "$qemu_tools/usr/bin/qemu-system-x86_64"
        -L "$qemu_tools/usr/share/qemu" -L "$qemu_tools/usr/share/seabios"
        -nodefaults -no-user-config -display none -no-reboot
        # Not KVM: /dev/kvm opens on some machines that cannot run a stock guest. With one
        # processor QEMU would make read-modify-writes that are not atomic towards the device.
        -accel tcg,thread=multi -cpu max -smp 2 -m 1G
        # Memory that can be passed to the device by its file descriptor.
        -object memory-backend-memfd,id=memory,size=1G,share=on
        -machine q35,memory-backend=memory
        "${iommu[@]}"
        # A slot of its own, as on a board; QEMU's own end of waiting is 5 s.
        -device pcie-root-port,id=board,chassis=1,slot=1
        -device "$(printf '{"driver":"vfio-user-pci","bus":"board","x-msg-timeout":30000,%s}' \
            "\"socket\":{\"type\":\"unix\",\"path\":\"$guest_folder/device.sock\"}")"
        -kernel "$1/vmlinuz" -initrd "$guest_folder/initramfs" -append "$words"
    )
}

# Lets the guest run, and shows its console from where our own words begin. Sets guest_result, and
# served: whether the device was there to the end.
watch_guest() {
    local console=$guest_folder/console.pipe reader guest
    mkfifo -- "$console"
    show_console <"$console" &
    reader=$!
    timeout --kill-after=5 "$guest_bound" "${machine[@]}" -serial stdio \
        >"$console" 2>"$guest_folder/qemu.log" </dev/null &
    guest=$!
    guest_processes+=("$guest" "$reader")
    guest_result=0
    served=true
    wait -n "$guest" "$serve_process" || guest_result=$?
    if ! kill -0 "$serve_process" 2>/dev/null; then
        served=false
        kill "$guest" 2>/dev/null || true
    fi
    wait "$guest" "$reader" || true
}

show_console() {
    local line ours=false
    while IFS= read -r line; do
        line=${line%$'\r'}
        printf '%s\n' "$line" >>"$guest_folder/console.log"
        case $line in
            *'LOCKSTEP-GUEST: up') ours=true ;;
            'LOCKSTEP-GUEST: '*) ours=false ;;
            *) if $ours; then printf 'guest |%s\n' "${line:+ $line}"; fi ;;
        esac
    done
}

# The guest's own last word decides; without one, whatever ended it is told.
report_guest() {
    local verdict
    touch -- "$guest_folder/console.log"
    verdict=$(sed -nE 's/^LOCKSTEP-GUEST: (PASS|FAIL.*)/\1/p' "$guest_folder/console.log" | tail -n 1)
    if $served && [[ $verdict == PASS ]]; then
        printf '\n%sPASS%s\n' "$green" "$plain"
        return
    fi
    if [[ -z $verdict || $verdict == PASS ]]; then
        show_end "console" "$guest_folder/console.log"
        verdict="FAIL the guest ended without a verdict"
        if ((guest_result == 124 || guest_result == 137)); then
            verdict="FAIL the guest came to no end within $guest_bound s"
        fi
        if ! $served; then verdict="FAIL lockstep serve ended before the guest did"; fi
    fi
    show_end "qemu" "$guest_folder/qemu.log"
    show_end "serve" "$guest_folder/serve.log"
    printf '\n%s%s%s\n' "$red" "$verdict" "$plain"
    exit 1
}

# show_end NAME FILE: its last lines.
show_end() { tail -n 20 -- "$2" | sed "s/^/$1 | /" >&2; }
