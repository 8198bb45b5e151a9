// A run is a journal. One process does half of the work and ends. Another one goes on without asking twice, replays the run without a model, and
// forks it with another editor.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { canonical, defineAction, defineRole, type RunEvent, type Role, Team, usd } from "troupe";
import { sqlite } from "troupe/sqlite";
import { scriptedModel } from "troupe/testing";

// #region team
const folder = mkdtempSync(join(tmpdir(), "troupe-"));
const path = join(folder, "runs.db");

const Draft = defineAction({ name: "Draft", prompt: (ctx) => `Draft a line about ${ctx.text}.` });
const writer = defineRole({ name: "Wim", actions: [Draft] });

function editor(taste: string): Role {
  const Edit = defineAction({ name: "Edit", prompt: (ctx) => `Make it ${taste}: ${ctx.text}` });
  return defineRole({ name: "Eda", watch: [Draft], actions: [Edit] });
}

function teamWith(taste: string) {
  const model = scriptedModel((request) => `[${request.messages.at(-1)?.content}]`);
  const team = new Team({ roles: [writer, editor(taste)], model, budget: usd(1), journal: sqlite({ path }) });
  return { team, model };
}
// #endregion

// #region resume
const before = teamWith("short");
const half = await before.team.run("the sea", { id: "sea", rounds: 1 }).result;
await before.team.journal.close();
console.log(half.status, "after", before.model.calls.length, "call"); // rounds after 1 call

const after = teamWith("short"); // in another process, days later
const whole = await after.team.resume("sea", { rounds: 10 }).result;
console.log(whole.status, "after", after.model.calls.length, "more:", whole.output?.content);
// finished after 1 more: [Make it short: [Draft a line about the sea.]]
// #endregion

// #region replay
const again = after.team.replay("sea");
const events: RunEvent[] = [];
for await (const event of again) events.push(event);
const recorded: RunEvent[] = [];
for await (const event of after.team.journal.read("sea", 0)) recorded.push(event);
console.log((await again.result).status, "again, and equal:", canonical(events) === canonical(recorded)); // finished again, and equal: true
await after.team.journal.close();
// #endregion

// #region fork
const other = teamWith("long");
const fork = await other.team.fork("sea", { at: 1, rounds: 10 }).result; // event 1 is the idea; everything after it happens again
console.log(fork.output?.content);
console.log(`reused ${fork.fork?.reused}, paid ${fork.fork?.paid}, first difference in ${fork.fork?.difference?.act}`); // reused 1, paid 1, first difference in Eda#0~1
await other.team.journal.close();
// #endregion

rmSync(folder, { recursive: true });
