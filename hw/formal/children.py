# SPDX-License-Identifier: MIT OR Apache-2.0
"""Tools as child processes: several at a time, each of which ends with this program or at its time limit. And how the
commands that run them begin and end."""

import argparse
import contextlib
import fcntl
import functools
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "regs"))
from inputs import BadInput, called  # noqa: E402

# At the beginning of a message of slang.
PLACE = re.compile(r"^(\.\.?/[^\s:]+):(?=\d+:)", re.M)
# Seconds after which the main thread looks for signals, which may have come to another one and then do not wake it.
LISTENING = 0.3
# Seconds in which a program that was told to end is not told again.
DEAF = 5

# What ends a program from outside, and not for what it does itself.
FROM_OUTSIDE = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGXFSZ)


class Undecided(Exception):
    """Nothing is proven and nothing is wrong: a limit, a solver that gives up, a model that cannot be made."""


class TimedOut(Undecided):
    """A child was not ready in time."""


class Broken(Undecided):
    """A tool did not do its work: it is missing, was ended, or could not write. So nothing follows from its silence."""


class Ended(Exception):
    """This program was told to end."""


class Children:
    """What runs now. Each has a process group of its own, so that a solver ends with the program that drives it."""

    def __init__(self, environment):
        self.environment = environment
        self.lock = threading.Lock()
        self.running = set()
        self.ending = False

    def run(self, command, log, seconds, what, may_crash=False):
        """Runs a command for at most so many seconds (or without a limit: None); gives its code and what it printed,
        which is in `log`, too. A signal ends it as a result only where it `may_crash`."""
        if threading.current_thread() is threading.main_thread():
            # A signal comes there, and could come between the start of a child and what ends it.
            return self.in_thread(functools.partial(self.run, command, log, seconds, what, may_crash))
        with self.lock:
            if self.ending:
                raise Ended
            child = self.start(command, log, what)
            self.running.add(child)
        try:
            child.wait(seconds and max(seconds, 1))
        except subprocess.TimeoutExpired:
            raise TimedOut(f"{what} reached its limit of {seconds:.0f} s") from None
        finally:
            stop(child)
            with self.lock:
                self.running.discard(child)
        if self.ending:
            raise Ended
        if child.returncode:
            check_end(child.returncode, log, what, may_crash)
        return child.returncode, log.read_text(encoding="utf-8", errors="replace")

    def in_thread(self, task):
        result = []
        self.run_all([task], lambda _, future: result.append(future.result()), 1)
        return result[0]

    def start(self, command, log, what):
        with open(log, "w", encoding="utf-8") as file:
            try:
                return subprocess.Popen(
                    command, stdin=subprocess.DEVNULL, stdout=file, stderr=file, start_new_session=True,
                    env=self.environment, cwd=log.parent,
                )  # fmt: skip
            except OSError as error:
                raise Broken(f"{what} does not start: {error.filename}: {error.strerror}") from None

    def end(self):
        with self.lock:
            self.ending = True
            for child in self.running:
                stop(child)

    def run_all(self, tasks, done, jobs=None):
        """Runs tasks, which are functions without arguments, so many at a time, or one for each core. `done` is given
        the number and the future of each when it has ended. All children end if this is interrupted."""
        with ThreadPoolExecutor(jobs or os.cpu_count()) as pool:
            try:
                work = {pool.submit(task): number for number, task in enumerate(tasks)}
                left = set(work)
                while left:
                    ended, left = wait(left, LISTENING, FIRST_COMPLETED)
                    for one in sorted(ended, key=work.get):
                        done(work[one], one)
            except BaseException as error:
                self.end()
                pool.shutdown(cancel_futures=True)
                # Where only a task has failed, others may follow.
                self.ending = isinstance(error, Ended) or not isinstance(error, Exception)
                raise


def check_end(code, log, what, may_crash):
    """Says where a child did not end by itself, or could not write."""
    if -code in FROM_OUTSIDE or (code < 0 and not may_crash):
        raise Broken(f"{what} was ended by {name_of(-code)}; see {log}")
    check_space(log, what)


def check_space(log, what):
    """That a child could write."""
    try:
        with tempfile.TemporaryFile(dir=log.parent) as file:
            file.write(bytes(1 << 12))
    except OSError as error:
        raise Broken(f"{what} could not write to {log.parent}: {error.strerror}") from None


def name_of(number):
    """Of a signal."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def placed(text, folder):
    """What a tool says in a folder, with its places from the root of the project."""
    return PLACE.sub(lambda found: f"{called(folder / found[1])}:", text)


def reasons(text, folder=None):
    """What a tool says of why it failed: its errors, or else its last line."""
    text = placed(text, folder) if folder else text
    lines = [line.removesuffix("; see full log for details") for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if "ERROR" in line or "error:" in line]
    return "\n  ".join(errors[:5] or lines[-1:] or ["it printed nothing"])


def stop(child):
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    child.wait()


def number_of_jobs(text):
    """How many children at a time, as the command line says it."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a number from 1 on, found {text}")
    return int(text)


def parsed(parser):
    """The arguments, whose options may stand between blocks. Behind `--` nothing is an option, which argparse forgets when
    it looks for them there."""
    return parser.parse_args() if "--" in sys.argv else parser.parse_intermixed_args()


def say(text):
    print(text, file=sys.stderr, flush=True)


def interrupt_by_signals():
    """Ctrl-C, a SIGTERM, or the end of the terminal. One that comes soon after another finds this program ending."""
    heard = None

    def interrupt(*_):
        nonlocal heard
        now = time.monotonic()
        if heard is None or now - heard > DEAF:
            heard = now
            raise KeyboardInterrupt

    for one in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        # A program that goes on when its terminal ends has this ignored.
        if signal.getsignal(one) != signal.SIG_IGN:
            signal.signal(one, interrupt)


def run_command(name, main, ended):
    """Runs `main`, and ends this program with the code that it gives: with 2 where it could not do its work, and with 130
    where it was interrupted, of which `ended` says what is left."""
    interrupt_by_signals()
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8")
    try:
        code = main()
        sys.stdout.flush()
    except (Undecided, BadInput, OSError) as error:
        say(f"{name}: {error}")
        code = 2
    except (KeyboardInterrupt, Ended):
        say(f"{name}: ended; {ended}")
        code = 130
    # Nothing is left to be done, and nothing should interrupt that.
    sys.stderr.flush()
    os._exit(code or 0)


@contextlib.contextmanager
def alone(folder, what):
    """While this holds, no other run is in a folder: both would write the same files."""
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "lock", "w", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"{what} waits until another run of it ends, which holds {file.name}")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
