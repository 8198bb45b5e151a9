import { describe, expect, it } from "vitest";
import { z } from "zod";
import { humanPort } from "../../src/cli/prompt.ts";
import { withoutCodes } from "../../src/cli/screen/text.ts";
import { questionRows } from "../../src/cli/screen/question.ts";
import { inSession } from "../../src/cli/session.ts";
import type { Json } from "../../src/kernel/json.ts";
import { fieldsForm } from "../../src/role/human.ts";
import type { HumanQuestion } from "../../src/tool/approval.ts";
import type { QuestionForm } from "../../src/tool/question-form.ts";
import { fakeHost } from "./fake-host.ts";

/** Asks one question on a terminal, where these lines are typed. */
async function asked(question: Partial<HumanQuestion>, typed: readonly string[], { columns = 80 }: { readonly columns?: number } = {}) {
  const host = fakeHost({ isTTY: true });
  Object.assign(host.stderr, { columns });
  const lines = [...typed];
  let said = "";
  let answer: Json | undefined;
  let error: unknown;
  host.stderr.on("data", (text: string) => {
    said += text;
    if (!withoutCodes(said).endsWith("> ")) return;
    const line = lines.shift();
    host.stdin.write(line === undefined ? "\u0004" : `${line}\n`);
  });
  await inSession(host, {}, async (session) => {
    const port = humanPort(session, { read: () => Promise.resolve(undefined), allowed: [] });
    try {
      answer = await port?.({ id: "q", text: "Which trip?", role: "Ann", ...question }, { signal: new AbortController().signal });
    } catch (thrown) {
      error = thrown;
    }
    return 0;
  });
  return { answer, error, said: withoutCodes(said), left: lines.length };
}

const Trip = z.object({
  city: z.string().min(1).describe("where to go"),
  nights: z.int().min(1).max(14).default(2),
  class: z.enum(["first", "second"]),
  seat: z.object({ window: z.boolean(), row: z.number().nullable() }),
  with: z.array(z.string().min(2)).max(2),
  note: z.string().optional(),
  more: z.record(z.string(), z.number()).default({}),
});
const trip = fieldsForm(Trip);

describe("a form on a terminal", () => {
  it("asks for its fields one by one, tells types and defaults, and checks each at once", async () => {
    const typed = ["", "Oslo", "none", "20", "", "third", "2", "maybe", "y", "", "x", "", "Zoe", "", "", '{"a": 1}'];
    const { answer, said, left } = await asked({ form: trip }, typed);
    const seat = { window: true, row: null };
    expect(answer).toEqual({ city: "Oslo", nights: 2, class: "second", seat, with: ["Zoe"], more: { a: 1 } });
    expect(left).toBe(0);
    expect(said).toContain("Ann asks you:\n  Which trip?\n  city (a text of at least 1 character)\n    where to go\n> ");
    expect(said).toContain("Expected a text of at least 1 character, got nothing.");
    expect(said).toContain("nights (a whole number from 1 to 14)\n    Enter takes 2.\n> ");
    expect(said).toContain("Expected a whole number from 1 to 14, got 20.");
    expect(said).toContain("class\n    1  first\n    2  second\n> ");
    expect(said).toContain('Expected one of "first", "second", got "third".');
    expect(said).toContain("seat.window (yes or no (true or false))\n> ");
    expect(said).toContain("note (a text)\n    Enter leaves it out.\n> ");
  });

  it.each<[z.ZodType, readonly string[], Json]>([
    [z.boolean(), ["perhaps", "no"], false],
    [z.int(), ["3.5", "3"], 3],
    [z.enum(["a", "b"]), ["2"], "b"],
    [z.array(z.string()), ["one", "two", ""], ["one", "two"]],
    [z.union([z.literal(1), z.literal(2)]), ["1"], 1],
    [z.email(), ["nobody", "ada@example.org"], "ada@example.org"],
  ])("of a single value %#", async (schema, typed, value) => {
    expect(await asked({ form: fieldsForm(schema) }, typed)).toMatchObject({ answer: value, left: 0 });
  });

  const colours: QuestionForm = { kind: "choices", choices: [{ value: "red" }, { value: "blue", label: "As the sea\u001b[2J" }] };

  it("numbers choices, takes a value, a label or a number, and offers the default", async () => {
    for (const [line, value] of [
      ["2", "blue"],
      ["Red", "red"],
      ["", "red"],
    ] as const) {
      const { answer, said } = await asked({ form: colours, default: "red" }, [line]);
      expect(answer).toBe(value);
      expect(said).toContain("  1  red\n  2  As the sea\\u{1b}[2J (blue)\n    Enter takes red.\n> ");
    }
    const refused = await asked({ form: colours }, ["green", "3", "red"]);
    expect(refused).toMatchObject({ answer: "red", left: 0 });
    expect(refused.said).toContain('Expected one of "red", "blue", got "green".');
  });
});

describe("an open question with a form", () => {
  const question = { id: "abcd", role: "Ann", text: "Which trip?", answer: 'troupe answer r abcd "..."' };

  it("shows its fields, whom it is for and its deadline", () => {
    const text = JSON.stringify(questionRows([{ ...question, form: trip, to: "Zoe", deadline: 61_000, default: { city: "Oslo" } }]));
    for (const part of [
      "Ann, of Zoe: Which trip?",
      "1970-01-01 00:01:01 UTC; then the answer is",
      "seat.window: yes or no",
      "note: a text (may be left out)",
    ])
      expect(text).toContain(part);
  });
});
