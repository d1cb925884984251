#!/usr/bin/env python3
"""A storage that speaks enough S3 for the tests, and misbehaves as it is told.

    s3_trouble.py LOG [FAULT...]

Prints its port. LOG gets a line per request: method, path, query. A FAULT is METHOD:KIND:COUNT; the first COUNT
requests of that method are answered so (KINDs below). It checks no signature: the real servers of the tests do.
"""
import http.server
import re
import signal
import sys
import threading
import urllib.parse

LOG = open(sys.argv[1], "a", buffering=1)
FAULTS = [[method, kind, int(count)] for method, kind, count in (fault.split(":") for fault in sys.argv[2:])]
LOCK = threading.Lock()
OBJECTS = {}  # path: (bytes, headers that are kept)
UPLOADS = {}  # id: (path, kept headers, {number: bytes})
# A test that hangs must not leave this behind.
signal.alarm(60)


def error(code):
    return f"<?xml version='1.0'?><Error><Code>{code}</Code><Message>m</Message></Error>".encode()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, body=b"", headers=(), length=None):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def hang_up(self):
        self.close_connection = True
        self.wfile.flush()
        self.connection.close()

    def fault(self):
        with LOCK:
            for fault in FAULTS:
                if fault[0] == self.command and fault[2] > 0:
                    fault[2] -= 1
                    return fault[1]
        return None

    def handle_any(self):
        url = urllib.parse.urlsplit(self.path)
        path = urllib.parse.unquote(url.path)
        query = dict(urllib.parse.parse_qsl(url.query, keep_blank_values=True))
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        LOG.write(f"{self.command} {path} {url.query}\n")
        kind = self.fault()
        if kind == "slowdown":  # busy; nothing done
            return self.answer(503, error("SlowDown"), [("Retry-After", "1")])
        if kind == "drop-before":  # no answer, nothing done
            return self.hang_up()
        if kind == "no-conditions" and "If-None-Match" in self.headers:
            return self.answer(501, error("NotImplemented"))
        if kind == "denied":
            return self.answer(403, error("AccessDenied"))
        if kind == "elsewhere":
            return self.answer(301, error("PermanentRedirect"), [("Location", "http://127.0.0.1:1/")])
        if kind == "drop-after":  # done, but nobody hears of it
            self.answer = lambda *_, **__: None
            with LOCK:
                self.carry_out(path, query, body, None)
            return self.hang_up()
        with LOCK:
            self.carry_out(path, query, body, kind)

    do_GET = do_PUT = do_POST = do_HEAD = do_DELETE = handle_any

    def kept_headers(self):
        return [(name.lower(), value) for name, value in self.headers.items() if name.lower().startswith("x-amz-meta-")]

    def carry_out(self, path, query, body, kind):
        taken = self.headers.get("If-None-Match") == "*" and path in OBJECTS
        if self.command == "POST" and "uploads" in query:
            name = str(len(UPLOADS) + 1)
            UPLOADS[name] = (path, self.kept_headers(), {})
            return self.answer(200, f"<InitiateMultipartUploadResult><UploadId>{name}</UploadId>"
                                    f"</InitiateMultipartUploadResult>".encode())
        if "uploadId" in query:
            return self.in_upload(path, query, body, kind, taken)
        if self.command == "PUT":
            if taken:
                return self.answer(412, error("PreconditionFailed"))
            OBJECTS[path] = (body, self.kept_headers())
            return self.answer(200, headers=[("ETag", '"e"')])
        if self.command == "DELETE":
            OBJECTS.pop(path, None)
            return self.answer(204)
        if "list-type" in query:
            return self.list(path, query, kind)
        if path not in OBJECTS:
            return self.answer(404, error("NoSuchKey"))
        self.get(*OBJECTS[path], kind)

    def in_upload(self, path, query, body, kind, taken):
        if query["uploadId"] not in UPLOADS:
            return self.answer(404, error("NoSuchUpload"))
        _, kept, parts = UPLOADS[query["uploadId"]]
        if self.command == "PUT":
            parts[int(query["partNumber"])] = body
            return self.answer(200, headers=[("ETag", f'"{query["partNumber"]}"')])
        if self.command == "DELETE":
            del UPLOADS[query["uploadId"]]
            return self.answer(204)
        if kind == "late-error":  # 200, and then a failure in the body
            return self.answer(200, error("InternalError"))
        if taken:
            return self.answer(412, error("PreconditionFailed"))
        OBJECTS[path] = (b"".join(parts[number] for number in sorted(parts)), kept)
        del UPLOADS[query["uploadId"]]
        self.answer(200, b"<CompleteMultipartUploadResult/>")

    def get(self, content, kept, kind):
        wanted = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        if kind == "whole" or not wanted:  # ranges are ignored
            return self.answer(200, content, kept)
        first, last = int(wanted[1]), int(wanted[2])
        if first >= len(content):
            return self.answer(416, error("InvalidRange"))
        if kind == "other-range":
            first, last = first + 1, last + 1
        part = content[first:last + 1]
        headers = kept + [("Content-Range", f"bytes {first}-{first + len(part) - 1}/{len(content)}")]
        if kind == "cut":  # breaks off in the middle
            self.answer(206, part[:len(part) // 2], headers, length=len(part))
            return self.hang_up()
        if kind == "short":  # well-formed, but less than was asked for
            return self.answer(206, part[:-1], headers)
        if kind == "long":
            return self.answer(206, part + b"x" * 200_000, headers)
        self.answer(206, part, headers)

    def list(self, path, query, kind):
        if kind == "bomb":
            return self.answer(200, b'<!DOCTYPE l [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><ListBucketResult>&b;'
                                    b'</ListBucketResult>')
        if kind == "garbage":
            return self.answer(200, b"<ListBucketResult><Contents>")
        if kind == "endless":
            return self.answer(200, b"<ListBucketResult>" + b" " * 9_000_000 + b"</ListBucketResult>")
        keys = sorted(name[len(path) + 1:] for name in OBJECTS if name.startswith(path + "/"))
        after = query.get("continuation-token", query.get("start-after", ""))
        keys = [key for key in keys if key.startswith(query.get("prefix", "")) and key > after]
        page = keys[:min(int(query["max-keys"]), 2)]  # small pages, whatever was asked for
        items = "".join(f"<Contents><Key>{key}</Key><LastModified>2026-01-02T03:04:05.000Z</LastModified>"
                        f"<Size>{len(OBJECTS[path + '/' + key][0])}</Size></Contents>" for key in page)
        more = len(page) < len(keys)
        token = f"<NextContinuationToken>{page[-1]}</NextContinuationToken>" if more else ""
        self.answer(200, f'<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">{items}'
                         f"<IsTruncated>{str(more).lower()}</IsTruncated>{token}</ListBucketResult>".encode())


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
