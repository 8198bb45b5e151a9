import { join } from "node:path";
import { expect, it } from "vitest";
import type { ChatRequest } from "../../src/index.ts";
import type { ScriptedReply } from "../../src/testing/index.ts";
import { root } from "../architecture/read-house.ts";
import { accepted, adding, around, brief, calling, criteria, RIGHT, type RoleScript, test as written, WRONG } from "./adder.ts";
import { NO_ZERO, readAdder } from "./adder-reader.ts";
import { done, files, rest, whole, work } from "./company-trial.ts";

/** Share of the characters of all prompts of a run that an earlier prompt began with. */
const LEAST_CACHEABLE = 0.6;

const { cacheableShare } = (await import(join(root, "evaluation/answers.mjs"))) as {
  readonly cacheableShare: (requests: readonly ChatRequest[]) => number;
};

const writes = (body: string): ScriptedReply => calling(files(adding(body)), done);
const wrong = { ...criteria[0], check: { kind: "command", steps: [{ run: ["node", "src/cli.mjs", "2", "3"], stdout: { equals: "6" } }] } };
const decided = JSON.stringify({ reasons: "2 and 3 are 5.", isWrong: true, check: criteria[0]?.check });
const dispute = calling(["dispute_check", { criterion: "A1", why: "2 and 3 are 5." }]);
const complaint = {
  text: "It fails on zero.",
  check: { kind: "command", steps: [{ run: ["node", "src/cli.mjs", "0", "0"], stdout: { equals: "0" } }] },
};
const objecting = JSON.stringify({ reasons: "Zero.", judgements: [], complaints: [complaint], accepts: false });

/** A model that slips once, writes code that is wrong at first, and hands a wrong check back. */
const small: RoleScript = {
  ...rest,
  Alice: [brief("S", { criteria: [wrong, criteria[1]] }), decided],
  Alex: [calling(whole(WRONG), done), "I have fixed it.", writes(NO_ZERO), dispute, calling(done), writes(RIGHT)],
  Vera: [objecting, accepted],
};

const design = JSON.stringify({
  approach: "One function and a command around it.",
  files: [
    { path: "src/add.mjs", purpose: "the sum", code: adding('throw new Error("not written");').content },
    { path: "package.json", purpose: "package", code: around[0]?.content },
  ],
});
const medium: RoleScript = {
  ...small,
  Alice: [brief("M", { criteria: [wrong, criteria[1]] }), decided],
  Bob: [design],
  Edward: [calling(files(written), done)],
  Alex: [
    calling(files(adding(WRONG), ...around.slice(1)), done),
    "I have fixed it.",
    writes(NO_ZERO),
    dispute,
    calling(done),
    writes(RIGHT),
  ],
};

it.each([
  ["S", small],
  ["M", medium],
] as const)("most of the prompts of a run of size %s begin as an earlier one", async (_size, script) => {
  const { delivery, calls } = await work(script, { verify: readAdder });
  expect(delivery).toMatchObject({ isDone: true, round: 1 });
  expect(cacheableShare(calls)).toBeGreaterThan(LEAST_CACHEABLE);
});
