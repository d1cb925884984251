#!/usr/bin/env python3
"""A STAND-IN for the model behind a coding agent: no model, a script.

It speaks the streaming dialects of Anthropic (Messages), OpenAI (Responses, Chat Completions) and Google
(generateContent), and answers each request of an agent's tool loop with the next step of a scenario:

    {"steps": ["SHELL COMMAND", ...], "final": "TEXT"}

The step is the number of assistant turns with tool calls that the request already carries, so the server keeps
no state and any number of agents may use it at once. A request that offers no tools (a title, a classifier) gets
plain text. Every request is logged as one JSON line: what the agent sent back as tool results is the evidence
that the tests judge by.

By hand:  model_api.py --scenario FILE [--log FILE] [--port N] [--tls-port N --cert FILE --key FILE]
"""

import argparse
import http.server
import json
import socket
import ssl
import sys
import threading
import time

MAX_BODY = 32 << 20  # bytes; an agent's request is about 100 kB


# ---- What each dialect says: the turn, the tools offered, the results sent back, and the answer ----


def text_of(content):
    """The text inside a content value of any of the dialects: a string, or a list of parts."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(text_of(part) for part in content)
    if isinstance(content, dict):
        for key in ("text", "content", "output", "error"):
            if key in content:
                return text_of(content[key])
        return json.dumps(content)
    return "" if content is None else str(content)


def event(name, data):
    return f"event: {name}\ndata: {json.dumps(dict(data, type=name))}\n\n"


class Anthropic:
    name = "anthropic-messages"

    @staticmethod
    def tools(body):
        return [tool.get("name", "") for tool in body.get("tools") or []]

    @staticmethod
    def turn(body):
        return sum(
            message.get("role") == "assistant"
            and isinstance(message.get("content"), list)
            and any(block.get("type") == "tool_use" for block in message["content"])
            for message in body.get("messages", [])
        )

    @staticmethod
    def results(body):
        return [
            text_of(block.get("content"))
            for message in body.get("messages", [])
            if isinstance(message.get("content"), list)
            for block in message["content"]
            if block.get("type") == "tool_result"
        ]

    @staticmethod
    def answer(body, turn, command, text):
        usage = {
            "input_tokens": 10,
            "output_tokens": 10,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
        }
        if command is None:
            block, stop = {"type": "text", "text": text}, "end_turn"
        else:
            arguments = {"command": command, "description": f"Step {turn + 1}"}
            block = {"type": "tool_use", "id": f"toolu_{turn:04d}", "name": "Bash", "input": arguments}
            stop = "tool_use"
        message = {
            "id": f"msg_{turn:04d}",
            "type": "message",
            "role": "assistant",
            "model": body.get("model", "stand-in"),
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": usage,
        }
        if not body.get("stream"):
            return "application/json", json.dumps(dict(message, content=[block], stop_reason=stop))
        if command is None:
            start, delta = dict(block, text=""), {"type": "text_delta", "text": text}
        else:
            start = dict(block, input={})
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        return "text/event-stream", "".join(
            [
                event("message_start", {"message": message}),
                event("content_block_start", {"index": 0, "content_block": start}),
                event("content_block_delta", {"index": 0, "delta": delta}),
                event("content_block_stop", {"index": 0}),
                event("message_delta", {"delta": {"stop_reason": stop, "stop_sequence": None}, "usage": usage}),
                event("message_stop", {}),
            ]
        )


class Responses:
    name = "openai-responses"

    @staticmethod
    def _offered(body):
        offered = list(body.get("tools") or [])
        for item in body.get("input") or []:
            if isinstance(item, dict) and item.get("type") == "additional_tools":
                for tool in item.get("tools", []):
                    offered += tool.get("tools", []) if tool.get("type") == "namespace" else [tool]
        return offered

    @classmethod
    def tools(cls, body):
        return [tool.get("name") or tool.get("type", "") for tool in cls._offered(body)]

    @staticmethod
    def _items(body, *types):
        return [item for item in body.get("input") or [] if isinstance(item, dict) and item.get("type") in types]

    @classmethod
    def turn(cls, body):
        return len(cls._items(body, "function_call", "custom_tool_call"))

    @classmethod
    def results(cls, body):
        return [
            text_of(item.get("output")) for item in cls._items(body, "function_call_output", "custom_tool_call_output")
        ]

    @classmethod
    def answer(cls, body, turn, command, text):
        names = cls.tools(body)
        if command is None:
            item = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}
        elif "exec_command" in names:
            item = {"type": "function_call", "name": "exec_command", "arguments": json.dumps({"cmd": command})}
        elif "shell_command" in names:
            item = {"type": "function_call", "name": "shell_command", "arguments": json.dumps({"command": command})}
        elif "shell" in names:
            arguments = {"command": ["sh", "-c", command]}
            item = {"type": "function_call", "name": "shell", "arguments": json.dumps(arguments)}
        else:  # Codex's "code mode": one tool that takes JavaScript
            script = f"const r = await tools.exec_command({{cmd: {json.dumps(command)}}}); text(r.output);"
            item = {"type": "custom_tool_call", "name": "exec", "namespace": "functions", "input": script}
        item["id"] = f"item_{turn:04d}"
        if item["type"] != "message":
            item["call_id"] = f"call_{turn:04d}"
        response = {"id": f"resp_{turn:04d}", "output": [item]}
        if not body.get("stream"):
            return "application/json", json.dumps(dict(response, object="response", status="completed"))
        return "text/event-stream", "".join(
            [
                event("response.created", {"response": {"id": response["id"]}}),
                event("response.output_item.done", {"output_index": 0, "item": item}),
                event("response.completed", {"response": {"id": response["id"]}}),
            ]
        )


class Chat:
    name = "openai-chat"

    @staticmethod
    def tools(body):
        return [tool.get("function", {}).get("name", "") for tool in body.get("tools") or []]

    @staticmethod
    def turn(body):
        return sum(bool(message.get("tool_calls")) for message in body.get("messages", []))

    @staticmethod
    def results(body):
        return [
            text_of(message.get("content")) for message in body.get("messages", []) if message.get("role") == "tool"
        ]

    @staticmethod
    def answer(body, turn, command, text):
        if command is None:
            message, finish = {"role": "assistant", "content": text}, "stop"
        else:
            arguments = json.dumps({"command": command, "description": f"Step {turn + 1}"})
            call = {"index": 0, "id": f"call_{turn:04d}", "type": "function"}
            call["function"] = {"name": "bash", "arguments": arguments}
            message, finish = {"role": "assistant", "tool_calls": [call]}, "tool_calls"
        head = {"id": f"chat_{turn:04d}", "created": int(time.time()), "model": body.get("model", "stand-in")}
        usage = {"prompt_tokens": 10, "completion_tokens": 10, "total_tokens": 20}
        if not body.get("stream"):
            choice = {"index": 0, "message": message, "finish_reason": finish}
            return "application/json", json.dumps(dict(head, object="chat.completion", choices=[choice], usage=usage))
        head["object"] = "chat.completion.chunk"
        chunks = [
            dict(head, choices=[{"index": 0, "delta": message, "finish_reason": None}]),
            dict(head, choices=[{"index": 0, "delta": {}, "finish_reason": finish}], usage=usage),
        ]
        lines = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks)
        return "text/event-stream", lines + "data: [DONE]\n\n"


class Gemini:
    name = "gemini-generate"

    @staticmethod
    def tools(body):
        return [
            declaration.get("name", "")
            for tool in body.get("tools") or []
            for declaration in tool.get("functionDeclarations", [])
        ]

    @staticmethod
    def _parts(body, key):
        return [part[key] for content in body.get("contents", []) for part in content.get("parts", []) if key in part]

    @classmethod
    def turn(cls, body):
        return len(cls._parts(body, "functionCall"))

    @classmethod
    def results(cls, body):
        return [text_of(response.get("response")) for response in cls._parts(body, "functionResponse")]

    @staticmethod
    def answer(body, turn, command, text):
        if command is not None:
            arguments = {"command": command, "description": f"Step {turn + 1}"}
            part = {"functionCall": {"name": "run_shell_command", "args": arguments}}
        elif body.get("generationConfig", {}).get("responseMimeType") == "application/json":
            part = {"text": json.dumps({"complexity_reasoning": "a script", "complexity_score": 10})}
        else:
            part = {"text": text}
        content = {"role": "model", "parts": [part]}
        usage = {"promptTokenCount": 10, "candidatesTokenCount": 10, "totalTokenCount": 20}
        answer = {"candidates": [{"index": 0, "content": content, "finishReason": "STOP"}], "usageMetadata": usage}
        if body.get("stream"):
            return "text/event-stream", f"data: {json.dumps(answer)}\n\n"
        return "application/json", json.dumps(answer)


def dialect_of(path):
    path = path.split("?")[0]
    if path.endswith("/messages"):
        return Anthropic
    if path.endswith("/responses"):
        return Responses
    if path.endswith("/chat/completions"):
        return Chat
    if ":generateContent" in path or ":streamGenerateContent" in path:
        return Gemini
    return None


# ---- The server ----


class Log:
    """The requests, in memory and as JSON lines in a file. Any thread."""

    def __init__(self, path=None):
        self._lock = threading.Lock()
        self._file = open(path, "a", encoding="utf-8") if path else None
        self.entries = []

    def add(self, **entry):
        entry = {"time": round(time.time(), 3), **entry}
        with self._lock:
            self.entries.append(entry)
            if self._file:
                self._file.write(json.dumps(entry) + "\n")
                self._file.flush()


class ModelHandler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    scenario = {"steps": [], "final": "Done."}
    log = Log()
    watched = ()  # texts whose appearance anywhere in a request is logged
    tls = False

    def log_message(self, *_):
        pass

    def _body(self):
        if "chunked" in self.headers.get("Transfer-Encoding", "").lower():
            data = b""
            while len(data) <= MAX_BODY:
                size = int(self.rfile.readline(64).split(b";")[0], 16)
                data += self.rfile.read(size)
                self.rfile.readline(64)
                if size == 0:
                    return data
            raise ValueError("the request is too large")
        size = int(self.headers.get("Content-Length") or 0)
        if size > MAX_BODY:
            raise ValueError("the request is too large")
        return self.rfile.read(size)

    def _send(self, status, content_type, text):
        data = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def _other(self):
        self.log.add(api=None, method=self.command, path=self.path, tls=self.tls)
        if self.path.split("?")[0].endswith("/models"):
            self._send(200, "application/json", json.dumps({"object": "list", "data": [], "models": []}))
        else:
            self._send(200 if self.command == "HEAD" else 404, "application/json", "{}")

    do_GET = do_HEAD = _other

    def do_POST(self):
        raw = self._body()
        dialect = dialect_of(self.path)
        if self.path.split("?")[0].endswith("/count_tokens"):
            self._send(200, "application/json", json.dumps({"input_tokens": 10}))
            return
        if dialect is None:
            self._other()
            return
        body = json.loads(raw)
        if ":streamGenerateContent" in self.path:
            body["stream"] = True
        steps = self.scenario["steps"]
        tools, turn = dialect.tools(body), dialect.turn(body)
        command = steps[turn] if tools and turn < len(steps) else None
        self.log.add(
            api=dialect.name,
            method="POST",
            path=self.path,
            host=self.headers.get("Host"),
            tls=self.tls,
            bytes=len(raw),
            turn=turn,
            tools=tools,
            results=dialect.results(body),
            contains=[text for text in self.watched if text.encode() in raw],
        )
        content_type, text = dialect.answer(body, turn, command, self.scenario["final"])
        self._send(200, content_type, text)


class Server(http.server.ThreadingHTTPServer):
    """One listener on loopback, served from threads of its own until stop()."""

    daemon_threads = True

    def __init__(self, handler, port=0, tls=None):
        self._tls = tls
        super().__init__(("127.0.0.1", port), handler)
        self.port = self.server_address[1]
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()

    def finish_request(self, request, client_address):
        # In the connection's thread, so that a slow handshake delays nobody else.
        request.settimeout(60)
        if self._tls:
            request = self._tls.wrap_socket(request, server_side=True)
        try:
            super().finish_request(request, client_address)
        finally:
            if self._tls:
                self.shutdown_request(request)

    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], (ssl.SSLError, socket.timeout, ConnectionError, BrokenPipeError)):
            super().handle_error(request, client_address)

    def stop(self):
        self.shutdown()
        self.server_close()


def serve(scenario, log, watched=(), port=0, tls=None):
    attributes = {"scenario": scenario, "log": log, "watched": tuple(watched), "tls": tls is not None}
    return Server(type("Handler", (ModelHandler,), attributes), port, tls)


def tls_context(certificate, key):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    return context


def main():
    parser = argparse.ArgumentParser(description="A stand-in model API, driven by a script.")
    parser.add_argument("--scenario", required=True)
    parser.add_argument("--log")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--tls-port", type=int, default=0)
    parser.add_argument("--cert")
    parser.add_argument("--key")
    options = parser.parse_args()
    with open(options.scenario, encoding="utf-8") as file:
        scenario = json.load(file)
    log = Log(options.log)
    print(f"http://127.0.0.1:{serve(scenario, log, port=options.port).port}", flush=True)
    if options.cert:
        context = tls_context(options.cert, options.key)
        print(f"https://127.0.0.1:{serve(scenario, log, port=options.tls_port, tls=context).port}", flush=True)
    threading.Event().wait()


if __name__ == "__main__":
    main()
