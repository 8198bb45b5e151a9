import { defineAction, defineRole, openai, Team } from "troupe";
import { scriptedModel } from "troupe/testing";
import { z } from "zod";

// An action asks the model. Its answer is the next message; a schema gives the message a type.
const Draft = defineAction({ name: "Draft", prompt: (ctx) => `Write one sentence about ${ctx.text}.` });
const Edit = defineAction({
  name: "Edit",
  output: z.object({ title: z.string(), text: z.string() }),
  prompt: (ctx) => `Shorten this sentence, and give it a title: ${ctx.text}`,
  render: ({ title, text }) => `${title}: ${text}`,
});

// A role reacts to messages. The idea of the user goes to Wim; what Wim drafts goes to Eda, who watches drafts.
const wim = defineRole({ name: "Wim", profile: "Writer", actions: [Draft] });
const eda = defineRole({ name: "Eda", profile: "Editor", watch: [Draft], actions: [Edit] });

export function newTeam(model) {
  return new Team({ roles: [wim, eda], model });
}

// The script answers until you name a real model: set OPENAI_API_KEY, or TROUPE_BASE_URL for a server such as Ollama.
export function chooseModel() {
  const { OPENAI_API_KEY: key, TROUPE_BASE_URL: url, TROUPE_MODEL: model = "gpt-5-mini" } = process.env;
  if (key || url) return openai({ model });
  const answers = ["The sea is wide, and blue, and very old.", JSON.stringify({ title: "The sea", text: "The sea is wide." })];
  return scriptedModel(answers, { id: "a script" });
}
