"""Kill a process while it counts."""

import os
import signal
import threading
import time

import psutil


class Killer(threading.Thread):
    """Kill the first process that has begun a number of tasks: it has finished some and is running another.

    A task reports its begin by a file in `folder` whose name starts with the process number and a hyphen.
    """

    def __init__(self, folder, n_tasks, program=""):
        super().__init__()
        self.folder, self.n_tasks, self.program, self.killed = folder, n_tasks, program, []

    def begun(self):
        """Return the process number of each task that has begun."""
        return [int(path.name.split("-")[0]) for path in self.folder.iterdir()]

    def run(self):
        until = time.monotonic() + 60
        while time.monotonic() < until and not self.killed:
            self.killed.extend(pid for pid in set(self.begun()) if self.begun().count(pid) == self.n_tasks)
            time.sleep(0.01)
        assert psutil.Process(self.killed[0]).name().startswith(self.program)
        os.kill(self.killed[0], signal.SIGKILL)
