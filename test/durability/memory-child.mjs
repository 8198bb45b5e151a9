// One process of a run whose roles remember in a store on disk, killed again and again. Its one argument is JSON: { journal, store, killAt? },
// where killAt is { append: n } or { add: n, isAfter }. It prints what came of the run as one line of JSON. Built code is what it runs.
import { canonical, defineAction, defineRole, Team } from "../../dist/src/index.js";
import { sqlite, sqliteStore } from "../../dist/src/adapters/sqlite.js";
import { scriptedModel } from "../../dist/src/testing/index.js";

const { journal: journalPath, store: storePath, killAt = {} } = JSON.parse(process.argv[2]);
const die = () => process.kill(process.pid, "SIGKILL");

/** The same object, under whose n-th call of a method the process dies: before it happens, or right after. */
function mortal(port, method, n, isAfter) {
  let calls = 0;
  return new Proxy(port, {
    get: (target, name) => {
      const member = Reflect.get(target, name);
      if (typeof member !== "function") return member;
      if (name !== method) return member.bind(target);
      return async (...args) => {
        calls += 1;
        if (calls === n && !isAfter) die();
        const done = await member.apply(target, args);
        if (calls === n && isAfter) die();
        return done;
      };
    },
  });
}

const journal = mortal(sqlite({ path: journalPath }), "append", killAt.append, true);
const store = mortal(sqliteStore({ path: storePath }), "add", killAt.add, killAt.isAfter);

const model = scriptedModel((request) => {
  const { content = "" } = request.messages.at(-1) ?? {};
  return `heard ${content.length % 97} of ${content.slice(0, 40)} ${"and so on ".repeat(8)}`;
});
const Answer = defineAction({ name: "Answer", run: (ctx) => ctx.ask(`Answer: ${ctx.text.slice(0, 50)}`) });
const Ask = defineAction({ name: "Ask", run: (ctx) => ctx.ask(`Ask on: ${ctx.text.slice(0, 50)}`) });
const memory = { store, summary: true, recall: { maxTokens: 300 } };
const roles = [
  defineRole({ name: "Ann", watch: ["UserRequirement", Ask], actions: [Answer] }),
  defineRole({ name: "Bob", watch: [Answer], actions: [Ask] }),
];

// Nobody is to blame for these deaths, however often they come before an answer.
const team = new Team({ seed: "kills", journal, model, roles, memory, poisonAfter: 1_000 });
const { status, error } = await team.run("a bridge", { id: "r", rounds: 8 }).result;

const events = [];
for await (const event of journal.read("r", 0)) events.push(event);
const stored = {};
for (const name of ["Ann", "Bob"]) {
  stored[name] = [];
  for await (const messages of store.read(name, 0)) stored[name].push(...messages.map((each) => `${each.runId} ${each.message.id}`));
}
await journal.close();
await store.close();
process.stdout.write(`${JSON.stringify({ status, error: error?.message, stored, canonical: canonical(events) })}\n`);
