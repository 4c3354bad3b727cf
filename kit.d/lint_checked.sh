#!/bin/sh
# In the place of the compiler, for crates of this workspace (RUSTC_WORKSPACE_WRAPPER): Clippy reads
# all that is only checked, and build scripts; the compiler compiles the rest.
case " $* " in
    *" --emit=dep-info,metadata "* | *" --crate-name build_script_build "*)
        exec clippy-driver "$@" -D warnings
        ;;
    *) exec "$@" ;;
esac
