# SPDX-License-Identifier: MIT
"""Keys expire when they are due, whatever happens to them before.

Redis's own search for expired keys is switched off in all servers here, and nobody reads a key
before it is gone: so what goes, the module has found.
"""
import os
import random
import signal
import subprocess
import tempfile
import time
import unittest

from server import HERE, MODULE, Died, Server, wait_for

# What a machine that has other things to do may add.
SOON = 2


class Case(unittest.TestCase):
    """Has servers, which end with the test."""

    def server(self, *options, module=True, **environment):
        """A server; the keys of its database 0 are self.r's."""
        server = Server(*options, module=module, **environment)
        self.addCleanup(server.close)
        server.redis.execute_command("DEBUG SET-ACTIVE-EXPIRE", 0)
        return server

    def start(self, server):
        """Once more, with what is saved."""
        server.start()
        server.redis.execute_command("DEBUG SET-ACTIVE-EXPIRE", 0)

    def size_is(self, r, size, seconds=SOON):
        """So many keys are left, in time."""
        if not wait_for(lambda: r.dbsize() == size, seconds):
            self.fail(f"{r.dbsize()} keys and not {size}; {r.info('twheel')}")

    def armed(self, r):
        """Timers."""
        return r.info("twheel")["twheel_armed"]

    def after(self, server, ms):
        """Wait until a key that is due then has gone, in a database where nothing else is."""
        r = server.connect(15)
        r.set("marker", "", px=ms)
        time.sleep(ms / 1000)
        self.size_is(r, 0)

    def left(self, r, *names):
        """These keys are left. To ask for names would delete those that have expired."""
        self.size_is(r, len(names))
        self.assertEqual(sorted(r.keys()), sorted(names))


