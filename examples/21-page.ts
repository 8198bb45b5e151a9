// A team behind a page: a small HTTP server starts a run and streams what happens as server-sent events. The end of this file plays the browser.
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { defineAction, defineRole, type Run, Team } from "troupe";
import { scriptedModel } from "troupe/testing";

// #region team
const Draft = defineAction({ name: "Draft", prompt: (ctx) => `Write a line about ${ctx.text}.` });
const Shorten = defineAction({ name: "Shorten", prompt: (ctx) => `Shorten this: ${ctx.text}` });
const team = new Team({
  model: scriptedModel(["The sea is wide, and blue, and old.", "The sea is wide."]),
  roles: [defineRole({ name: "Wim", actions: [Draft] }), defineRole({ name: "Eda", watch: [Draft], actions: [Shorten] })],
});
// #endregion

// #region stream
/** Sends what happens in a run as server-sent events, and ends the response with the run. */
async function sendRun(run: Run, response: ServerResponse): Promise<void> {
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
  const send = (event: string, data: object): void => void response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  response.on("close", () => run.stop("the page was closed")); // leave this out to let the run go on without a reader
  run.on("model.delta", ({ role, text }) => send("delta", { role, text }));
  run.on("model.void", ({ role }) => send("void", { role })); // the text told so far counts no more: the call is tried again
  run.on("act.ended", ({ role, said }) => {
    for (const { message } of said) send("said", { role, text: message.content });
  });
  const { status, error } = await run.result; // never rejects
  send("end", { status, error: error?.message });
  response.end();
}
// #endregion

// #region server
const page = `<!doctype html>
<title>Troupe</title>
<form><input name="idea" value="the sea"><button>Go</button></form>
<pre></pre>
<script>
  const out = document.querySelector("pre");
  document.querySelector("form").onsubmit = (event) => {
    event.preventDefault();
    const source = new EventSource("/events?" + new URLSearchParams(new FormData(event.target)));
    source.addEventListener("delta", ({ data }) => out.append(JSON.parse(data).text));
    source.addEventListener("void", () => out.append(" (again) "));
    source.addEventListener("said", ({ data }) => out.append("  -- " + JSON.parse(data).role + "\\n"));
    source.addEventListener("end", ({ data }) => source.close());
  };
</script>`;

const server = createServer((request, response) => {
  const url = new URL(request.url ?? "/", "http://localhost");
  const idea = url.searchParams.get("idea");
  if (url.pathname !== "/events") response.writeHead(200, { "content-type": "text/html" }).end(page);
  else if (idea === null) response.writeHead(400).end("Give an idea.");
  else void sendRun(team.run(idea), response);
});
server.listen(Number(process.env["PORT"] ?? 0), "127.0.0.1");
await once(server, "listening");
const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
// #endregion

const events = (await (await fetch(`${address}/events?idea=the+sea`)).text()).trim().split("\n\n");
const read = events.map((event) => event.replace(/^event: (.*)\ndata: /, "$1 "));
for (const line of read.filter((one) => !one.startsWith("delta"))) console.log(line);
console.log(`${read.filter((one) => one.startsWith("delta")).length} pieces`);
server.close();
