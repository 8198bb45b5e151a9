import { UsageError } from "../kernel/errors.ts";
import type { Json, JsonObject } from "../kernel/json.ts";
import { valueText } from "../kernel/value-text.ts";
import { fitsGlob, MAX_PATTERN } from "./glob.ts";

/** What may happen with a call: it runs, a person is asked first, or it does not run. */
export type Decision = "allow" | "ask" | "deny";

/** Which calls a rule speaks of, and what it says. */
export interface ArgumentRule {
  /**
   * Patterns by argument; `options.path` reaches inside. All must fit. `*` stands for any characters. In a list, one entry that fits is
   * enough to deny or to ask, and every entry must fit to allow.
   */
  readonly args?: Readonly<Record<string, string>>;
  readonly decide: Decision;
}

/** A rule of a policy, for the tools it names. */
export interface PermissionRule extends ArgumentRule {
  /** A tool's name; `*` stands for any characters. */
  readonly tool: string;
}

/** What a tool says about itself: used where no policy decides. */
export type Permission = Decision | readonly ArgumentRule[];

/** Who may do what. */
export interface PermissionPolicy {
  /** For calls that no rule speaks of, in place of what the tool says; what a tool itself denies stays denied. */
  readonly default?: Decision;
  readonly rules?: readonly PermissionRule[];
}

/** Most characters of an argument that a rule which allows is tried on; rules that deny or ask are tried on all. */
const MAX_ALLOWED = 10_000;
const STRICTNESS: Readonly<Record<Decision, number>> = { allow: 0, ask: 1, deny: 2 };

/**
 * What may happen with a call.
 *
 * P1 of all rules that fit, the strictest decides, wherever it stands: deny, then ask, then allow. So policies of several owners are
 * joined by putting their rules one after another, and none can undo what another denies. P2 where no rule fits, the policy's default
 * decides, and without one the tool. P3 what a tool denies by itself only a rule that names the call can allow. P4 a rule that allows
 * fits only what it plainly covers (see {@link fitsGlob}); one that asks or denies fits as much as it can.
 *
 * @throws UsageError `PERMISSION_INVALID` for a policy that cannot be followed as it is written.
 */
export function decide(
  tool: { readonly name: string; readonly permission: Permission },
  args: JsonObject,
  policy: PermissionPolicy,
): Decision {
  checkPolicy(policy);
  const ruled = strictest((policy.rules ?? []).filter((rule) => fitsGlob(tool.name, rule.tool) && fitsArguments(rule, args)));
  if (ruled !== undefined) return ruled;
  const own = decisionOf(tool.permission, args);
  return own === "deny" ? own : (policy.default ?? own);
}

/** A tool that says nothing about a call is asked for. */
function decisionOf(permission: Permission, args: JsonObject): Decision {
  if (typeof permission === "string") return permission;
  return strictest(permission.filter((rule) => fitsArguments(rule, args))) ?? "ask";
}

function strictest(rules: readonly ArgumentRule[]): Decision | undefined {
  const [first] = rules.map((rule) => rule.decide).toSorted((a, b) => STRICTNESS[b] - STRICTNESS[a]);
  return first;
}

function fitsArguments({ args: patterns, decide: decision }: ArgumentRule, args: JsonObject): boolean {
  return Object.entries(patterns ?? {}).every(([path, pattern]) => fits(at(args, path), pattern, decision));
}

function fits(value: Json | undefined, pattern: string, decision: Decision): boolean {
  if (value === undefined) return false;
  if (Array.isArray(value)) {
    const one = (item: Json): boolean => fits(item, pattern, decision);
    return decision === "allow" ? value.length > 0 && value.every(one) : value.some(one);
  }
  const text = typeof value === "string" ? value : JSON.stringify(value);
  if (decision === "allow") return text.length <= MAX_ALLOWED && fitsGlob(text, pattern, "one plain word or path");
  return fitsGlob(text, pattern) || fitsGlob(plain(text), pattern);
}

/** More white space is no way around a rule. */
function plain(text: string): string {
  return text.trim().replace(/\s+/g, " ");
}

function at(args: JsonObject, path: string): Json | undefined {
  let place: Json | undefined = args;
  for (const name of Object.hasOwn(args, path) ? [path] : path.split(".")) {
    if (typeof place !== "object" || place === null || !Object.hasOwn(place, name)) return undefined;
    place = (place as JsonObject)[name];
  }
  return place;
}

/** Policies that were looked at. */
const checkedPolicies = new WeakSet<PermissionPolicy>();

function checkPolicy(policy: PermissionPolicy): void {
  if (checkedPolicies.has(policy)) return;
  if (policy.default !== undefined) checkDecision(policy.default, "the default of a policy");
  for (const rule of policy.rules ?? []) {
    checkPattern(rule.tool, "the tool of a rule");
    checkRule(rule, `the rule for "${rule.tool}"`);
  }
  checkedPolicies.add(policy);
}

/** @throws UsageError `PERMISSION_INVALID` */
export function checkPermission(permission: Permission, whose: string): void {
  if (!Array.isArray(permission)) return checkDecision(permission as Decision, `the permission of ${whose}`);
  for (const rule of permission as readonly ArgumentRule[]) checkRule(rule, `a rule of ${whose}`);
}

function checkRule({ args = {}, decide: decision }: ArgumentRule, what: string): void {
  checkDecision(decision, what);
  for (const [name, pattern] of Object.entries(args)) checkPattern(pattern, `the pattern of "${name}" in ${what}`);
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
