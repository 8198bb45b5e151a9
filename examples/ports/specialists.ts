// Parallel specialists: three experts read a plan at the same time, and an editor makes one answer of what they say.
import { defineAction, defineRole, openai, Team } from "troupe";
import { openaiStub } from "troupe/testing";

// #region given
const server = await openaiStub({
  handler: ({ messages }) => {
    const asked = JSON.stringify(messages);
    if (asked.includes("Combine")) return "Build it, with a fence.";
    return asked.includes("law") ? "It is legal." : asked.includes("cost") ? "It is cheap." : "It needs a fence.";
  },
});
process.env["OPENAI_BASE_URL"] = server.url;
// #endregion

// #region program
const fields = ["law", "cost", "safety"];
const views = fields.map((field) => defineAction({ name: field, prompt: ({ text }) => `As an expert in ${field}, judge: ${text}` }));
const Combine = defineAction({ name: "Combine", needs: views, prompt: ({ text }) => `Combine these views:\n${text}` });
const experts = views.map((view) => defineRole({ name: view.name, actions: [view] }));
const editor = defineRole({ name: "Edda", actions: [Combine] });
const team = new Team({ roles: [...experts, editor], model: openai({ model: "gpt-5-mini" }) });
console.log((await team.run("A pool in the garden.").result).output?.content);
// #endregion

await server.close();
