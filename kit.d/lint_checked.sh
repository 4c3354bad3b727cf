#!/bin/sh
# In the place of the compiler, for crates of this workspace (RUSTC_WORKSPACE_WRAPPER): Clippy reads
# all that is only checked, and build scripts; the compiler compiles the rest. It does not optimise across the
# parts of a crate: that takes a quarter of a compilation, and tests win nothing by it. `lto = "off"` in the
# profile says the same, but then Cargo runs all build scripts, and compiles all models, once for the lints and
# once for the tests.
case " $* " in
    *" --emit=dep-info,metadata "* | *" --crate-name build_script_build "*)
        exec clippy-driver "$@" -D warnings
        ;;
    *) exec "$@" -C lto=off ;;
esac
