// An agent as a role: each of its steps is recorded. A process dies in the middle; the next one goes on.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { defineAction, defineRole, defineTool, Team } from "troupe";
import { sqlite } from "troupe/sqlite";
import { scriptedModel } from "troupe/testing";

// #region team
const Research = defineAction({ name: "Research", run: () => undefined }); // the cause of what the agent says, for others to watch
const Headline = defineAction({ name: "Headline", prompt: (ctx) => `A headline for: ${ctx.text}` });

function newsroom(search: (query: string) => string) {
  const archive = defineTool({
    name: "archive",
    description: "Searches the archive.",
    parameters: z.object({ query: z.string() }),
    effect: "read",
    execute: ({ query }) => search(query),
  });
  return [
    defineRole({ name: "Rita", goal: "find out", actions: [Research], reactMode: "agent", tools: [archive], maxReactLoop: 10 }),
    defineRole({ name: "Eda", watch: [Research], actions: [Headline] }),
  ];
}
// #endregion

// #region resume
const folder = mkdtempSync(join(tmpdir(), "troupe-"));
const path = join(folder, "runs.db");

/** A scripted model whose answers follow from what it is told, as those of a real model do. */
const model = () =>
  scriptedModel(({ messages }) => {
    const found = messages.filter(({ role }) => role === "tool").length;
    if (messages.at(-1)?.content?.startsWith("A headline") === true) return "Bridge to open in May";
    if (found === 2) return "The bridge opens in May.";
    const args = JSON.stringify({ query: found === 0 ? "bridge" : "bridge opening" });
    return { toolCalls: [{ id: `call_${found}`, type: "function", function: { name: "archive", arguments: args } }] };
  });

const stop = new AbortController();
const before = model();
const first = new Team({
  model: before,
  journal: sqlite({ path }),
  roles: newsroom((query) => {
    if (query === "bridge opening") stop.abort(); // stands for a process that dies in the middle of this call
    return `what is known of ${query}`;
  }),
});
console.log((await first.run("When does the bridge open?", { id: "bridge", signal: stop.signal }).result).status); // stopped
await first.journal.close();

const searched: string[] = [];
const after = model();
const roles = newsroom((query) => `${query}: number ${searched.push(query)}`);
const second = new Team({ model: after, journal: sqlite({ path }), roles });
const result = await second.resume("bridge").result;
console.log(result.output?.content, "|", before.calls.length, "+", after.calls.length, "calls of the model, searched again:", searched);
// Bridge to open in May | 2 + 2 calls of the model, searched again: [ "bridge opening" ]
// #endregion

// #region replay
const replayed = await second.replay("bridge").result;
console.log(replayed.output?.content === result.output?.content, after.calls.length, searched.length); // true 2 1: nobody was asked
await second.journal.close();
// #endregion

rmSync(folder, { recursive: true });
