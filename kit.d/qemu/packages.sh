# shellcheck shell=bash
# What ./kit qemu boots and boots it with: packages of the archives, got once, checked by the
# archives' keys, and unpacked below .kit/qemu. Nothing is installed on this machine.
# shellcheck disable=SC2154 # kit_folder is set by kit.

readonly qemu_folder="$kit_folder/qemu"
readonly qemu_tools="$qemu_folder/tools"

# QEMU speaks vfio-user from 10.1 on, which the backports of this release have. Names of packages,
# no versions: the archive drops old ones, so whichever it has at the time are taken.
readonly tools_release=trixie
readonly tools_packages=(qemu-system-x86 busybox-static cpio kmod xz-utils zstd)
# Debian's own word for where Ubuntu's archive is and by which key to check it.
readonly ubuntu_packages=(ubuntu-keyring debootstrap)

readonly debian_keyring=/usr/share/keyrings/debian-archive-keyring.gpg
readonly download_bound=600

# kernel_package RELEASE: the package by whose dependencies the newest kernel is found.
kernel_package() {
    case $1 in
        bookworm | trixie | backports) echo linux-image-cloud-amd64 ;;
        noble) echo linux-image-virtual ;;
        *) return 1 ;;
    esac
}

kernel_folder() { printf '%s' "$qemu_folder/kernel-$1"; }

# have_packages RELEASE: everything is there, got by this same recipe.
have_packages() {
    is_current "$qemu_tools" "$(tools_recipe)" &&
        is_current "$(kernel_folder "$1")" "$(kernel_recipe "$1")"
}

tools_recipe() { printf '%s\n' "1 $tools_release ${tools_packages[*]} ${ubuntu_packages[*]}"; }

kernel_recipe() { printf '%s\n' "1 $1 $(kernel_package "$1")"; }

# is_current FOLDER RECIPE: the stamp in it is a copy of what was asked for.
is_current() { [[ -f $1/recipe && $(<"$1/recipe") == "$2" ]]; }

# get_packages RELEASE AGAIN: fails where they cannot be had, after apt has said why. With AGAIN
# true the newest replace those that are there.
get_packages() (
    mkdir -p -- "$qemu_folder" || return
    # One download at a time; who waited finds it done.
    exec 9>"$qemu_folder/lock"
    flock --wait "$download_bound" 9 ||
        { complain "another ./kit qemu has been downloading for $download_bound s" && return 1; }
    trap 'rm -rf -- "$qemu_folder"/*.new' EXIT
    if $2 || ! is_current "$qemu_tools" "$(tools_recipe)"; then get_tools || return; fi
    if $2 || ! is_current "$(kernel_folder "$1")" "$(kernel_recipe "$1")"; then get_kernel "$1"; fi
)

# Each part is made beside its place and moved there whole.
get_tools() {
    local mirror names new="$qemu_tools.new"
    mirror=$(debian_mirror) || return
    headline "Getting QEMU and busybox: 40 MB, and 10 MB of the archive's index"
    prepare_apt "$new" \
        "deb [arch=amd64 signed-by=$debian_keyring] $mirror $tools_release main" \
        "deb [arch=amd64 signed-by=$debian_keyring] $mirror $tools_release-backports main" || return
    printf 'APT::Default-Release "%s";\n' "$tools_release-backports" >>"$new/apt/apt.conf"
    names=$(with_dependencies "$new" "${tools_packages[@]}") || return
    # shellcheck disable=SC2086 # A list of names.
    download "$new" $names "${ubuntu_packages[@]}" || return
    unpack "$new" && finish "$new" "$qemu_tools" "$(tools_recipe)"
}

get_kernel() {
    local release=$1 source folder new names
    folder=$(kernel_folder "$release")
    new=$folder.new
    source=$(kernel_source "$release") || return
    headline "Getting the Linux kernel of $release: 26 to 54 MB, and the archive's index"
    prepare_apt "$new" "$source" || return
    names=$(kernel_packages "$new" "$(kernel_package "$release")") || return
    # shellcheck disable=SC2086 # A list of names.
    download "$new" $names || return
    unpack "$new" && choose_modules "$new" && finish "$new" "$folder" "$(kernel_recipe "$release")"
}