class Keys(Case):
    """What a client can do to a key."""

    def setUp(self):
        self.s = self.server(module="slack 5")
        self.r = self.s.redis

    def test_exact(self):
        """Each key goes within its time, and none before."""
        self.r.config_set("notify-keyspace-events", "Ex")
        expired = self.r.pubsub()
        expired.psubscribe("__keyevent@*__:expired")
        due = {}
        pipe = self.r.pipeline(transaction=False)
        for i in range(1000):
            due[b"%d" % i] = int(time.time() * 1000) + random.randrange(500, 3000)
            pipe.set(i, "", pxat=due[b"%d" % i])
        pipe.execute()
        self.assertEqual(self.armed(self.r), 1000)
        late = []
        while len(late) < 1000:
            message = expired.get_message(timeout=5)
            self.assertIsNotNone(message, f"{len(late)} of 1000 have expired")
            if message["type"] == "pmessage":
                late.append(time.time() * 1000 - due[message["data"]])
        self.assertGreater(min(late), 0)
        self.assertLess(sorted(late)[500], 250)
        self.assertLess(max(late), SOON * 1000)
        info = self.r.info("everything")
        self.assertEqual(info["expired_keys"], 1000)
        self.assertEqual(info["twheel_expired"], 1000)
        self.assertEqual(info["twheel_armed"], 0)
        self.assertEqual(self.r.dbsize(), 0)

    def test_moved(self):
        """EXPIRE to later, and to sooner."""
        self.r.set("later", "", px=200)
        self.r.pexpire("later", 1200)
        self.r.set("sooner", "", ex=1000)
        self.r.pexpire("sooner", 100)
        self.after(self.s, 500)
        self.size_is(self.r, 1)
        self.assertEqual(self.armed(self.r), 1)
        self.size_is(self.r, 0)

    def test_persist(self):
        """A key that no more expires, and one that does again."""
        for key in "ab":
            self.r.set(key, "", px=200)
            self.r.persist(key)
        self.r.pexpire("b", 300)
        self.after(self.s, 500)
        self.left(self.r, b"a")
        self.assertEqual(self.armed(self.r), 0)

    def test_overwritten(self):
        """SET takes the expiry away, or keeps it."""
        for key in "abc":
            self.r.set(key, "", px=200)
        self.r.set("a", "")
        self.r.set("b", "", keepttl=True)
        self.r.getex("c", ex=1000)
        self.after(self.s, 500)
        self.left(self.r, b"a", b"c")

    def test_deleted(self):
        """A key of the same name lives as long as it says itself."""
        for key in "abc":
            self.r.set(key, "", px=200)
        self.r.delete("a")
        self.r.unlink("b")
        self.r.getdel("c")
        self.assertEqual(self.armed(self.r), 0)
        self.r.set("a", "", ex=1000)
        self.r.set("b", "")
        self.after(self.s, 500)
        self.left(self.r, b"a", b"b")

    def test_renamed(self):
        """RENAME takes the expiry along, over another key's."""
        self.r.set("a", "", px=300)
        self.r.rename("a", "b")
        self.r.set("a", "")
        self.r.set("over", "", px=300)
        self.r.set("c", "")
        self.r.rename("c", "over")
        self.r.set("long", "", ex=1000)
        self.r.set("short", "", px=300)
        self.r.rename("short", "long")
        self.after(self.s, 600)
        self.left(self.r, b"a", b"over")

    def test_databases(self):
        """The same name in several, COPY and MOVE."""
        other = self.s.connect(5)
        self.r.set("a", "", px=300)
        other.set("a", "", ex=1000)
        self.r.set("b", "", px=300)
        self.r.copy("b", "copied", 5)
        self.r.persist("b")
        self.r.set("c", "", px=300)
        self.r.move("c", 5)
        self.after(self.s, 600)
        self.left(self.r, b"b")
        self.left(other, b"a")

    def test_swapped(self):
        """SWAPDB, of timers that are armed and of ones that are about to be."""
        other = self.s.connect(1)
        self.r.set("a", "", px=400)
        self.r.set("b", "", ex=1000)
        other.set("b", "", px=400)
        pipe = self.r.pipeline()
        pipe.set("c", "", px=400)
        pipe.swapdb(0, 1)
        pipe.set("d", "", px=400)
        pipe.execute()
        self.after(self.s, 700)
        self.size_is(self.r, 0)
        self.left(other, b"b")

    def test_flushed(self):
        """FLUSHALL and FLUSHDB: timers are free again, names too."""
        other = self.s.connect(1)
        for flush in (self.r.flushall, self.r.flushdb):
            pipe = self.r.pipeline(transaction=False)
            for i in range(5000):
                pipe.set(i, "", ex=1000)
            for i in range(100):
                pipe.set(f"soon{i}", "", px=500)
            pipe.execute()
            other.set("stays", "", ex=1000)
            flush()
            self.r.set("1", "", ex=1000)
            self.r.set("2", "", px=200)
            self.r.set("soon3", "", ex=1000)
            self.after(self.s, 800)
            self.size_is(self.r, 2)
            stays = other.dbsize()
            self.assertEqual(stays, 0 if flush == self.r.flushall else 1)
            self.assertTrue(wait_for(lambda stays=stays: self.armed(self.r) == 2 + stays, SOON))

    def test_scripts(self):
        """MULTI, and Lua; what has expired meanwhile, too."""
        pipe = self.r.pipeline()
        pipe.set("a", "", px=200)
        pipe.set("b", "")
        pipe.pexpire("b", 200)
        pipe.set("c", "", px=200)
        pipe.persist("c")
        pipe.execute()
        self.r.eval("for i = 1, 1000 do redis.call('set', i, '', 'px', 200) end", 0)
        # It takes longer than its key lives.
        self.r.eval("""
            redis.call('set', 'short', '', 'px', 1)
            local t, now = redis.call('time')
            repeat
                now = redis.call('time')
            until (now[1] - t[1]) * 1000000 + now[2] - t[2] > 20000
            redis.call('append', 'short', 'x')""", 0)
        self.after(self.s, 500)
        self.left(self.r, b"c")

    def test_past(self):
        """A time that is over, and one that never comes."""
        self.r.set("past", "", pxat=1)
        self.r.set("never", "", pxat=2 ** 62)
        self.size_is(self.r, 1)
        self.assertEqual(self.armed(self.r), 0)

    def test_paused(self):
        """While clients are paused nothing expires, and then all that is due does."""
        self.r.set("a", "", px=100)
        self.r.execute_command("CLIENT PAUSE", 1000, "WRITE")
        time.sleep(0.5)
        self.assertEqual(self.r.dbsize(), 1)
        self.size_is(self.r, 0)
        self.assertEqual(self.r.info("twheel")["twheel_expired"], 1)

    def test_paused_at_once(self):
        """Before the module has looked at what was set, it is due, and clients are paused."""
        self.r.execute_command("DEBUG", "SET-ACTIVE-EXPIRE", 0)
        pipe = self.r.pipeline(transaction=False)
        pipe.set("a", "", px=5)
        pipe.set("b", "", px=600_000)
        pipe.set("c", "")
        pipe.execute_command("DEBUG", "SLEEP", 0.05)
        pipe.execute_command("CLIENT PAUSE", 300, "WRITE")
        pipe.execute()
        self.assertEqual(self.r.dbsize(), 3)
        self.size_is(self.r, 2)
        wait_for(lambda: self.armed(self.r) == 1, SOON)
        self.assertEqual(self.armed(self.r), 1)

    def test_many_paused(self):
        """Keys that are due while clients are paused cost nothing then."""
        nr = 20_000
        before = self.s.cpu()
        pipe = self.r.pipeline(transaction=False)
        due = int(time.time() * 1000) + 10_000
        for i in range(nr):
            pipe.set(i, "", pxat=due + i % 100)
        pipe.execute()
        loaded = self.s.cpu() - before
        time.sleep(max(0, due / 1000 - 0.5 - time.time()))
        self.r.execute_command("CLIENT PAUSE", 5000, "WRITE")
        time.sleep(max(0, due / 1000 + 0.5 - time.time()))
        before = self.s.cpu()
        time.sleep(2)
        paused = self.s.cpu() - before
        self.assertEqual(self.r.dbsize(), nr)
        self.assertLess(paused, loaded)
        self.size_is(self.r, 0, 5 + 3 * SOON)
        self.assertEqual(self.r.info("twheel")["twheel_expired"], nr)
        # What the pause has kept is not late.
        self.assertLess(self.r.info("twheel")["twheel_late_max_us"], 1_000_000)

    def test_flushed_before_a_pause(self):
        """What happened to keys that are gone is forgotten with them."""
        self.r.set("a", "", ex=1000)
        pipe = self.r.pipeline(transaction=False)
        pipe.set("b", "", ex=1000)
        pipe.flushall()
        pipe.execute_command("CLIENT PAUSE", 500, "WRITE")
        pipe.execute()
        # Nothing else uses what was freed.
        other = self.s.connect(0)
        for i in range(10):
            other.mget(i, "a" * 20, "b" * 40)
        time.sleep(0.7)
        self.r.set("c", "", px=50)
        self.size_is(self.r, 0, SOON)
        self.assertEqual(self.r.info("twheel")["twheel_expired"], 1)

    def test_flushed_meanwhile(self):
        """Redis finds a key expired, of which another module is told, and that flushes all."""
        self.r.execute_command("MODULE LOAD", str(HERE / "test_flush.so"))
        for _ in range(20):
            self.r.set("has a timer", "", ex=1000)
            wait_for(lambda: self.armed(self.r) == 1, SOON)
            pipe = self.r.pipeline(transaction=False)
            for i in range(50):
                pipe.set(f"before{i}", "", ex=1000)
            pipe.set("flush", "", px=1)
            for i in range(50):
                pipe.set(f"behind{i}", "", ex=1000)
            # It is due before the module looks at it.
            pipe.execute_command("DEBUG", "SLEEP", 0.02)
            pipe.execute()
            self.size_is(self.r, 0)
            # Memory that was freed twice, or written to, shows in what comes next.
            for i in range(100):
                self.r.set(f"key{i}", "x" * i)
            self.r.flushall()
            self.assertTrue(wait_for(lambda: self.armed(self.r) == 0, SOON))

    def test_many_at_once(self):
        """What happens to many keys in one command is looked at in parts, and clients go on."""
        nr = 100_000
        pipe = self.r.pipeline(transaction=False)
        pipe.eval(f"for i = 1, {nr} do redis.call('set', i, '', 'ex', 1000) end", 0)
        # Until the event loop has turned.
        pipe.execute_command("BLPOP", "nothing", 0.001)
        pipe.info("twheel")
        armed = pipe.execute()[-1]["twheel_armed"]
        self.assertGreater(armed, 0)
        self.assertLess(armed, nr / 2)
        self.assertTrue(wait_for(lambda: self.armed(self.r) == nr, 5 * SOON))
        before = self.s.cpu()
        time.sleep(1)
        self.assertLess(self.s.cpu() - before, 0.5)

    def test_blocked(self):
        """What a client does when it wakes up, just before the event loop sleeps."""
        # Nothing else wakes it up for a second.
        self.r.config_set("hz", 1)
        pool = self.s.connect(0).connection_pool
        for i in range(8):
            waits = pool.get_connection("")
            waits.send_command("BLPOP", "list", 0)
            waits.send_command("SET", "a", "", "PX", 50)
            wait_for(lambda: self.r.info("clients")["blocked_clients"] == 1, SOON)
            self.r.rpush("list", "x")
            time.sleep(0.6)
            self.assertEqual(self.r.info("twheel")["twheel_expired"], i + 1)

    def test_evicted(self):
        """Keys that were evicted have no timers."""
        self.r.config_set("maxmemory-policy", "volatile-ttl")
        for i in range(200):
            self.r.set(i, "x" * 10000, ex=1000)
        self.r.config_set("maxmemory", self.r.info("memory")["used_memory"] - 500000)
        self.r.set("a", "")
        wait_for(lambda: self.r.dbsize() < 190, SOON)
        self.assertLess(self.r.dbsize(), 190)
        self.assertEqual(self.armed(self.r), self.r.dbsize() - 1)

    @unittest.skipUnless(os.path.exists("/dev/twheel"), "the clock is set in a guest only")
    def test_clock(self):
        """Set back, the key lives longer, as redis says; set forward, it goes."""
        def step(seconds):
            time.clock_settime(time.CLOCK_REALTIME,
                               time.clock_gettime(time.CLOCK_REALTIME) + seconds)

        self.r.set("a", "", px=500)
        step(-3600)
        try:
            time.sleep(1.5)
            self.assertEqual(self.r.dbsize(), 1)
            self.assertGreater(self.r.ttl("a"), 3500)
            self.r.set("b", "", px=100)
            self.size_is(self.r, 1)
        finally:
            step(3600)
        self.size_is(self.r, 0)


