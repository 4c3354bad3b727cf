# SPDX-License-Identifier: MIT OR Apache-2.0
"""Tools as child processes: several at a time, each of which ends with this program or at its time limit."""

import argparse
import os
import signal
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor, as_completed


class Undecided(Exception):
    """Nothing is proven and nothing is wrong: a limit, a solver that gives up, a model that cannot be made."""


class TimedOut(Undecided):
    """A child was not ready in time."""


class Ended(Exception):
    """This program was told to end."""


class Children:
    """What runs now. Each has a process group of its own, so that a solver ends with the program that drives it."""

    def __init__(self, environment):
        self.environment = environment
        self.lock = threading.Lock()
        self.running = set()
        self.ending = False

    def run(self, command, log, seconds, what):
        """Runs a command for at most so many seconds (or without a limit: None); gives its code and what it printed,
        which is in `log`, too."""
        with self.lock:
            if self.ending:
                raise Ended
            with open(log, "w", encoding="utf-8") as file:
                child = subprocess.Popen(
                    command, stdin=subprocess.DEVNULL, stdout=file, stderr=file, start_new_session=True,
                    env=self.environment, cwd=log.parent,
                )  # fmt: skip
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
        return child.returncode, log.read_text(encoding="utf-8", errors="replace")

    def end(self):
        with self.lock:
            self.ending = True
            for child in self.running:
                stop(child)

    def run_all(self, tasks, done, jobs=None):
        """Runs tasks, which are functions without arguments, so many at a time, or one for each core. `done` is given
        the number and the future of each when it has ended. All children end if this is interrupted."""
        with ThreadPoolExecutor(jobs or os.cpu_count()) as pool:
            work = {pool.submit(task): number for number, task in enumerate(tasks)}
            try:
                for one in as_completed(work):
                    done(work[one], one)
            except BaseException:
                self.end()
                pool.shutdown(cancel_futures=True)
                raise


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


def interrupt_by_sigterm():
    """A SIGTERM, or the end of the terminal, is then what Ctrl-C is."""

    def interrupt(*_):
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, interrupt)
    # A program that goes on when its terminal ends has this ignored.
    if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:
        signal.signal(signal.SIGHUP, interrupt)
