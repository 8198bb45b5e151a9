// Evaluator and optimizer: a joke is told again, with the feedback of a judge, until the judge passes it.
import { Agent, openai } from "troupe";
import { openaiStub } from "troupe/testing";
import { z } from "zod";

// #region given
const server = await openaiStub({
  replies: [
    "A cat.",
    '{"pass":false,"feedback":"It needs a point."}',
    "A cat walks into a bar, and sits on it.",
    '{"pass":true,"feedback":""}',
  ],
});
process.env["OPENAI_BASE_URL"] = server.url;
// #endregion

// #region program
const model = openai({ model: "gpt-5-mini" });
const comedian = new Agent({ name: "comedian", systemPrompt: "Tell a joke about the subject. Use the feedback.", model });
const Verdict = z.object({ pass: z.boolean(), feedback: z.string() });
const judge = new Agent({ name: "judge", systemPrompt: "Judge the joke.", model, output: Verdict });

let joke = (await comedian.run("cats").result).answer;
for (let tries = 0; tries < 3; tries++) {
  const { output } = await judge.run(joke).result;
  if (output?.pass) break;
  joke = (await comedian.run(`Better than "${joke}": ${output?.feedback}`).result).answer;
}
console.log(joke);
// #endregion

await server.close();
