import { defineAction, defineRole, memoryJournal, type RunEvent, Team } from "../../../src/index.ts";
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
