// A writer, a critic and an editor. A schema types the message of each. The editor waits for the draft and the critique without code that
// waits: its reaction needs both.
import { z } from "zod";
import { defineAction, defineRole, Team, UserRequirement } from "troupe";
import { scriptedModel } from "troupe/testing";

// #region pipeline
const Draft = z.object({ title: z.string(), body: z.string() });
const Critique = z.object({ score: z.number().min(0).max(10), problems: z.array(z.string()) });
const Article = z.object({ title: z.string(), body: z.string(), fixed: z.number() });

const WriteDraft = defineAction({ name: "WriteDraft", output: Draft, prompt: (ctx) => `Write a short article on: ${ctx.text}` });

const Criticise = defineAction({
  name: "Criticise",
  needs: [WriteDraft],
  output: Critique,
  prompt: (ctx) => `Criticise this draft:\n${ctx.inputs[0].instructContent.body}`,
});

const Edit = defineAction({
  name: "Edit",
  needs: [WriteDraft, Criticise],
  output: Article,
  prompt: (ctx) => {
    const [draft, critique] = ctx.inputs; // Message<{ title, body }> and Message<{ score, problems }>
    return `Mend "${draft.instructContent.title}". Problems: ${critique.instructContent.problems.join("; ")}`;
  },
});

const writer = defineRole({ name: "Wanda", profile: "Writer", reactions: [{ on: UserRequirement, do: WriteDraft }] });
const critic = defineRole({ name: "Chris", profile: "Critic", reactions: [{ on: WriteDraft, do: Criticise }] });
const editor = defineRole({ name: "Edda", profile: "Editor", reactions: [{ on: [WriteDraft, Criticise], do: Edit }] });

const model = scriptedModel([
  JSON.stringify({ title: "On Queues", body: "Queues are lines. Lines are good." }),
  JSON.stringify({ score: 4, problems: ["no example", "two sentences say one thing"] }),
  JSON.stringify({ title: "On Queues", body: "A queue hands out what came first, like the line at a bakery.", fixed: 2 }),
]);

const result = await new Team({ roles: [writer, critic, editor], model }).run("queues").result;
const article = Article.parse(result.output?.instructContent);
console.log(`${article.title}: ${article.body} (${article.fixed} problems fixed, ${result.rounds} rounds)`);
// On Queues: A queue hands out what came first, like the line at a bakery. (2 problems fixed, 3 rounds)
// #endregion
