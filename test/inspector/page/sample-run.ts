import { defineAction, defineRole, memoryJournal, type RunEvent, Team } from "../../../src/index.ts";
import { board, notes } from "../../../src/tools/index.ts";
import { eventsOf } from "../../team/recorded.ts";

/** The events of a small run: a writer and a reviewer, three activations, no model. */
export async function sampleRun(idea = "Write a poem", id = "sample"): Promise<readonly RunEvent[]> {
  const Write = defineAction({ name: "Write", run: (ctx) => `A poem: ${ctx.news.at(-1)?.content ?? ""}` });
  const Review = defineAction({ name: "Review", run: () => "Good." });
  const writer = defineRole({ name: "Ann", profile: "Writer", goal: "Write poems", actions: [Write] });
  const reviewer = defineRole({ name: "Bob", profile: "Reviewer", goal: "Review poems", watch: [Write], actions: [Review] });
  const journal = memoryJournal();
  const team = new Team({ name: "Poets", roles: [writer, reviewer], journal });
  await team.run(idea, { id }).result;
  return eventsOf(journal, id);
}

const tasks = board();
const pad = notes();

/** The events of a run whose roles share tasks and a note: a planner adds two tasks with the same title, and a worker claims one and ends it. */
export async function boardRun(title = "Write a poem", id = "board"): Promise<readonly RunEvent[]> {
  const Plan = defineAction({
    name: "Plan",
    run: async (ctx) => {
      await tasks.at(ctx).add({ id: "first", title }, { id: "then", title, needs: ["first"], owner: "Ann" });
      await pad.at(ctx).write("plan", title);
      return "The plan is on the board.";
    },
  });
  const Work = defineAction({
    name: "Work",
    run: async (ctx) => {
      await tasks.at(ctx).claim("first");
      await tasks.at(ctx).done("first", title);
      return "The first is done.";
    },
  });
  const planner = defineRole({ name: "Ann", profile: "Planner", goal: "Plan", actions: [Plan] });
  const worker = defineRole({ name: "Bob", profile: "Worker", goal: "Work", watch: [Plan], actions: [Work] });
  const journal = memoryJournal();
  await new Team({ name: "Poets", roles: [planner, worker], journal }).run("A book of poems", { id }).result;
  return eventsOf(journal, id);
}
