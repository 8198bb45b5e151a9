import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { TroupeError } from "../../src/index.ts";
import { agentInstances, agents } from "./doors/agents.ts";
import { core, coreInstances, type Door, type Instances } from "./doors/core.ts";
import { adapters, checks, edgeInstances, tools, workspaces } from "./doors/edges.ts";
import { harmless } from "./doors/harmless.ts";
import { research, researchInstances } from "./doors/research.ts";
import { rightCall, wrongCalls } from "./doors/right.ts";
import { served, servedInstances } from "./doors/served.ts";
import { shelfInstances, shelves } from "./doors/shelves.ts";

/*
 * Every accepted call of a door must work. Each argument and each option of each public function, class and method is wrong once in every way of its
 * kind, and each object of options has one option that does not exist: the call refuses it by an error of this package, at once or by the promise that
 * it returns.
 */

type Call = (...given: unknown[]) => unknown;
type Made = new (...given: unknown[]) => unknown;

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");
const rooms: Readonly<Record<string, Readonly<Record<string, Door>>>> = {
  core,
  agents,
  tools,
  adapters,
  workspaces,
  checks,
  served,
  research,
  shelves,
};
const instances: Instances = {
  ...coreInstances,
  ...agentInstances,
  ...edgeInstances,
  ...servedInstances,
  ...researchInstances,
  ...shelfInstances,
};
const table: Readonly<Record<string, Door>> = Object.assign({}, ...Object.values(rooms)) as Readonly<Record<string, Door>>;

/** Functions that the package calls, by a contract of its own. */
const called = /^(?:terminate|estimatedTokens|kinds)\./;

const found = new Map<string, Call>();
for (const [name, value] of await exported()) {
  if (typeof value !== "function" && typeof value !== "object") continue;
  if (value === null || isError(value) || "_zod" in value) continue;
  const isClass = typeof value === "function" && /^class\b/.test(Function.prototype.toString.call(value));
  if (isClass) found.set(`new ${name}`, (...given) => new (value as unknown as Made)(...given));
  else if (typeof value === "function") found.set(name, value as Call);
  for (const [key, member] of methods(value)) found.set(`${name}.${key}`, member.bind(value) as Call);
}
for (const [name, make] of Object.entries(instances)) {
  const one = await make();
  for (const [key] of chainOf(one).flatMap(methods))
    if (key !== "constructor" && !(key in Object.prototype))
      found.set(`${name}.${key}`, async (...given) => {
        const owner = (await make()) as Readonly<Record<string, Call>>;
        return owner[key]?.call(owner, ...given);
      });
}

async function exported(): Promise<ReadonlyMap<string, unknown>> {
  const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    exports: Record<string, string | { default: string }>;
  };
  const entries = Object.values(manifest.exports).flatMap((entry) =>
    typeof entry === "string" ? [] : [entry.default.replace("./dist/", "").replace(/\.js$/, ".ts")],
  );
  const all = entries.map(async (entry) => Object.entries((await import(`../../${entry}`)) as Record<string, unknown>));
  return new Map((await Promise.all(all)).flat());
}

function isError(value: unknown): boolean {
  return value === TroupeError || (value as { prototype?: unknown }).prototype instanceof TroupeError;
}

/** An object and its prototypes. */
function chainOf(one: object): readonly object[] {
  const above = Object.getPrototypeOf(one) as object | null;
  return above === null ? [one] : [one, ...chainOf(above)];
}

function methods(owner: object): readonly (readonly [string, Call])[] {
  return Object.getOwnPropertyNames(owner).flatMap((key) => {
    const member: unknown = Object.getOwnPropertyDescriptor(owner, key)?.value;
    return typeof member === "function" && /^[a-z]/.test(key) ? [[key, member as Call] as const] : [];
  });
}

const cyclic: Record<string, unknown> = {};
cyclic["self"] = cyclic;
const refuse = (): never => {
  throw new RangeError("the proxy lets no one look");
};
const closed = new Proxy({}, { get: refuse, has: refuse, ownKeys: refuse, getPrototypeOf: refuse, getOwnPropertyDescriptor: refuse });
/** Arguments that no entry can use. */
const hostile: readonly (readonly unknown[])[] = [[], [""], [cyclic], [closed], [closed, closed], [closed, closed, closed]];

/** Returns the outcome of a call: an error of this package, another error, or nothing. */
async function judged(call: () => unknown): Promise<unknown> {
  try {
    const made = await ended(call());
    if (isCloseable(made)) await ended(made.close());
    return undefined;
  } catch (error) {
    return error;
  }
}

/** A call that is not refused may wait for ever. */
async function ended(made: unknown): Promise<unknown> {
  let still: NodeJS.Timeout | undefined;
  const late = new Promise((resolve) => void (still = setTimeout(resolve, 1_000)));
  const result = (made as { result?: unknown } | undefined)?.result;
  try {
    return await Promise.race([result instanceof Promise ? result.then(() => made) : made, late]);
  } finally {
    clearTimeout(still);
  }
}

function isCloseable(made: unknown): made is { close: () => unknown } {
  return typeof made === "object" && made !== null && typeof (made as { close?: unknown }).close === "function";
}

function textOf(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}`.slice(0, 200) : typeof error;
}

function shown(value: unknown): string {
  return typeof value === "number" ? value.toString() : JSON.stringify(value);
}

it("the table has every door", () => {
  const without = [...found].filter(([name, call]) => !(name in table) && !called.test(name) && call.length > 0);
  expect(without.map(([name]) => name)).toEqual([]);
  expect(Object.keys(table).filter((name) => !found.has(name))).toEqual([]);
});

it.each(Object.keys(rooms))("what is accepted works: %s", async (room) => {
  const accepted: string[] = [];
  for (const [name, make] of Object.entries(rooms[room] ?? {})) {
    const call = found.get(name) as Call;
    const refused = await judged(() => call(...rightCall(make)));
    const right = textOf(refused);
    if (right !== "undefined" && !(TroupeError.isInstance(refused) && !/^(?:OPTION|ARGUMENT)_/.test(refused.code)))
      accepted.push(`${name} refuses what is right: ${right}`);
    const isOwn = name.split(".", 1).join() in instances;
    for (const [n, given] of (isOwn ? [] : hostile).entries()) {
      const error = await judged(() => call(...given));
      if (error !== undefined && !TroupeError.isInstance(error)) accepted.push(`${name} hostile ${n}: ${textOf(error)}`);
    }
    for (const { place, value, given } of wrongCalls(make)) {
      const error = await judged(() => call(...given));
      if (TroupeError.isInstance(error) && textOf(error) !== right) continue;
      accepted.push(`${name} ${place} ${shown(value)}${error === undefined ? "" : `: ${textOf(error)}`}`);
    }
  }
  expect(accepted).toEqual(
    Object.keys(harmless).filter((one) => Object.keys(rooms[room] ?? {}).some((name) => one.startsWith(`${name} `))),
  );
});
