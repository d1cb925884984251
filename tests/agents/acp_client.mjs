// An ACP client: starts `COMMAND ARGS…` (an adapter, confined or not), has one prompt answered over its stdin and
// stdout, grants every permission it is asked for, and ends it. It offers neither file nor terminal access, so
// whatever the agent does it does by itself, where it runs. One JSON line per event on stdout; exit 0 when the
// prompt ended with `end_turn`. usage: acp_client.mjs SDK_MODULE CWD PROMPT COMMAND ARGS…
import { spawn } from "node:child_process";
import { once } from "node:events";
import { Readable, Writable } from "node:stream";
import { pathToFileURL } from "node:url";

const [sdk, cwd, prompt, command, ...args] = process.argv.slice(2);
const acp = await import(pathToFileURL(sdk));
const started = performance.now();
const say = (event) => console.log(JSON.stringify({ ms: Math.round(performance.now() - started), ...event }));

const adapter = spawn(command, args, { cwd, stdio: ["pipe", "pipe", "inherit"] });
const exited = once(adapter, "exit");
exited.then(([code, signal]) => say({ event: "exit", code, signal }));

const stream = acp.ndJsonStream(Writable.toWeb(adapter.stdin), Readable.toWeb(adapter.stdout));
let stopReason = null;
try {
  stopReason = await Promise.race([
    acp
      .client({ name: "cofferdam-agents" })
      .onRequest(acp.methods.client.session.requestPermission, ({ params }) => {
        const option = params.options.find((each) => each.kind === "allow_once") ?? params.options[0];
        say({ event: "permission", title: params.toolCall?.title, granted: option.optionId });
        return { outcome: { outcome: "selected", optionId: option.optionId } };
      })
      .onNotification(acp.methods.client.session.update, ({ params }) => {
        say({ event: "update", kind: params.update.sessionUpdate });
      })
      .connectWith(stream, async (agent) => {
        const clientCapabilities = { fs: { readTextFile: false, writeTextFile: false }, terminal: false };
        const hello = await agent.request(acp.methods.agent.initialize, { protocolVersion: 1, clientCapabilities });
        say({ event: "initialized", agent: hello.agentInfo?.name });
        const session = await agent.request(acp.methods.agent.session.new, { cwd, mcpServers: [] });
        const sessionId = session.sessionId;
        say({ event: "session", mode: session.modes?.currentModeId });
        const answer = await agent.request(acp.methods.agent.session.prompt, {
          sessionId,
          prompt: [{ type: "text", text: prompt }],
        });
        return answer.stopReason;
      }),
    exited.then(() => null),
  ]);
} catch (error) {
  say({ event: "error", message: error?.message ?? String(error), data: error?.data });
}
say({ event: "stopped", stopReason });

// Two of the three adapters outlive their stdin: close it, and then ask.
adapter.stdin.end();
const asked = setTimeout(() => adapter.kill("SIGTERM"), 500);
const forced = setTimeout(() => adapter.kill("SIGKILL"), 15_000);
await exited;
clearTimeout(asked);
clearTimeout(forced);
process.exit(stopReason === "end_turn" ? 0 : 1);
