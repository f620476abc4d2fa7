"""Answers over HTTP as a ClickHouse does, with chDB, which is a current one in a process.

It does what the tests ask for: queries in the body, INSERTs with rows in one frame without
compression, the settings in the address, and a status of 500 for errors. It prints its port.

    pip install chdb-core; python3 chdb_server.py DIRECTORY
"""

import http.server
import os
import re
import struct
import sys
import tempfile
import threading
import urllib.parse

from chdb import session

ENGINE = session.Session(sys.argv[1])
ONE = threading.Lock()  # at a time
OURS = {"query", "database", "decompress", "wait_end_of_query"}


def unframe(body):
    """The rows of a frame: a checksum, the method, two lengths, the data."""
    method, framed, length = struct.unpack_from("<BII", body, 16)
    if method != 2 or framed != len(body) - 16 or length != len(body) - 25:
        raise ValueError("Cannot read all data")
    return body[25:]


def insert(query, own, rows):
    """An INSERT reads its rows from a file."""
    into = re.fullmatch(r"(INSERT INTO (\w+) \(([^)]*)\)) FORMAT RowBinary", query)
    table, columns = into[2], into[3]
    types = ENGINE.query(
        f"SELECT name || ' ' || type FROM system.columns WHERE database = currentDatabase() AND table = '{table}'", "TSVRaw"
    ).bytes()
    structure = dict(line.split(" ", 1) for line in types.decode().splitlines())
    described = ", ".join(f"{name} {structure[name]}" for name in columns.split(", "))
    with tempfile.NamedTemporaryFile(suffix=".bin") as file:
        file.write(rows)
        file.flush()
        ENGINE.query(f"{into[1]} SETTINGS {own} SELECT * FROM file('{file.name}', RowBinary, '{described}')", "TSVRaw")


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.answer(200, b"Ok.\n")

    def do_POST(self):
        settings = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(self.path).query))
        body = self.rfile.read(int(self.headers["Content-Length"]))
        try:
            with ONE:
                self.answer(200, self.run(settings, body))
        except Exception as error:  # whatever it is, the client reads it
            self.answer(500, str(error).encode())

    def run(self, settings, body):
        ENGINE.query("USE " + settings["database"])
        own = ", ".join(f"{k} = {v}" for k, v in settings.items() if k not in OURS)
        if "query" in settings:
            insert(settings["query"], own, unframe(body))
            return b""
        query, _, form = body.decode().partition(" FORMAT ")
        if form:
            return ENGINE.query(f"{query} SETTINGS {own}", form).bytes()
        ENGINE.query(query, "TSVRaw")
        return b""

    def answer(self, status, body):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


SERVER = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(SERVER.server_port, flush=True)
try:
    SERVER.serve_forever()
finally:
    os._exit(0)
