import { z } from "zod";
import { readCrew } from "../../../roles/index.ts";
import { createMessage } from "../../../src/index.ts";
import { formFields } from "../../../src/client/index.ts";
import { simulatedClock } from "../../../src/testing/index.ts";
import type { Door, Instances } from "./core.ts";
import { model, is, role } from "./kit.ts";
import { any, data, or, whole } from "./right.ts";

const form = z.toJSONSchema(z.object({ a: z.string() })) as never;
const field = () => or(formFields(form)[0], 5, "x", null, {}, [5]);
const kit = () => whole({ describe() {}, it() {}, expect() {} });
const cassette = () => or({ troupe: "cassette", v: 1, runId: "r", events: [] }, 5, "x", null, {}, [5]);
const price = { input: 1.5, output: 2.5 };
const contract = () => or({ name: "n", make: () => undefined }, 5, "x", null, {}, [5]);
const project = () => ({ workspace: is.workspace() });
const machine = () => ({ workspace: is.workspace(), sandbox: is.sandbox() });
const sendTo = [or("A", 5, null, {}, [5])];
const named = (): readonly unknown[] => [kit(), "n", () => undefined];

const crew = "name: n\nroles:\n  - name: Ada\n    actions: [{ name: Draft, prompt: draft it }]\n";

const spec = await readCrew(crew);
const kanban = await readCrew("process: kanban");

export const shelfInstances: Instances = { SimulatedClock: () => simulatedClock() };

export const shelves: Readonly<Record<string, Door>> = {
  fieldFault: () => [field(), any("x")],
  filledIn: () => [[or([formFields(form)[0], "x"], 5, "x", null, {})]],
  formFields: () => [or(form, 5, "x", null, [5]), ["a"]],
  readField: () => [field(), "x"],
  checkAnswer: () => [or({ kind: "choices", choices: [{ value: "x" }] }, 5, "x", null, [5]), any("x")],
  faultsText: () => [[data({ path: "a", text: "t" })]],
  scriptedModel: () => [
    or(["ok"], 5, null, {}),
    { id: "i", price, maxOutputTokens: 5, takes: ["image/*"], latency: () => 1, clock: is.clock() },
  ],
  cassetteJournal: () => [cassette()],
  readCassette: () => ["/dev/null/nowhere"],
  saveCassette: () => [is.journal(), "r", "/dev/null/nowhere"],
  cassetteModel: () => [cassette(), { id: "i", price, maxOutputTokens: 5, secrets: ["s"] }],
  simulatedClock: () => [5],
  "SimulatedClock.timer": () => [or(5, "x", null), () => {}],
  "SimulatedClock.advance": () => [5],
  memoryCache: () => [{ clock: is.clock() }],
  memoryRunDriver: () => [{ pause: 5, clock: is.clock() }],
  openaiStub: () => [{ handler: () => "x" }],
  ...Object.fromEntries(
    ["budgetPool", "cache", "chatModel", "edgePolicy", "journal", "modelLimits", "messageStore", "objectStore", "vectorIndex"].map(
      (name) => [`${name}Contract`, named],
    ),
  ),
  ...Object.fromEntries(
    ["journalOwners", "effectPort", "runDriver", "workspace"].map((name) => [`${name}Contract`, () => [kit(), contract()]]),
  ),
  ...Object.fromEntries(
    ["WritePrd", "WriteDesign", "WriteTasks", "WriteCode", "WriteTest"].map((name) => [`new ${name}`, () => [{ ...project(), sendTo }]]),
  ),
  "new WriteCodeReview": () => [{ ...project(), sendTo, rounds: 2 }],
  "new RunTests": () => [{ ...machine(), timeout: 5, debugRounds: 2 }],
  payloadOf: () => [or(createMessage("x", { instructContent: { a: "x" } }), 5, "x", null, {}, [5]), is.schema()],
  companyRounds: () => [5],
  softwareCompany: () => [
    {
      ...machine(),
      size: "small",
      stack: "node",
      existing: false,
      diff: async () => "d",
      allowInstall: false,
      approve: "prd",
      asks: false,
      until: "design",
      review: true,
      reviewModel: is.model(),
      rounds: { S: 2 },
      engineers: 2,
      verificationShare: 0.2,
      verify: async () => undefined,
    },
  ],
  waterfallCompany: () => [{ ...machine(), codeReview: true, runTests: true, implement: true, debugRounds: 2, reviewRounds: 2 }],
  dataInterpreter: () => [{ ...machine(), steps: 5 }],
  research: () => [{ ...project(), search: [whole({ name: "s", search() {} })], web: { allow: ["a"] }, questions: 2, pages: 2 }],
  openCrew: () => [or(spec, 5, "x", null, {}, [5]), { ...machine(), search: [whole({ name: "s", search() {} })] }],
  simulatedPeople: () => [
    or(kanban, 5, "x", null, {}, [5]),
    {
      ...{ seed: or("s", {}, null, Number.NaN), items: 5, effort: { Develop: 5 }, overhead: 0.5, ramp: 5, price },
      people: { "*": { skill: 0.5, errors: 0.5, speed: 1, load: 0.5, absent: 0.5, joins: 5, leaves: 50 } },
    },
  ],
  openWorkflow: () => [
    'export const meta = { name: "w", description: "d" };',
    {
      ...{
        ...machine(),
        search: [whole({ name: "s", search() {} })],
        web: false,
        file: "w.js",
        tools: ["look"],
        allow: ["look"],
      },
      ...{ checks: [["a"]], models: { m: model() }, agents: 2, concurrency: 2, steps: 2, tokens: 2 },
    },
  ],
  readCrew: () => [crew, "f.yaml"],
  checkCrew: () => [
    {
      roles: or([role()], 5, "x", null, {}),
      reserve: or([role("Bob")], 5, "x", null, {}),
      model: or({ id: "m" }, 5, "x", null),
      models: { Ada: or({ id: "m" }, 5, "x", null) },
      prices: { m: price },
      budget: 5,
      allowUnpriced: true,
      rounds: 5,
      output: ["Draft"],
      inputTokens: 5,
    },
  ],
};
