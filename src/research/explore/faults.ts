import { UsageError } from "../../index.ts";
import { checkKnownOptions, type Known } from "../../kernel/known-options.ts";
import { kinds } from "../../kernel/option-kinds.ts";
import { valueText } from "../../kernel/value-text.ts";

/** The faults of a schedule. In names and pairs a star stands for any text. */
export interface ExploreFaults {
  /** Roles that may crash, at any moment. */
  readonly crash?: readonly string[];
  /** Pairs whose messages may be lost: "Ann->Bob", "*->Bob". */
  readonly lose?: readonly string[];
  /** Pairs whose messages may arrive twice; the second one at any later moment. */
  readonly copy?: readonly string[];
  /** Roles whose model may fail. */
  readonly fail?: readonly string[];
  /** Limit on the faults of one schedule, all kinds together. Default 1. */
  readonly most?: number;
}

const exploreFaults: Known<ExploreFaults> = { ...kinds.each(kinds.texts, "crash", "lose", "copy", "fail"), most: kinds.count };

/** The faults of a schedule, as tests of names. */
export interface FaultPlan {
  readonly most: number;
  crash(role: string): boolean;
  fail(role: string): boolean;
  lose(from: string, to: string): boolean;
  copy(from: string, to: string): boolean;
}

/** @throws UsageError `OPTION_UNKNOWN`, `OPTION_INVALID` */
export function faultPlan(given: ExploreFaults = {}): FaultPlan {
  checkKnownOptions("faults of explore", given, exploreFaults);
  const { crash = [], lose = [], copy = [], fail = [], most = 1 } = given;
  return { most, crash: roleTest(crash), fail: roleTest(fail), lose: pairTest("lose", lose), copy: pairTest("copy", copy) };
}

function roleTest(patterns: readonly string[]): (role: string) => boolean {
  const forms = patterns.map(formOf);
  return (role) => forms.some((form) => form.test(role));
}

function pairTest(name: string, pairs: readonly string[]): (from: string, to: string) => boolean {
  const forms = pairs.map((pair) => {
    const [from = "", to = "", ...more] = pair.split("->").map((side) => side.trim());
    if (from !== "" && to !== "" && more.length === 0) return [formOf(from), formOf(to)] as const;
    throw new UsageError(
      "OPTION_INVALID",
      `Expected ${name} of faults to have pairs such as "Ann->Bob" or "*->Bob", got ${valueText(pair)}.`,
    );
  });
  return (from, to) => forms.some(([one, other]) => one.test(from) && other.test(to));
}

function formOf(pattern: string): RegExp {
  const parts = pattern.split("*").map((part) => part.replaceAll(/[\\^$.|?+()[\]{}]/g, "\\$&"));
  return new RegExp(`^${parts.join(".*")}$`, "s");
}