class Fallback(Keys):
    """All of that with a wheel in the process, where there is no device."""

    def setUp(self):
        os.rename("/dev/twheel", "/dev/twheel.hidden")
        try:
            super().setUp()
        finally:
            os.rename("/dev/twheel.hidden", "/dev/twheel")
        self.assertEqual(self.r.info("twheel")["twheel_wheel"], "in the process")


class Limits(Case):
    """Where there is not enough of something, or too much."""

    def test_few_timers(self):
        """Keys that had no timer get one when there are some."""
        s = self.server(module="timers 100 slack 5")
        pipe = s.redis.pipeline()
        for i in range(300):
            pipe.set(i, "", px=300)
        pipe.execute()
        self.assertEqual(self.armed(s.redis), 100)
        self.assertGreaterEqual(s.redis.info("twheel")["twheel_without_timer"], 200)
        self.assertIn("more keys expire than there are timers", s.log.read_text())
        self.size_is(s.redis, 0, 3 * SOON)

    def test_unarmed(self):
        """Timers that could not be armed, when none was, are tried again."""
        with tempfile.NamedTemporaryFile() as no_more:
            s = self.server(module="slack 5", LD_PRELOAD=str(HERE / "test_unarmed.so"),
                            TEST_UNARMED=no_more.name)
            pipe = s.redis.pipeline()
            for i in range(10):
                pipe.set(i, "", px=100)
            pipe.execute()
            time.sleep(1)
            self.assertEqual(s.redis.dbsize(), 10)
            self.assertEqual(self.armed(s.redis), 0)
            # Not again and again meanwhile.
            self.assertEqual(s.log.read_text().count("a timer could not be armed"), 1)
        self.size_is(s.redis, 0, 10 + SOON)

    def test_arguments(self):
        """Wrong ones are named."""
        for wrong in ("timers", "timers 0", "slack 1001", "slack x", "colour red"):
            with self.assertRaises(Died) as died:
                self.server(module=wrong)
            self.assertIn(f"not {wrong.split(maxsplit=1)[0]}", str(died.exception))

    def test_nobody(self):
        """A user who may not open the device is told so."""
        done = subprocess.run(
            ["setpriv", "--reuid=nobody", "--clear-groups", "redis-server", "--port", "0",
             "--unixsocket", "/tmp/nobody", "--loadmodule", str(MODULE)], stdout=subprocess.PIPE, text=True, check=False, timeout=60)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("is this user in the group of /dev/twheel?", done.stdout)


