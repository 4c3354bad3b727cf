# shellcheck shell=bash
# The root of the guest's files, kept in memory: busybox, the command lockstep with the shared
# libraries it needs, scenarios, and the kernel's modules of VFIO.
# shellcheck disable=SC2154 # root and qemu_tools are set elsewhere.

# make_initramfs PROGRAM KERNEL_FOLDER FOLDER: writes FOLDER/initramfs.
make_initramfs() {
    local program=$1 kernel=$2 folder=$3
    local tree=$folder/tree
    mkdir -p -- "$tree"/{bin,dev,lib,proc,run,sys,tmp,var} "$tree/lib/modules" || return
    cp -- "$root/kit.d/qemu/init" "$tree/init" || return
    cp -- "$qemu_tools/usr/bin/busybox" "$program" "$tree/bin/" || return
    cp -R -- "$root/scenarios" "$tree/scenarios" || return
    cp -- "$kernel"/modules/* "$tree/lib/modules/" || return
    copy_libraries "$program" "$tree" || return
    (cd -- "$tree" && find . | run_tool cpio --create --format=newc --owner=0:0 --quiet) \
        >"$folder/initramfs"
}

# copy_libraries PROGRAM TREE: at the same places as here, where its loader looks for them.
copy_libraries() {
    local libraries library
    # A program without shared libraries is no error.
    libraries=$(ldd "$1" 2>/dev/null) || return 0
    if [[ $libraries == *'not found'* ]]; then
        complain "$1 lacks shared libraries:"
        grep 'not found' <<<"$libraries" >&2
        return 1
    fi
    while read -r library; do
        mkdir -p -- "$2$(dirname -- "$library")" || return
        cp --dereference -- "$library" "$2$library" || return
    done < <(grep -oE '/[^ ]+' <<<"$libraries")
}
