import { kinds } from "../kernel/option-kinds.ts";
import { checkKnownOptions, type Known } from "../kernel/known-options.ts";
import { isObject } from "../kernel/value-kind.ts";
import { UsageError } from "../kernel/errors.ts";
import type { Json, JsonObject } from "../kernel/json.ts";
import { valueText } from "../kernel/value-text.ts";
import { fitsGlob } from "./glob.ts";
import { isPlainlyCovered, mayBeMeant } from "./permission-pattern.ts";

/** A decision on a call: it runs, a person is asked first, or it does not run. */
export type Decision = "allow" | "ask" | "deny";

/** A rule for some calls of a tool, by their arguments. */
export interface ArgumentRule {
  /**
   * Patterns by argument; `options.path` reaches inside, and `files.path` inside every entry of a list. All must fit. `*` stands for any
   * characters of one field: a web address is compared by scheme, host, port and path, a mail address by name and domain, a command by its
   * words. In a list, one entry that fits is enough to deny or to ask, and every entry must fit to allow.
   */
  readonly args?: Readonly<Record<string, string>>;
  readonly decide: Decision;
}

/** A rule of a policy, for the tools it names. */
export interface PermissionRule extends ArgumentRule {
  /** `*` stands for any characters. */
  readonly tool: string;
}

/** For calls that no policy decides. */
export type Permission = Decision | readonly ArgumentRule[];

/** Rules for the calls of several tools. */
export interface PermissionPolicy {
  /** For calls that no rule fits, instead of the tool's own permission; a call that the tool itself denies stays denied. */
  readonly default?: Decision;
  readonly rules?: readonly PermissionRule[];
}

const NO_RULES: readonly PermissionRule[] = [];
/** Longest argument to which a rule that allows applies. */
const MAX_ALLOWED = 10_000;
const STRICTNESS: Readonly<Record<Decision, number>> = { allow: 0, ask: 1, deny: 2 };

/**
 * `Permission.P1` of all rules that fit, the strictest decides, wherever it stands: deny, then ask, then allow ({@link strictest}). So the
 * rules of several owners can be joined, and no rule undoes the denial of another. `Permission.P2` when no rule fits, the policy's default
 * decides, and without one the tool. `Permission.P3` a call that the tool itself denies is allowed only by a rule that fits it.
 * `Permission.P4` a rule that allows fits only texts it plainly covers ({@link isPlainlyCovered}); one that asks or denies fits all texts
 * that may be meant ({@link mayBeMeant}).
 *
 * @throws UsageError `PERMISSION_INVALID`
 */
export function decide(
  tool: { readonly name: string; readonly permission: Permission },
  args: JsonObject,
  policy: PermissionPolicy,
): Decision {
  checkPolicy(policy);
  const { rules = NO_RULES } = policy;
  const ruled = rules.length === 0 ? undefined : strictest(rules.filter((rule) => fitsTool(rule, tool.name) && fitsArguments(rule, args)));
  if (ruled !== undefined) return ruled;
  const own = decisionOf(tool.permission, args);
  return own === "deny" ? own : (policy.default ?? own);
}

function decisionOf(permission: Permission, args: JsonObject): Decision {
  if (typeof permission === "string") return permission;
  return strictest(permission.filter((rule) => fitsArguments(rule, args))) ?? "ask";
}

function strictest(rules: readonly ArgumentRule[]): Decision | undefined {
  const [first] = rules.map((rule) => rule.decide).toSorted((a, b) => STRICTNESS[b] - STRICTNESS[a]);
  return first;
}

function fitsTool({ tool: pattern, decide: decision }: PermissionRule, name: string): boolean {
  return decision === "allow" ? fitsGlob(name, pattern) : fitsGlob(name.toLowerCase(), pattern.toLowerCase());
}

function fitsArguments({ args: patterns, decide: decision }: ArgumentRule, args: JsonObject): boolean {
  return Object.entries(patterns ?? {}).every(([path, pattern]) => {
    const values = valuesAt(args, path);
    const fitsOne = (value: Json | undefined): boolean => value !== undefined && fits(value, pattern, decision);
    return decision === "allow" ? values.every(fitsOne) : values.some(fitsOne);
  });
}

function fits(value: Json, pattern: string, decision: Decision): boolean {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return decision === "allow" ? text.length <= MAX_ALLOWED && isPlainlyCovered(text, pattern) : mayBeMeant(text, pattern);
}

/** A model may add a member whose name is the whole path. Undefined for a missing value. */
function valuesAt(args: JsonObject, path: string): readonly (Json | undefined)[] {
  const inside = reached(args, path.split("."));
  return path.includes(".") && Object.hasOwn(args, path)
    ? [...reached(args, [path]), ...inside.filter((value) => value !== undefined)]
    : inside;
}

function reached(place: Json | undefined, [name, ...rest]: readonly string[]): readonly (Json | undefined)[] {
  if (Array.isArray(place)) {
    if (name !== undefined && /^\d+$/.test(name)) return reached((place as readonly Json[])[Number(name)], rest);
    return place.length === 0
      ? [undefined]
      : (place as readonly Json[]).flatMap((one) => reached(one, name === undefined ? [] : [name, ...rest]));
  }
  if (name === undefined) return [place];
  const isThere = isObject(place) && Object.hasOwn(place, name);
  return isThere ? reached((place as JsonObject)[name], rest) : [undefined];
}

const checkedPolicies = new WeakSet<PermissionPolicy>();

/** @throws UsageError `PERMISSION_INVALID` for a policy that cannot be followed as written */
export function checkPolicy(policy: PermissionPolicy): void {
  if (checkedPolicies.has(policy)) return;
  checkKnownOptions("the permissions", policy, { default: kinds.checked, rules: kinds.list(kinds.object) });
  if (policy.default !== undefined) checkDecision(policy.default, "the default of a policy");
  for (const rule of policy.rules ?? []) {
    checkPattern(rule.tool, "the tool of a rule");
    checkRule(rule, `the rule for "${rule.tool}"`, kinds.each(kinds.checked, "tool", "args", "decide"));
  }
  checkedPolicies.add(policy);
}

export function checkPermission(permission: Permission, whose: string): void {
  if (!Array.isArray(permission)) return checkDecision(permission as Decision, `the permission of ${whose}`);
  for (const rule of permission as readonly ArgumentRule[])
    checkRule(rule, `a rule of ${whose}`, kinds.each(kinds.checked, "args", "decide"));
}

function checkRule(rule: ArgumentRule, what: string, known: Known<Record<string, unknown>>): void {
  checkKnownOptions(what, rule, known);
  checkDecision(rule.decide, what);
  for (const [name, pattern] of Object.entries(rule.args ?? {})) checkPattern(pattern, `the pattern of "${name}" in ${what}`);
}

function checkDecision(decision: unknown, what: string): void {
  if (typeof decision === "string" && Object.hasOwn(STRICTNESS, decision)) return;
  throw invalid(`${what} to be "allow", "ask" or "deny"`, decision);
}

function checkPattern(pattern: unknown, what: string): void {
  if (typeof pattern === "string" && pattern !== "" && pattern.length <= MAX_PATTERN) return;
  throw invalid(`${what} to be a text of 1 to ${MAX_PATTERN} characters, where * stands for any`, pattern);
}

function invalid(expected: string, got: unknown): UsageError {
  return new UsageError("PERMISSION_INVALID", `Expected ${expected}, got ${valueText(got)}.`);
}

const MAX_PATTERN = 500;
