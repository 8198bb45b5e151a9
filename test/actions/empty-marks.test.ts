import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Delivery, renderDelivery } from "../../actions/company/delivery.ts";
import { renderCriteria, renderOrder, reviewedParts, type WorkOrder } from "../../actions/company/work-order.ts";
import { parted } from "../../actions/prompt.ts";
import { checksText, deliveryRows, proofReport } from "../../src/cli/delivery.ts";
import { saidText } from "../../src/cli/screen/progress.ts";
import { styleFor } from "../../src/cli/screen/text.ts";
import { createMessage } from "../../src/message/message.ts";
import type { ActEnded } from "../../src/runtime/record/event.ts";

/** What stays of a text or a list without content: a bullet, a heading, brackets, a colon or a comma with nothing behind it. */
const MARKS = [
  /^\s*[-*](?: {2}|\s*$)/m,
  /^##+ [^\n]*\n*(?=#+ |$(?![^]))/m,
  /(?:^|\s)\(\s*\)/m,
  /\bundefined\b|\bnull\b|\bNaN\b|\[object/,
  /[:,;]\s*$/m,
];
const LOOSE = [/ $/m, /\S {2,}\S/, / [.,;:](?:\s|$)/m, /[:,;] +[.,;](?:\s|$)/m];

function marksIn(text: string, marks: readonly RegExp[] = [...MARKS, ...LOOSE]): readonly string[] {
  return marks.flatMap((mark) => mark.exec(text)?.[0] ?? []);
}

const word = fc.constantFrom("alpha", "beta", "gamma");
/** A string that a model may leave empty. */
const text = fc.constantFrom("", " ", "It is so.", "two words");
const texts = fc.array(text, { maxLength: 3 });
const maybe = <T>(one: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(one, { nil: undefined });
const id = fc.constantFrom("A1", "A2", "A3");

const criterion = fc.record({
  id,
  priority: fc.constantFrom("P0" as const, "P1" as const, "P2" as const),
  given: word,
  when: word,
  then: word,
  check: fc.constantFrom(
    { kind: "judgement" as const, reason: "taste" },
    { kind: "command" as const, steps: [{ run: ["node", "a.mjs"], expect: { exit: 0 } }] },
  ),
});

const task = fc.record({
  id: fc.constantFrom("t1", "t2"),
  title: word,
  owns: fc.array(word, { maxLength: 2 }),
  tests: fc.array(word, { maxLength: 2 }),
  needs: fc.array(fc.constantFrom("t1", "t2"), { maxLength: 2 }),
  state: fc.constantFrom("open" as const, "working" as const, "merged" as const, "stuck" as const),
  tries: fc.nat(2),
  note: maybe(text),
  keptIn: maybe(word),
  by: maybe(word),
});

const order = fc
  .record({
    kind: fc.constant("order" as const),
    requirement: word,
    feedback: fc.array(word, { maxLength: 2 }),
    name: word,
    size: fc.constantFrom("S" as const, "M" as const, "L" as const),
    stack: fc.constantFrom("node" as const, "page" as const, "other" as const),
    assumptions: texts,
    criteria: fc.array(criterion, { maxLength: 3 }),
    isChange: fc.boolean(),
    mayInstall: maybe(fc.boolean()),
    map: maybe(text),
    conventions: maybe(text),
    isBeside: maybe(fc.boolean()),
    failedBefore: maybe(texts),
    design: maybe(fc.record({ approach: text, files: fc.array(fc.record({ path: word, purpose: text, code: word }), { maxLength: 2 }) })),
    tests: maybe(fc.array(word, { maxLength: 2 })),
    tasks: maybe(fc.array(task, { maxLength: 3 })),
    task: maybe(fc.constantFrom("t1", "t2")),
  })
  .map((one) => one as unknown as WorkOrder);

const verdict = fc.record({
  id,
  priority: fc.constantFrom("P0" as const, "P1" as const),
  outcome: fc.constantFrom("proven" as const, "failed" as const, "judged" as const, "not checked" as const),
  by: fc.constantFrom("command" as const, "nothing" as const),
  evidence: text,
});

const suite = fc.record({
  language: word,
  kind: fc.constantFrom("passed" as const, "failed" as const, "timeout" as const, "not run" as const),
  total: fc.nat(3),
  passed: fc.nat(3),
  failed: fc.nat(3),
  skipped: fc.nat(2),
  failures: fc.constant([]),
  files: fc.constant([]),
  reason: maybe(text),
});

const verification = fc.record({
  verdicts: fc.array(verdict, { maxLength: 3 }),
  suites: fc.array(suite, { maxLength: 2 }),
  faults: fc.array(fc.record({ kind: word, file: maybe(word), message: text }, { requiredKeys: ["kind", "message"] }), { maxLength: 2 }),
  notChecked: maybe(text),
});

const delivery = fc
  .record({
    kind: fc.constant("delivery" as const),
    name: word,
    size: fc.constantFrom("S" as const, "L" as const),
    stack: fc.constant("node" as const),
    isDone: fc.boolean(),
    verification,
    complaints: fc.array(fc.record({ id, text, state: fc.constantFrom("failing" as const, "answered" as const, "unproven" as const) }), {
      maxLength: 2,
    }),
    review: maybe(fc.record({ reasons: text, accepts: fc.boolean(), look: fc.constant(1) })),
    assumptions: texts,
    uncovered: maybe(texts),
    summary: text,
    round: fc.nat(3),
    reason: maybe(text),
    unmerged: maybe(
      fc.array(
        fc.record({ id: word, title: word, by: maybe(word), why: text, keptIn: maybe(word) }, { requiredKeys: ["id", "title", "why"] }),
        { maxLength: 2 },
      ),
    ),
  })
  .map((one) => one as unknown as Delivery);

/** The rules of a stack are fixed words, and speak of code. */
function withoutRules(said: string): string {
  return said.replace(/## Rules of the stack[^]*?(?=\n## |$(?![^]))/, "");
}

describe("no empty mark stays", () => {
  test("in an order, as workers and reviewers read it", () => {
    fc.assert(
      fc.property(order, (one) => {
        for (const said of [renderOrder(one), parted(reviewedParts(one)), renderCriteria(one)].map(withoutRules))
          expect([marksIn(said), said]).toEqual([[], said]);
      }),
      { numRuns: 500 },
    );
  });

  test("in a delivery, as a colleague reads it", () => {
    fc.assert(
      fc.property(delivery, (one) => {
        const said = renderDelivery(one);
        expect([marksIn(said), said]).toEqual([[], said]);
      }),
      { numRuns: 500 },
    );
  });

  test("in the result and the progress that a user reads", () => {
    fc.assert(
      fc.property(delivery, (one) => {
        const clean = JSON.parse(JSON.stringify(one)) as typeof one;
        for (const [label, said] of deliveryRows(clean as never, styleFor(false)))
          expect([said === "" ? ["an empty row"] : marksIn(said ?? ""), label, said]).toEqual([[], label, said]);
        const message = createMessage("x", { causeBy: "Verify", instructContent: clean });
        const told = saidText({ said: [{ message, to: [] }] } as unknown as ActEnded);
        expect([marksIn(told), told]).toEqual([[], told]);
        const checks = checksText(clean.verification)?.text ?? "x";
        expect([marksIn(checks), checks]).toEqual([[], checks]);
        for (const [, said] of deliveryRows(proofReport(clean.verification, false), styleFor(false)))
          expect(marksIn(said ?? "")).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });
});