# The line of sources.list that has the newest kernel of RELEASE.
kernel_source() {
    local mirror keyring=$debian_keyring suite=$1
    case $1 in
        noble)
            mirror=$(ubuntu_mirror) || return
            keyring=$qemu_tools$ubuntu_keyring suite=noble-updates
            ;;
        backports)
            mirror=$(debian_mirror) || return
            suite=$tools_release-backports
            ;;
        *) mirror=$(debian_mirror) || return ;;
    esac
    printf '%s\n' "deb [arch=amd64 signed-by=$keyring] $mirror $suite main"
}

# with_dependencies FOLDER PACKAGE...: to its apt this is an empty machine, so what it names lacks
# nothing, down to the C library.
with_dependencies() {
    local folder=$1
    shift
    apt_in "$folder" apt-get install --print-uris --yes -qq "$@" |
        sed -nE "s/^'[^']*' ([^_]+)_[^ ]*\.deb .*/\1/p"
}

# kernel_packages FOLDER PACKAGE: the kernel's image, and its modules where they are apart from it.
kernel_packages() {
    local names
    names=$(apt_in "$1" apt-cache depends --recurse --important "$2" |
        grep -E '^linux-(image|binary|modules|base)-[0-9]')
    [[ -n $names ]] || { complain "the archive has no kernel for $2" && return 1; }
    printf '%s\n' "$names"
}

# The mirror from which this machine gets its own packages.
debian_mirror() {
    local mirror=${LOCKSTEP_DEBIAN_MIRROR:-}
    [[ -f $debian_keyring ]] ||
        { complain "$debian_keyring is missing; get it: apt-get install debian-archive-keyring" && return 1; }
    if [[ -z $mirror ]]; then
        local releases='bullseye|bookworm|trixie|forky|sid|oldstable|stable|testing|unstable'
        mirror=$(apt-get -o Debug::NoLocking=true update --print-uris 2>/dev/null |
            sed -nE "s,^'([a-z]+://[^']*)/dists/($releases)/InRelease'.*,\1,p" | sed -n 1p)
    fi
    [[ -n $mirror ]] ||
        { complain "apt here knows no mirror of Debian; name one in LOCKSTEP_DEBIAN_MIRROR" && return 1; }
    printf '%s\n' "$mirror"
}

readonly ubuntu_keyring=/usr/share/keyrings/ubuntu-archive-keyring.gpg

ubuntu_mirror() {
    local mirror=${LOCKSTEP_UBUNTU_MIRROR:-}
    if [[ -z $mirror ]]; then
        mirror=$(sed -nE 's/^[[:space:]]*default_mirror (.*)/\1/p' \
            "$qemu_tools/usr/share/debootstrap/scripts/noble" | sed -n 1p)
    fi
    [[ -n $mirror ]] ||
        { complain "no mirror of Ubuntu is known; name one in LOCKSTEP_UBUNTU_MIRROR" && return 1; }
    printf '%s\n' "$mirror"
}

# prepare_apt FOLDER SOURCE...: an apt of its own, that knows these sources and an empty machine.
prepare_apt() {
    local folder=$1
    shift
    rm -rf -- "$folder"
    mkdir -p -- "$folder"/apt/{lists,archives}/partial "$folder/apt/none" || return
    : >"$folder/apt/status"
    printf '%s\n' "$@" >"$folder/apt/sources.list"
    cat >"$folder/apt/apt.conf" <<TEXT
Dir::State "$folder/apt";
Dir::State::status "$folder/apt/status";
Dir::Cache "$folder/apt";
Dir::Etc::sourcelist "$folder/apt/sources.list";
Dir::Etc::sourceparts "$folder/apt/none";
Dir::Etc::preferences "$folder/apt/none/preferences";
Dir::Etc::preferencesparts "$folder/apt/none";
APT::Architecture "amd64";
APT::Architectures "amd64";
APT::Install-Recommends "false";
APT::Update::Error-Mode "any";
// The user _apt may not be able to look into this folder.
APT::Sandbox::User "$(id -un)";
// Our own lock is held.
Debug::NoLocking "true";
Acquire::Languages "none";
Acquire::IndexTargets::deb::DEP-11::DefaultEnabled "false";
Acquire::Retries "2";
Acquire::http::Timeout "20";
Acquire::https::Timeout "20";
TEXT
    ask_apt "$folder" update
}

