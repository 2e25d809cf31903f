# SPDX-License-Identifier: MIT
"""A redis-server of one's own, for the tests and for what is measured."""
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

import redis

MODULE = pathlib.Path("/usr/lib/redis/twheel.so")
# What else the tests load, where it was built.
HERE = pathlib.Path(__file__).resolve().parent


class Died(Exception):
    """The server has ended, and said this."""


class Server:
    """Started with options as in redis.conf, but one word each: Server("hz 100")."""

    def __init__(self, *options, module=True, **environment):
        self.folder = tempfile.mkdtemp(prefix="redis")
        self.options = list(options)
        self.environment = {**os.environ, **environment}
        if module:
            self.options.insert(0, f"loadmodule {MODULE} {'' if module is True else module}")
        self.start()

    def start(self):
        self.log = pathlib.Path(self.folder, "log")
        arguments = ["redis-server", "--port", "0", "--unixsocket", f"{self.folder}/socket",
                     "--dir", self.folder, "--logfile", str(self.log), "--save", "",
                     "--enable-debug-command", "yes", "--enable-module-command", "yes"]
        for option in self.options:
            name, *words = option.split()
            arguments += ["--" + name, *words]
        # pylint: disable=consider-using-with
        self.process = subprocess.Popen(arguments, env=self.environment)
        # Answers are not waited for for ever.
        self.redis = redis.Redis(unix_socket_path=f"{self.folder}/socket", socket_timeout=60)
        wait_for(self.ready, 30)

    def ready(self):
        """It answers, and has loaded what it had saved."""
        if self.process.poll() is not None:
            raise Died(self.log.read_text())
        try:
            return self.redis.ping()
        except redis.ConnectionError:
            return False

    def connect(self, db):
        """To another database."""
        return redis.Redis(unix_socket_path=f"{self.folder}/socket", socket_timeout=60, db=db)

    def cpu(self):
        """Seconds that the process has taken."""
        info = self.redis.info("cpu")
        return info["used_cpu_user"] + info["used_cpu_sys"]

    def stop(self):
        """End it; what it had saved stays."""
        self.redis.close()
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def close(self):
        """End it, and forget it."""
        self.stop()
        shutil.rmtree(self.folder)


def wait_for(condition, seconds):
    """Look again and again.  Returns whether it came true."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True
