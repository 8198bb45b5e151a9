// Chain, star and mesh with recorded answers of a model. Five members know different facts of a question (a hidden profile, Stasser and Titus 1985), each
// asks its model once, and member 5 answers for the team: all teams have five calls, and differ in who hears whose notes. The recorded answers were
// written for this study by hand, in the role of a model, from the prompts alone. RECORD=1 with MODEL, and OPENAI_BASE_URL or OPENAI_API_KEY, records
// others, whose counts then go into RECORDED. Five questions show how such a study is made, not which shape is better: see the intervals.
import { readFile } from "node:fs/promises";
import { z } from "zod";
import { defineRole, Environment, memoryJournal, openai } from "troupe";
import { shareInterval, study, type StudyFigure } from "troupe/research";
import { cassetteModel, readCassette, saveCassette } from "troupe/testing";

const { RECORD, MODEL = "by-hand", TEAMS = "examples/research/teams" } = process.env;
const HEARERS = { chain: [[2], [3], [4], [5], []], star: [[5], [5], [5], [5], []], mesh: [[2, 3, 4, 5], [3, 4, 5], [4, 5], [5], []] };
const RECORDED = { chain: [5, 0, 25, 20, 9040], star: [5, 0, 25, 20, 9041], mesh: [5, 0, 25, 50, 9419] }; // in the order of the names below
const lines = z.array(z.string()).transform((list) => list.join("\n"));
const Question = z.object({ id: z.string(), ask: z.string(), options: lines, right: z.string(), facts: z.array(lines) });
const Study = z.object({ prompt: lines, first: z.string(), last: z.string(), questions: z.array(Question) });
const { prompt, first, last, questions } = Study.parse(JSON.parse(await readFile(`${TEAMS}/study.json`, "utf8")));
const FORM = /^\W*NOTE:\s*((?:[^\p{L}\p{N}\n]*[\p{L}\p{N}]+){0,8}).*\n+\W*ANSWER:\W*([A-D])\W*$/mu;

const memberOf = (shape: keyof typeof HEARERS, { id, right, facts, ...question }: z.infer<typeof Question>, place: number) =>
  defineRole({
    name: `${id} ${place}`,
    react: async (rc) => {
      const notes = [...rc.memory].filter(({ causeBy }) => causeBy === "Note");
      if (notes.length < HEARERS[shape].flat().filter((to) => to === place).length) return undefined;
      const to = HEARERS[shape][place - 1] ?? [];
      const heard = notes.map(({ sentFrom, content }) => `Member ${sentFrom.at(-1)} noted: ${content}`).join("\n") || first;
      const fate = place === 5 ? last : `Your note is heard by member ${to.join(", member ")} and by nobody else.`;
      const parts: Readonly<Record<string, unknown>> = { ...question, place, facts: facts[place - 1], heard, fate };
      const content = prompt.replace(/\{(\w+)\}/g, (_, name: string) => String(parts[name]));
      const reply = await rc.model.chat({ messages: [{ role: "user", content }] }, { signal: rc.signal });
      const [, note, answer] = FORM.exec(reply.content) ?? [];
      const sent = { causeBy: place === 5 ? "Verdict" : "Note", sendTo: place === 5 ? "<none>" : to.map((hearer) => `${id} ${hearer}`) };
      return rc.message(note || "nothing", { ...sent, metadata: { isRight: answer === right, isAlone: heard === first } });
    },
  });

async function figuresOf(shape: keyof typeof HEARERS): Promise<readonly StudyFigure[]> {
  const [journal, path, calls] = [memoryJournal(), `${TEAMS}/${shape}.cassette.json`, new Array<unknown>()];
  const model = RECORD === "1" ? openai({ model: MODEL, timeouts: { firstByte: 0, call: 0 } }) : cassetteModel(await readCassette(path));
  const hall = new Environment({ seed: shape, id: shape, journal, model, concurrency: 25 });
  for (const question of questions) hall.addRoles([1, 2, 3, 4, 5].map((place) => memberOf(shape, question, place)));
  hall.on("step.ended", (call) => void calls.push(call));
  hall.publishMessage("begin");
  const { messages, usage, error } = await hall.run();
  if (error !== undefined) throw error;
  if (RECORD === "1") await saveCassette(journal, shape, path);
  const rightOf = (some: typeof messages): number => some.filter(({ metadata }) => metadata["isRight"] === true).length;
  const alone = messages.filter(({ metadata }) => metadata["isAlone"] === true);
  const right = rightOf(messages.filter(({ causeBy }) => causeBy === "Verdict"));
  const hearers = messages.flatMap(({ causeBy, sendTo }) => (causeBy === "Note" ? sendTo : []));
  const { low, high } = await shareInterval(questions.map((_, place) => Number(place < right)));
  const share = `right of 5, 95 % interval ${low.toFixed(2)} to ${high.toFixed(2)}`;
  const names = [share, `right of ${alone.length} alone`, "calls", "hearers", "tokens"];
  const found = [right, rightOf(alone), calls.length, hearers.length, usage.inputTokens + usage.outputTokens];
  return RECORDED[shape].map((expected, n) => ({ name: `${shape}, ${names[n]}`, expected, found: found[n] ?? 0 }));
}
const { report } = study({ name: "teams", source: "the recording; the task: Stasser and Titus 1985", seed: "recorded" });
export const figures = report([...(await figuresOf("chain")), ...(await figuresOf("star")), ...(await figuresOf("mesh"))]);
