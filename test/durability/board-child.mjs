// One process of a run whose roles share a board, which is killed again and again. Its one argument is JSON: { store, killAt? }. It prints the status
// of the run. Built code is what it runs, as a user's program does.
import { defineAction, defineRole, Team } from "../../dist/src/index.js";
import { sqlite } from "../../dist/src/adapters/sqlite.js";
import { board, notes } from "../../dist/src/tools/index.js";
import { mortal } from "./mortal-journal.mjs";

const { store, killAt } = JSON.parse(process.argv[2]);
const TASKS = 600;
const tasks = board();
const pad = notes();
const journal = killAt === undefined ? sqlite({ path: store }) : mortal(sqlite({ path: store }), killAt);

/** The tasks that a role does before it lets the others hear of it. */
const SHIFT = 20;

const Plan = defineAction({
  name: "Plan",
  run: async (ctx) => {
    for (let at = 0; at < TASKS; at += 100) {
      const list = Array.from({ length: 100 }, (_, n) => ({
        id: `t${at + n}`,
        title: `task ${at + n}`,
        needs: at + n < 7 ? [] : [`t${at + n - 7}`],
      }));
      await tasks.at(ctx).add(...list);
    }
    return "planned";
  },
});

/** Does tasks until none is free, counts them in a note that all share, and goes on later while some are left. */
const worker = (nth) =>
  defineRole({
    name: `W${nth}`,
    watch: ["Plan", `Work${nth}`],
    actions: [
      defineAction({
        name: `Work${nth}`,
        sendTo: () => ["<self>"],
        run: async (ctx) => {
          for (let done = 0; done < SHIFT; done += 1) {
            const claimed = await tasks.at(ctx).claim();
            if (!claimed.ok) break;
            const [{ id }] = claimed.tasks;
            await ctx.step("work", { id }, async () => id);
            await tasks.at(ctx).done(id, ctx.name);
            for (let isCounted = false; !isCounted;) {
              const { note } = await pad.at(ctx).read("count");
              isCounted = (await pad.at(ctx).write("count", `${Number(note?.text ?? 0) + 1}`, note?.version)).ok;
            }
          }
          const left = await tasks.at(ctx).tasks({ state: "open", most: 1 });
          return left.tasks.length === 0 ? undefined : ctx.message("more", { sendTo: "<self>" });
        },
      }),
    ],
  });

const planner = defineRole({ name: "P", actions: [Plan] });
const team = new Team({ seed: "board", journal, roles: [planner, ...[0, 1, 2, 3].map(worker)], poisonAfter: 10_000 });
const { status, error } = await team.run("go", { id: "r", rounds: 1_000_000 }).result;
await journal.close();
process.stdout.write(`${JSON.stringify({ status, error: error?.message })}\n`);
