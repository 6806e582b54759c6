"""Chromium, driven over a pipe: load a page, press keys, evaluate scripts, take pictures.

The browser reads commands on file descriptor 3 and answers on 4 (``--remote-debugging-pipe``); the
messages are JSON, each ended by a zero byte. So neither a port nor a further package is needed.
"""

import base64
import json
import os
import shutil
import subprocess

BROWSER = next(
    filter(None, map(shutil.which, [os.environ.get("CHROMIUM", ""), "chromium", "google-chrome"])),
    None,
)
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--remote-debugging-pipe",
]
KEYS = {"Tab": 9, "End": 35, "Home": 36, "ArrowLeft": 37, "ArrowRight": 39, "ArrowDown": 40}


class Chromium:
    """One browser with one page; use it in a ``with`` statement."""

    def __init__(self, folder):
        here_out, there_in = os.pipe(), os.pipe()
        os.set_inheritable(here_out[0], True)
        os.set_inheritable(there_in[1], True)

        def descriptors():  # in the child: commands on 3, answers on 4
            read, write = os.dup(here_out[0]), os.dup(there_in[1])
            os.dup2(read, 3)
            os.dup2(write, 4)

        self.process = subprocess.Popen(
            [BROWSER, *FLAGS, f"--user-data-dir={folder}", "about:blank"],
            preexec_fn=descriptors,
            close_fds=False,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(here_out[0])
        os.close(there_in[1])
        self.commands = os.fdopen(here_out[1], "wb", buffering=0)
        self.answers = os.fdopen(there_in[0], "rb")
        self.count, self.session, self.events = 0, None, []
        targets = self.send("Target.getTargets")["targetInfos"]
        page = next(t["targetId"] for t in targets if t["type"] == "page")
        found = self.send("Target.attachToTarget", targetId=page, flatten=True)
        self.session = found["sessionId"]
        self.send("Page.enable")

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.session = None
        self.send("Browser.close")
        self.process.wait(timeout=20)
        self.commands.close()
        self.answers.close()

    def message(self):
        data = bytearray()
        while (byte := self.answers.read(1)) != b"\0":
            if not byte:
                raise RuntimeError("the browser closed")
            data += byte
        return json.loads(data)

    def send(self, method, **parameters):
        """Send a command and wait for its answer."""
        self.count += 1
        command = {"id": self.count, "method": method, "params": parameters}
        if self.session:
            command["sessionId"] = self.session
        self.commands.write(json.dumps(command).encode() + b"\0")
        while True:
            answer = self.message()
            if "method" in answer:
                self.events.append(answer)
            if answer.get("id") == self.count:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]

    def open(self, uri, *, width=1000, height=900, scripts=True):
        self.send(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        self.send("Emulation.setScriptExecutionDisabled", value=not scripts)
        self.events.clear()
        self.send("Page.navigate", url=uri)
        while all(event["method"] != "Page.loadEventFired" for event in self.events):
            self.events.append(self.message())

    def run(self, script):
        """The value of a JavaScript expression; of a promise, what becomes of it."""
        result = self.send(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"]["exception"]["description"])
        return result["result"].get("value")

    def press(self, key):
        for kind in ("rawKeyDown", "keyUp"):
            self.send(
                "Input.dispatchKeyEvent",
                type=kind,
                key=key,
                code=key,
                windowsVirtualKeyCode=KEYS[key],
            )

    def picture(self, path, clip=None):
        options = {"captureBeyondViewport": True}
        if clip:
            options["clip"] = {**clip, "scale": 1}
        data = self.send("Page.captureScreenshot", format="png", **options)["data"]
        path.write_bytes(base64.b64decode(data))
