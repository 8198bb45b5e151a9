// Guardrails: a model judges what the user asks before the agent works on it. What is refused is not answered.
import { Agent, guard, openai } from "troupe";
import { openaiStub } from "troupe/testing";
import { z } from "zod";

// #region given
const server = await openaiStub({
  handler: ({ messages }) => {
    const asked = JSON.stringify(messages);
    if (!asked.includes("homework?")) return "In chapter two.";
    return asked.includes("equation") ? '{"isHomework":true}' : '{"isHomework":false}';
  },
});
process.env["OPENAI_BASE_URL"] = server.url;
// #endregion

// #region program
const noHomework = guard({
  name: "no homework",
  on: "input",
  async check({ text, ask }) {
    const { isHomework } = await ask(`Is this homework? ${text}`, { schema: z.object({ isHomework: z.boolean() }) });
    return isHomework ? "It is homework." : undefined;
  },
});
const model = openai({ model: "gpt-5-mini" });
const agent = new Agent({ name: "tutor", systemPrompt: "You help students.", model, guards: [noHomework] });
for (const text of ["Where is it in the book?", "Solve this equation."]) {
  const { status, answer, error } = await agent.run(text).result;
  console.log(status === "finished" ? answer : `Refused: ${error?.message}`);
}
// #endregion

await server.close();
