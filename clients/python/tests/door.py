"""A collector and a DynamoDB on loopback, for tests."""

import gzip
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Server:
    """Answers each POST with what a function returns: a status and headers, or None to hang up."""

    def __init__(self, answer):
        outer = self
        self.requests = []

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                outer.requests.append((self.path, dict(self.headers), body))
                answered = answer(len(outer.requests), self.headers, body)
                if answered is None:
                    self.close_connection = True
                    return
                status, headers, text = answered
                self.send_response(status)
                for name, value in (headers | {"Content-Length": str(len(text))}).items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def batches(self):
        """Returns each request's producer, sequence and samples."""
        return [
            (h["Keyheat-Producer"], h["Keyheat-Sequence"], [json.loads(line) for line in gzip.decompress(body).splitlines()])
            for _, h, body in self.requests
        ]


def ok(*_):
    return 200, {}, b"{}"
