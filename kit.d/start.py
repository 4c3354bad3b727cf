# SPDX-License-Identifier: MIT OR Apache-2.0
"""start.py PROGRAM [ARGUMENTS]: runs a program of Python, which an interrupt ends without a word until it listens itself.
Python would tell it as an error of the module that it is reading."""

import signal

# Whoever runs this may have it ignored.
if signal.getsignal(signal.SIGINT) == signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)

import os  # noqa: E402
import runpy  # noqa: E402
import sys  # noqa: E402

del sys.argv[0]
sys.path[0] = os.path.dirname(os.path.abspath(sys.argv[0]))
runpy.run_path(sys.argv[0], run_name="__main__")
