// Deep research: a plan of searches, all searches at once with a summary of each, and a report from the summaries.
import { defineAction, defineRole, openai, Team } from "troupe";
import { openaiStub } from "troupe/testing";
import { z } from "zod";

// #region given
const server = await openaiStub({
  handler: ({ messages }) => {
    const asked = JSON.stringify(messages);
    if (asked.includes("Plan searches")) return '{"queries":["light","air"]}';
    if (asked.includes("Write a report")) return "Air scatters blue light.";
    return asked.includes("of air") ? "Air scatters." : "Light has colors.";
  },
});
process.env["OPENAI_BASE_URL"] = server.url;
const search = async (query: string): Promise<string> => `A page of ${query}.`;
// #endregion

// #region program
const Research = defineAction("Research", async ({ text, ask, step }) => {
  const { queries } = await ask(`Plan searches on: ${text}`, { schema: z.object({ queries: z.array(z.string()) }) });
  const notes = queries.map(async (query) => {
    const page = await step("search", { query }, () => search(query));
    return ask(`Summarize for "${query}": ${page}`);
  });
  return ask(`Write a report on "${text}" from:\n${(await Promise.all(notes)).join("\n")}`);
});
const team = new Team({ roles: [defineRole({ name: "Rosa", actions: [Research] })], model: openai({ model: "gpt-5-mini" }) });
console.log((await team.run("Why is the sky blue?").result).output?.content);
// #endregion

await server.close();
