// A board of tasks and a pad of notes that the roles of a run share: who does what, and what they have found.
import { defineAction, defineRole, fold, type Role, type RunEvent, Team } from "troupe";
import { board, notes } from "troupe/tools";

// #region board
const tasks = board({ claims: 1 });
const pad = notes();

const Plan = defineAction({
  name: "Plan",
  run: async (ctx) => {
    await tasks.at(ctx).add({ id: "dough", title: "Make the dough" }, { id: "oven", title: "Heat the oven" });
    await tasks.at(ctx).add({ id: "bake", title: "Bake the bread", needs: ["dough", "oven"] });
    return "The plan is on the board.";
  },
});

/** Does what is free, writes down what came of it, and looks again while something is left. */
const baker = (name: string): Role =>
  defineRole({
    name,
    watch: ["Plan", `Work of ${name}`],
    actions: [
      defineAction({
        name: `Work of ${name}`,
        run: async (ctx) => {
          const claimed = await tasks.at(ctx).claim();
          const [task] = claimed.ok ? claimed.tasks : [];
          if (task === undefined) return undefined;
          await pad.at(ctx).write(task.id, `${task.title}: no trouble.`);
          await tasks.at(ctx).done(task.id, "done");
          return ctx.message(`${task.id} is done`, { sendTo: "<self>" });
        },
      }),
    ],
  });

const team = new Team({ roles: [defineRole({ name: "Paula", actions: [Plan] }), baker("Ben"), baker("Ann")] });
const run = team.run("bread");
const events: RunEvent[] = [];
for await (const event of run) events.push(event);
const shared = fold(events).board;
for (const { id, state } of shared.tasks()) console.log(`${id}: ${state.kind}`);
// dough: done
// oven: done
// bake: done
console.log(shared.note("bake")?.text); // Bake the bread: no trouble.
// #endregion