class Restarts(Case):
    """What is saved, and what is loaded."""

    def test_rdb(self):
        """Keys that were loaded have timers; those that were due meanwhile go at once."""
        s = self.server()
        pipe = s.redis.pipeline(transaction=False)
        for i in range(2000):
            pipe.set(i, "", px=10000 if i % 2 else 1000)
        pipe.set("stays", "", ex=1000)
        pipe.save()
        pipe.execute()
        s.stop()
        time.sleep(1)
        self.start(s)
        self.size_is(s.redis, 1001)
        self.assertTrue(wait_for(lambda: self.armed(s.redis) == 1001, SOON))
        self.size_is(s.redis, 1, 10 + SOON)

    def test_aof(self):
        """That a key has expired is in the file."""
        s = self.server("appendonly yes")
        s.redis.set("gone", "", px=100)
        s.redis.set("stays", "")
        s.redis.set("soon", "", px=3000)
        self.size_is(s.redis, 2)
        files = os.path.join(s.folder, "appendonlydir")
        text = b"".join(open(os.path.join(files, name), "rb").read()
                        for name in sorted(os.listdir(files)))
        self.assertIn(b"DEL\r\n$4\r\ngone\r\n", text)
        s.stop()
        self.start(s)
        self.assertEqual(s.redis.dbsize(), 2)
        self.size_is(s.redis, 1, 3 + SOON)

    def test_reload(self):
        """All anew from the file, in a server that goes on."""
        s = self.server()
        s.redis.set("a", "", px=1000)
        s.redis.execute_command("DEBUG RELOAD")
        self.assertEqual(s.redis.dbsize(), 1)
        self.size_is(s.redis, 0, 1 + SOON)
        self.assertEqual(self.armed(s.redis), 0)

    def test_saving(self):
        """While a child saves, keys expire, and what it saves is whole."""
        s = self.server("rdb-key-save-delay 2000")
        pipe = s.redis.pipeline(transaction=False)
        for i in range(1000):
            pipe.set(i, "", ex=1000)
        for i in range(100):
            pipe.set(f"soon{i}", "", px=600)
        pipe.bgsave()
        pipe.execute()
        self.size_is(s.redis, 1000)
        self.assertEqual(s.redis.info("persistence")["rdb_bgsave_in_progress"], 1)
        self.assertTrue(wait_for(
            lambda: not s.redis.info("persistence")["rdb_bgsave_in_progress"], 30))
        self.assertEqual(s.redis.info("persistence")["rdb_last_bgsave_status"], "ok")
        s.redis.set("after", "", px=100)
        self.size_is(s.redis, 1000)
        s.stop()
        self.start(s)
        self.size_is(s.redis, 1000)

    def test_module(self):
        """The module is loaded into a server with keys, unloaded, and loaded again."""
        s = self.server(module=False)
        pipe = s.redis.pipeline()
        for i in range(2000):
            pipe.set(i, "", px=1500)
        pipe.set("late", "", px=2500)
        pipe.execute()
        for _ in range(3):
            s.redis.execute_command("MODULE LOAD", str(MODULE))
            s.redis.execute_command("MODULE UNLOAD", "twheel")
        s.redis.execute_command("MODULE LOAD", str(MODULE))
        self.size_is(s.redis, 1, 2 + SOON)
        s.redis.execute_command("MODULE UNLOAD", "twheel")
        time.sleep(1.5)
        self.assertEqual(s.redis.dbsize(), 1)
        s.redis.execute_command("MODULE LOAD", str(MODULE), "timers", 1)
        self.size_is(s.redis, 0)

    def test_unloaded_with_changes(self):
        """What has happened to a key that has a timer, just before."""
        s = self.server(module=False)
        for _ in range(5):
            s.redis.execute_command("MODULE LOAD", str(MODULE))
            s.redis.set("a", "", ex=1000)
            wait_for(lambda: s.redis.info("twheel")["twheel_armed"] == 1, SOON)
            pipe = s.redis.pipeline(transaction=False)
            for i in range(200):
                pipe.expire("a", 1000 + i)
            pipe.execute_command("MODULE UNLOAD", "twheel")
            pipe.execute()
            # Memory that was freed twice, or written to, shows in what comes next.
            for i in range(200):
                s.redis.set(f"key{i}", "x" * i)
            s.redis.flushall()