# apt_in FOLDER COMMAND...
apt_in() {
    local folder=$1
    shift
    APT_CONFIG="$folder/apt/apt.conf" DEBIAN_FRONTEND=noninteractive "$@"
}

# ask_apt FOLDER ARGUMENTS: apt's progress is seen, and its waiting has an end.
ask_apt() {
    local folder=$1
    shift
    local -a quiet=()
    if [[ ! -t 2 ]]; then quiet=(-q); fi
    apt_in "$folder" timeout --foreground "$download_bound" apt-get "${quiet[@]}" "$@" >&2
}

# download FOLDER PACKAGE...: these alone, without what they depend on.
download() {
    local folder=$1
    (cd -- "$folder/apt/archives" && ask_apt "$folder" download "${@:2}")
}

unpack() {
    local package
    for package in "$1"/apt/archives/*.deb; do
        dpkg-deb --fsys-tarfile "$package" | tar --extract --no-same-owner --directory "$1" \
            --exclude='./usr/share/doc' --exclude='./usr/share/man' \
            --exclude='./usr/share/locale' --exclude='./usr/share/i18n' || return
    done
}

# finish NEW FOLDER RECIPE: notes which versions these are, and moves them to their place.
finish() {
    (cd -- "$1/apt/archives" && printf '%s\n' *.deb) >"$1/packages" || return
    rm -rf -- "$1/apt" "$2"
    printf '%s\n' "$3" >"$1/recipe"
    mv -- "$1" "$2"
}

# run_tool PROGRAM ARGUMENTS: by the loader and the libraries that it was built for.
run_tool() { "${tool_loader[@]}" "$qemu_tools/usr/bin/$1" "${@:2}"; }

readonly tool_loader=(
    "$qemu_tools/usr/lib64/ld-linux-x86-64.so.2"
    --library-path "$qemu_tools/usr/lib/x86_64-linux-gnu"
)

# choose_modules FOLDER: of all the kernel's modules those of VFIO with what they need, unpacked,
# with their names in the order of loading; the others go.
choose_modules() {
    local folder=$1 modules version path
    # Releases differ in whether /lib is a link to /usr/lib.
    modules=$(printf '%s\n' "$folder"{,/usr}/lib/modules/[0-9]* | while read -r path; do
        if [[ -d $path ]]; then printf '%s' "$path"; fi
    done)
    version=$(basename -- "$modules")
    mkdir -p -- "$folder/modules" "$folder/tree/lib/modules" || return
    mv -- "$modules" "$folder/tree/lib/modules/" || return
    modules=$folder/tree/lib/modules/$version
    "${tool_loader[@]}" --argv0 depmod "$qemu_tools/usr/bin/kmod" -b "$folder/tree" "$version" || return
    modules_in_order <"$modules/modules.dep" | while read -r path; do
        unpack_module "$modules/$path" "$folder/modules" || exit
    done >"$folder/modules/order" || return
    [[ -s $folder/modules/order ]] ||
        { complain "the kernel $version has no modules of VFIO" && return 1; }
    find "$folder" -name 'vmlinuz*' -type f -exec mv -- {} "$folder/vmlinuz" \; || return
    printf '%s\n' "$version" >"$folder/version"
    # The rest of a kernel is some hundred megabytes.
    rm -rf -- "${folder:?}"/{tree,boot,lib,usr,etc}
    [[ -f $folder/vmlinuz ]] || { complain "the packages of $version hold no kernel" && return 1; }
}

# modules_in_order <modules.dep: what a module needs stands there from the nearest to the farthest.
modules_in_order() {
    awk -F'[: ]+' '
        function add(path) { if (path != "" && !(path in seen)) { seen[path]; print path } }
        { name = $1; sub(/.*\//, "", name); sub(/\.ko.*/, "", name) }
        name ~ /^(vfio-pci|vfio_iommu_type1|iommufd)$/ {
            for (field = NF; field > 1; field--) add($field)
            add($1)
        }'
}

# unpack_module FILE FOLDER: prints the name under which it is there.
unpack_module() {
    local name=${1##*/}
    name=${name%.ko*}.ko
    case $1 in
        *.xz) run_tool xz --decompress --stdout "$1" >"$2/$name" ;;
        *.zst) run_tool zstd --decompress --quiet --stdout "$1" >"$2/$name" ;;
        *) cp -- "$1" "$2/$name" ;;
    esac && printf '%s\n' "$name"
}
