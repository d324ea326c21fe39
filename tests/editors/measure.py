#!/usr/bin/env python3
"""How long the server takes: measure.py PROGRAM FOLDER_OF_MSL. Prints a table; nothing is asserted."""

import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import threading
import time


class Client:
    """As much of the protocol as is needed to ask and to wait."""

    def __init__(self, program, libraries, root):
        environment = dict(os.environ, MODELICAPATH=libraries)
        self.process = subprocess.Popen([program, "lsp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)
        self.number = 0
        self.answers = {}
        self.published = []
        self.arrived = threading.Condition()
        threading.Thread(target=self.read, daemon=True).start()
        self.ask("initialize", {"capabilities": {}, "rootUri": root.as_uri()})
        self.tell("initialized", {})

    def read(self):
        stream = self.process.stdout
        while True:
            length = 0
            while (line := stream.readline().strip()):
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            if length == 0:
                return
            message = json.loads(stream.read(length))
            with self.arrived:
                now = time.perf_counter()
                if "id" in message and "method" not in message:
                    self.answers[message["id"]] = (now, message)
                elif message.get("method") == "textDocument/publishDiagnostics":
                    self.published.append((now, message["params"]))
                self.arrived.notify_all()

    def send(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def tell(self, method, params):
        self.send({"method": method, "params": params})

    def ask(self, method, params):
        """The answer and how many milliseconds it took."""
        self.number += 1
        begin = time.perf_counter()
        self.send({"id": self.number, "method": method, "params": params})
        with self.arrived:
            self.arrived.wait_for(lambda: self.number in self.answers, 120)
            at, message = self.answers[self.number]
        if "error" in message:
            raise RuntimeError(f"{method}: {message['error']}")
        return message["result"], (at - begin) * 1e3

    def publication(self, count):
        with self.arrived:
            self.arrived.wait_for(lambda: len(self.published) >= count, 120)
            return self.published[count - 1]

    def memory(self):
        text = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return {line.split(":")[0]: int(line.split()[1]) // 1024 for line in text.splitlines() if line.startswith("VmHWM")}["VmHWM"]

    def end(self):
        self.ask("shutdown", None)
        self.tell("exit", None)
        self.process.wait(20)


MODEL = """  model Circuit{n}
    extends Modelica.Icons.Example;
    parameter Modelica.Units.SI.Resistance R = {n};
    Modelica.Electrical.Analog.Basic.Resistor r1(R = R), r2(R = 2*R);
    Modelica.Electrical.Analog.Basic.Capacitor c(C = 1e-3, v(start = 1, fixed = true));
    Modelica.Electrical.Analog.Basic.Ground ground;
    Modelica.Electrical.Analog.Sources.SineVoltage source(V = 1, f = 50);
    Real power = r1.v*r1.i;
  equation
    connect(source.p, r1.p);
    connect(r1.n, r2.p);
    connect(r2.n, c.p);
    connect(c.n, source.n);
    connect(source.n, ground.p);
  end Circuit{n};
"""


def main():
    program, libraries = sys.argv[1], sys.argv[2]
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder).resolve()
        models = "".join(MODEL.format(n=n) for n in range(1, 34))
        text = f"package Circuits\n{models}end Circuits;\n"
        path = root / "Circuits.mo"
        path.write_text(text)
        client = Client(program, libraries, root)
        begin = time.perf_counter()
        document = {"uri": path.as_uri(), "languageId": "modelica", "version": 1, "text": text}
        client.tell("textDocument/didOpen", {"textDocument": document})
        first = (client.publication(1)[0] - begin) * 1e3
        at, checked = client.publication(2)
        print(f"lines                                    {text.count(chr(10))}")
        print(f"first diagnostics                        {first:8.1f} ms")
        print(f"all {len(models.split('end Circuit')) - 1} models checked, first time         {(at - begin) * 1e3:8.1f} ms, {len(checked['diagnostics'])} found")
        lines = text.split("\n")

        def change(version, line, new):
            old = lines[line]
            lines[line] = new
            edit = {"range": {"start": {"line": line, "character": 0}, "end": {"line": line, "character": len(old)}}, "text": new}
            client.tell("textDocument/didChange", {"textDocument": {"uri": path.as_uri(), "version": version}, "contentChanges": [edit]})

        def place(line, character):
            return {"textDocument": {"uri": path.as_uri()}, "position": {"line": line, "character": character}}

        version = 1
        for title, written in [
            ("completion behind `Modelica.`", "    Modelica."),
            ("completion behind `…Analog.Basic.`", "    Modelica.Electrical.Analog.Basic."),
            ("completion of modifiers", "    Modelica.Electrical.Analog.Basic.Resistor r3("),
            ("completion behind `r1.`", "    Real y = r1."),
            ("completion of names in scope", "    Real z = "),
        ]:
            times, count = [], 0
            for repetition in range(15):
                version += 1
                change(version, 8, written[: len(written) - repetition % 2])
                version += 1
                change(version, 8, written)
                found, took = client.ask("textDocument/completion", place(8, len(written)))
                times.append(took)
                count = len(found["items"])
            print(f"{title:40s} {statistics.median(times):8.1f} ms, at most {max(times):.1f} ms, {count} items")
        version += 1
        change(version, 8, "    Real power = r1.v*r1.i;")
        for title, method in [("definition into the library", "textDocument/definition"), ("hover", "textDocument/hover")]:
            times = [client.ask(method, place(4, 40))[1] for _ in range(15)]
            print(f"{title:40s} {statistics.median(times):8.1f} ms, at most {max(times):.1f} ms")
        for title, method in [("colours of the file", "textDocument/semanticTokens/full"), ("outline", "textDocument/documentSymbol")]:
            times = [client.ask(method, {"textDocument": {"uri": path.as_uri()}})[1] for _ in range(15)]
            print(f"{title:40s} {statistics.median(times):8.1f} ms, at most {max(times):.1f} ms")
        print(f"memory                                   {client.memory():8d} MB")
        big = next(pathlib.Path(libraries).glob("Modelica/Electrical/Analog/Basic.mo"), None) or next(pathlib.Path(libraries).glob("Modelica/Blocks/Math.mo"))
        content = big.read_text()
        client.tell("textDocument/didOpen", {"textDocument": {"uri": big.as_uri(), "languageId": "modelica", "version": 1, "text": content}})
        _, took = client.ask("textDocument/semanticTokens/full", {"textDocument": {"uri": big.as_uri()}})
        print(f"colours of {big.name}, {content.count(chr(10))} lines        {took:8.1f} ms")
        print(f"memory                                   {client.memory():8d} MB")
        client.end()


main()
