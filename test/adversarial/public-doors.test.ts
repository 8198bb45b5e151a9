import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { TroupeError } from "../../src/index.ts";

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");

/** Source files of the entry points that package.json names, from the top of the repository. */
const entries: readonly string[] = Object.values(
  (JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { exports: Record<string, string | { default: string }> }).exports,
).flatMap((entry) => (typeof entry === "string" ? [] : [entry.default.replace("./dist/", "").replace(/\.js$/, ".ts")]));

const cyclic: Record<string, unknown> = {};
cyclic["self"] = cyclic;

function refuse(): never {
  throw new RangeError("the proxy does not let anybody look");
}

const hostile: readonly (readonly [string, readonly unknown[]])[] = [
  ["nothing", []],
  ["an empty object", [{}]],
  ["null", [null]],
  ["a number", [5]],
  ["an empty text", [""]],
  ["an empty list", [[]]],
  ["a list of a number", [[5]]],
  ["an object that holds itself", [cyclic]],
  [
    "a proxy that throws",
    [new Proxy({}, { get: refuse, has: refuse, ownKeys: refuse, getPrototypeOf: refuse, getOwnPropertyDescriptor: refuse })],
  ],
  ["a function", [(): number => 5]],
];

function isClass(value: unknown): boolean {
  return typeof value === "function" && /^class\b/.test(Function.prototype.toString.call(value));
}

type Call = (...given: unknown[]) => unknown;

/** Definitions that the package calls, by a contract of their own. */
const called: ReadonlySet<string> = new Set(["terminate", "estimatedTokens"]);

/** Starts a sandbox at each call, and takes no argument. */
const dear = new Set(["probeBubblewrap"]);

/** Errors are made by the package and by those who extend it; what is in them is what was said. */
function isError(value: unknown): boolean {
  return typeof value === "function" && (value.prototype as unknown) instanceof TroupeError;
}

/** Every way in: functions, classes, and functions that hang on either. */
async function doors(): Promise<readonly (readonly [string, Call])[]> {
  const found = new Map<unknown, readonly [string, Call]>();
  for (const entry of entries) {
    for (const [name, value] of Object.entries((await import(`../../${entry}`)) as Record<string, unknown>)) {
      if (called.has(name) || isError(value) || value === TroupeError) continue;
      if (isClass(value)) found.set(value, [`new ${name}`, (...given) => new (value as new (...given: unknown[]) => unknown)(...given)]);
      else if (typeof value === "function") found.set(value, [name, value as Call]);
      if (value === null || !["function", "object"].includes(typeof value)) continue;
      for (const key of Object.getOwnPropertyNames(value)) {
        const member: unknown = Object.getOwnPropertyDescriptor(value, key)?.value;
        if (typeof member === "function" && key !== "constructor" && !isClass(member))
          found.set(member, [`${name}.${key}`, (...given) => (member as Call).apply(value, given)]);
      }
    }
  }
  return [...found.values()];
}

async function thrownBy(call: Call, given: readonly unknown[]): Promise<{ readonly error: unknown } | undefined> {
  try {
    const made = await call(...given);
    await closed(made);
    return undefined;
  } catch (error) {
    return { error };
  }
}

async function closed(made: unknown): Promise<void> {
  if (typeof made !== "object" || made === null) return;
  const { close } = made as { close?: unknown };
  if (typeof close === "function") await (close as Call).call(made);
}

const all = await doors();

describe("a public door that is given what it cannot use", () => {
  it.each(all)("%s says what it expected", async (name, call) => {
    const unhandled: string[] = [];
    const note = (error: unknown): void => void unhandled.push(String(error));
    process.on("unhandledRejection", note);
    const wrong: string[] = [];
    for (const [what, [value]] of dear.has(name) ? hostile.slice(0, 1) : hostile) {
      for (const count of what === "nothing" ? [0] : [1, 2, 3]) {
        const thrown = await thrownBy(
          call,
          Array.from({ length: count }, () => value),
        );
        if (thrown === undefined) continue;
        const { error } = thrown;
        const isGood = TroupeError.isInstance(error) && /^[A-Z][A-Z_]+$/.test(error.code) && /expected|Expected/.test(error.message);
        if (!isGood) wrong.push(`${name}(${what} x${count}): ${String(error).slice(0, 150)}`);
      }
    }
    await new Promise((resolve) => void setImmediate(resolve));
    process.off("unhandledRejection", note);
    expect(unhandled).toEqual([]);
    expect(wrong).toEqual([]);
  });
});