class Replicas(Case):
    """Masters expire keys, and replicas do as they are told."""

    def test_replica(self):
        """It follows; alone it waits; and as a master it expires."""
        master = self.server("port 6390")
        master.redis.set("before", "", px=2000)
        replica = self.server("replicaof 127.0.0.1 6390")
        self.assertTrue(wait_for(
            lambda: replica.redis.info("replication")["master_link_status"] == "up", 30))
        master.redis.set("a", "", px=300)
        master.redis.set("past", "", pxat=1)
        master.redis.set("late", "", px=4000)
        self.assertTrue(wait_for(lambda: replica.redis.dbsize() >= 2, SOON))
        self.assertEqual(self.armed(replica.redis), 0)
        self.size_is(master.redis, 1, 2 + SOON)
        self.size_is(replica.redis, 1)
        master.process.send_signal(signal.SIGSTOP)
        try:
            time.sleep(5)
            self.assertEqual(replica.redis.dbsize(), 1)
            replica.redis.replicaof("no", "one")
            self.size_is(replica.redis, 0)
            replica.redis.set("b", "", px=100)
            self.size_is(replica.redis, 0)
        finally:
            master.process.send_signal(signal.SIGCONT)
        # And back again: it has what the master has, and no timers.
        replica.redis.set("mine", "", ex=1000)
        replica.redis.replicaof("127.0.0.1", 6390)
        self.assertTrue(wait_for(
            lambda: replica.redis.info("replication")["master_link_status"] == "up", 30))
        self.assertTrue(wait_for(lambda: self.armed(replica.redis) == 0, SOON))


if __name__ == "__main__":
    unittest.main()
