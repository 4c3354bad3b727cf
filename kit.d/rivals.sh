# shellcheck shell=bash
# ./kit bench rivals: other engines, built in a workspace of their own, beside the store.
# shellcheck disable=SC2154 # root, cargo_options and command are set by kit.

# The same as rust-version in tests/rivals/Cargo.toml.
readonly rivals_rust=1.90

# `lockstep bench store --rivals FOLDER` starts the programs rival-fjall, rival-redb and
# rival-rocksdb in FOLDER.
bench_rivals() {
    local argument
    for argument in "$@"; do
        if [[ $argument == -h || $argument == --help ]]; then
            lockstep bench --help
            return
        fi
    done
    rivals_target=$(realpath -m -- "${CARGO_TARGET_DIR:-$root/tests/rivals/target}")
    rivals_folder=$rivals_target/release
    set_up
    build_rivals
    lockstep bench store --rivals "$rivals_folder" "$@"
}

build_rivals() {
    local found reporter status=0
    found=$(rust_version)
    version_at_least "$found" "$rivals_rust" ||
        give_up "rustc $found is too old for the rivals; expected $rivals_rust or newer." \
            "Run: rustup update stable"
    need_libclang
    if [[ ! -x $rivals_folder/rival-rocksdb ]]; then
        headline "Building the rivals. RocksDB takes about ten minutes, this first time"
        report_rocksdb $$ &
        reporter=$!
    fi
    cargo build "${cargo_options[@]}" --release --manifest-path "$root/tests/rivals/Cargo.toml" \
        --target-dir "$rivals_target" || status=$?
    if [[ -n ${reporter:-} ]]; then
        kill "$reporter" 2>/dev/null || true
        wait "$reporter" 2>/dev/null || true
    fi
    ((status == 0)) || give_up "the rivals could not be built; the message is above"
}

# RocksDB's binding is made from its C header when it is built.
need_libclang() {
    local place
    if [[ -n ${LIBCLANG_PATH:-} ]]; then return; fi
    for place in /usr/lib/llvm-*/lib /usr/lib64 /usr/lib "/usr/lib/$(uname -m)-linux-gnu"; do
        # Not libclang-cpp, which is another library.
        if compgen -G "$place/libclang.so*" >/dev/null; then return; fi
        if compgen -G "$place/libclang-[0-9]*.so*" >/dev/null; then return; fi
    done
    install_package libclang-dev "RocksDB's binding"
}

# cargo says nothing while the C++ compiles. This ends with the process PARENT, if not before.
report_rocksdb() {
    local parent=$1 built
    while sleep 20 >/dev/null 2>&1 && kill -0 "$parent" 2>/dev/null; do
        built=$(find "$rivals_target/release/build" -path '*/librocksdb-sys-*/*.o' 2>/dev/null | wc -l)
        if ((built > 0)); then say "RocksDB: $built of about 345 files"; fi
    done
}
