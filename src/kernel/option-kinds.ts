import { isModel, noModel } from "./foreign-models.ts";
import { isCount, isObject, isRecord } from "./value-kind.ts";
import { aFunction, anything, aText, either, fits, having, iterable, listOf, partIn, type Shape } from "./argument.ts";
import { optionsWithin } from "./known-options.ts";

/*
 * A kind refuses what the TypeScript type of its option excludes, and nothing else. An object is known by its methods, because it may come
 * from another library or from a test.
 */

const number: Shape = { says: "a number", fits: (value) => typeof value === "number" && !Number.isNaN(value) };
const address: Shape = {
  says: "an address: a name, or an action or a role",
  fits: (value) => typeof value === "string" || typeof value === "function" || (isObject(value) && "name" in value),
};

const dollars: Shape = {
  says: "dollars for a million tokens, 0 or more",
  fits: (value) => Number.isFinite(value) && (value as number) >= 0,
};
const tokenPrice = { input: dollars, output: dollars, cachedInput: dollars };
const longPrompt = optionsWithin({ ...tokenPrice, over: number }, ["input", "output", "over"]);

const shapes = {
  text: aText,
  texts: listOf(aText, "a list of texts"),
  /** A string that no error shows: a key, a token, an address that may hold a password. */
  secret: { ...aText, isSecret: true },
  secrets: { ...listOf(aText, "a list of texts"), isSecret: true },
  boolean: { says: "true or false", fits: (value) => typeof value === "boolean" },
  number,
  amount: atLeast("a number of 0 or more", 0),
  milliseconds: atLeast("a number of milliseconds, 0 or more", 0),
  count: { says: "a whole number of 0 or more", fits: isCount },
  rounds: either({ says: "a whole number of 0 or more", fits: isCount }, { says: "Infinity", fits: (value) => value === Infinity }),
  ticks: { says: "a number above 0", fits: (value) => typeof value === "number" && value > 0 && Number.isFinite(value) },
  size: { says: "a whole number of 1 or more", fits: (value) => isCount(value) && value >= 1 },
  function: aFunction,
  seed: { says: "a text or a number", fits: (value) => typeof value === "string" || number.fits(value) },
  object: { says: "an object", fits: isRecord },
  signal: { says: "an AbortSignal", fits: (value) => isObject(value) && "aborted" in value && "addEventListener" in value },
  clock: having("a clock", "now", "timer"),
  logger: having("a logger", "debug", "info", "warn", "error"),
  guards: listOf(
    {
      says: "a guard, made by guard({ name, on, check })",
      fits: (value) => isObject(value) && "on" in value && "then" in value && "tool" in value,
    },
    "a list of guards",
  ),
  schema: {
    says: "a schema of zod 4, or a Standard Schema",
    fits: (value) => ((isObject(value) || typeof value === "function") && "~standard" in value) || having("", "safeParse").fits(value),
  },
  model: { says: "a model", fits: isModel, advice: noModel },
  price: { ...optionsWithin({ ...tokenPrice, longPrompt, maxOutput: number }, ["input", "output"]), says: "a price { input, output }" },
  embedder: having("an embedder", "embed"),
  tokenCounter: having("a counter of tokens", "count"),
  cache: having("a cache", "get", "set"),
  messageStore: having("a message store", "add", "remove"),
  journal: having("a journal", "create", "claim", "release", "append", "read", "runs", "remove"),
  runDriver: having("a run driver", "submit"),
  steps: having("the context of an action", "step"),
  workspace: having("a workspace", "list", "read"),
  sandbox: having("a sandbox", "run"),
  searchProvider: having("a search provider", "search"),
  address,
  addresses: listOf(address, "a list of addresses: names, actions or roles"),
  /** Any value: its function checks it more exactly. */
  checked: anything,
} satisfies { readonly [name: string]: Shape };

/** The kinds of options, for tables of {@link Known}. Each also allows `undefined`. */
export const kinds = {
  ...shapes,
  oneOf(...values: readonly (string | boolean | null)[]): Shape {
    const words = values.map((value) => JSON.stringify(value));
    const says = [words.slice(0, -1).join(", "), ...words.slice(-1)].filter((part) => part !== "").join(" or ");
    return { says, fits: (value) => values.includes(value as string) };
  },
  either,
  list: (item: Shape): Shape => listOf(item),
  /** A string is none. @param says what it holds: "names of roles" */
  iterable,
  record(member: Shape): Shape {
    return {
      says: `an object, each member ${member.says}`,
      fits: (value) => isRecord(value) && Object.values(value).every((one) => one === undefined || fits(one, member)),
      within: (value, entry, at) => (isRecord(value) ? partIn(value, member, entry, (name) => `${at}.${name}`) : undefined),
    };
  },
  /** Options within options, refused by the path of a member that is unknown or of another kind. @param needed members without a default */
  options: (known: Readonly<Record<string, Shape>>, ...needed: readonly string[]): Shape => optionsWithin(known, needed),
  having,
  /** A part of a table of {@link Known}: one kind for several names. */
  each<Name extends string>(kind: Shape, ...names: readonly Name[]): Readonly<Record<Name, Shape>> {
    return Object.fromEntries(names.map((name) => [name, kind])) as Readonly<Record<Name, Shape>>;
  },
};

function atLeast(says: string, least: number): Shape {
  return { says, fits: (value) => typeof value === "number" && value >= least };
}
