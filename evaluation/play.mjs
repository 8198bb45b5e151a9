/** Plays kept answers as an OpenAI-compatible server: `node evaluation/play.mjs --answers DIR`. It prints its URL. */
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { openaiStub } from "../dist/src/testing/index.js";
import { AnswerKeys, keptAnswer } from "./answers.mjs";

/** Starts a server that plays the answers in a folder. A question without a kept answer is refused with status 501. */
export function startPlayer({ answers }) {
  const keys = new AnswerKeys();
  return openaiStub({
    handler: (body) => {
      const key = keys.next(body);
      const refusal = { fault: "status", status: 501, body: JSON.stringify({ error: { message: `No answer is kept for ${key}.` } }) };
      return keptAnswer(answers, key, body) ?? refusal;
    },
  });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const { values } = parseArgs({ options: { answers: { type: "string" } } });
  if (values.answers === undefined) throw new Error("Expected --answers DIR.");
  const { url } = await startPlayer({ answers: values.answers });
  console.log(url);
}
