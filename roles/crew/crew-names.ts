import type { z } from "zod";
import { TeamChange, UserFeedback, UserRequirement } from "../../src/index.ts";
import {
  type CrewAction,
  type CrewField,
  crewForm,
  type CrewMeeting,
  type CrewProcess,
  type CrewRole,
  type CrewSpec,
} from "./crew-spec.ts";
import type { IssueWords } from "../../src/adapters/form-faults.ts";
import { shippedFaults } from "./shipped-crews.ts";

/** Names that lead nowhere are faults too. */
export const CrewSchema: z.ZodType<CrewSpec> = crewForm.superRefine((crew, ctx) => checkNames(crew, ctx)) as z.ZodType<CrewSpec>;

/** The names of all who attend a meeting, and the causes that call it. */
function attendants({ moderator, participants }: CrewMeeting): readonly string[] {
  return [...new Set([moderator, ...participants])];
}

export function meetingCauses({ on }: CrewMeeting): readonly string[] {
  return typeof on === "string" ? [on] : on;
}

/** The name of a crew's process, which is the cause of its end. */
export function processName({ name = "process" }: CrewSpec): string {
  return name;
}

/** Returns true for a role that attends a meeting, or has work in the process. */
function hasSeat(name: string, { meetings = [], process }: CrewSpec): boolean {
  return meetings.some((meeting) => attendants(meeting).includes(name)) || process?.lead === name || worksIn(process, name);
}

export function worksIn(process: CrewProcess | undefined, name: string): boolean {
  return process?.stages.some(({ by }) => by.includes(name)) === true;
}

/** A role with a seat reacts to causes, also where it does nothing else. */
export function withSeat<R extends CrewRole>(role: R, crew: CrewSpec): R {
  const isAgent = role.tools !== undefined || role.checks !== undefined;
  return hasSeat(role.name, crew) && role.mode === undefined && !isAgent ? { ...role, mode: "by_cause" } : role;
}

type Given<T> = { readonly [Key in keyof T]?: Exclude<T[Key], undefined> };

/** The members that have a value: options of a role are left out rather than undefined. */
export function withValues<T extends object>(members: T): Given<T> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Given<T>;
}

export function modeOf({ mode, actions = [], tools: named, checks, human }: CrewRole): NonNullable<CrewRole["mode"]> {
  if (mode !== undefined) return mode;
  if (named !== undefined || checks !== undefined || (actions.length === 0 && human !== true)) return "agent";
  return actions.some(({ on, needs }) => on !== undefined || needs !== undefined) ? "by_cause" : "react";
}

export function causesOf({ on, needs = [] }: CrewAction, { watch = [UserRequirement.name] }: CrewRole): readonly string[] {
  if (on !== undefined) return typeof on === "string" ? [on] : on;
  return needs.length > 0 ? needs : watch;
}

/** @param views names in a prompt that are no causes, besides `text`: what the roles share */
export function watchOf(role: CrewRole, views: readonly string[]): readonly string[] {
  const { watch = [], actions = [] } = role;
  const isByCause = modeOf(role) === "by_cause";
  const named = actions.flatMap((action) => [
    ...(isByCause ? causesOf(action, role) : []),
    ...(action.needs ?? []),
    ...templateNames(action.prompt ?? "").flatMap(({ cause }) => (cause === "text" || views.includes(cause) ? [] : [cause])),
  ]);
  const all = [...new Set([...watch, ...named])];
  return all.length === 0 ? [UserRequirement.name] : all;
}

export interface TemplateName {
  readonly cause: string;
  readonly field?: string;
}

const PLACE = /\{\{([^{}]*)\}\}/g;

export function templateNames(prompt: string): readonly TemplateName[] {
  return [...prompt.matchAll(PLACE)].map(([, inner = ""]) => templateName(inner));
}

export function filledTemplate(prompt: string, textOf: (name: TemplateName) => string): string {
  return prompt.replace(PLACE, (_whole, inner: string) => textOf(templateName(inner)));
}

function templateName(inner: string): TemplateName {
  const text = inner.trim();
  const dot = text.indexOf(".");
  return dot === -1 ? { cause: text } : { cause: text.slice(0, dot).trim(), field: text.slice(dot + 1).trim() };
}

type Report = (path: readonly PropertyKey[], message: string, words?: IssueWords) => void;

/** @param expected "models to name roles" */
function checkKnown(report: Report, path: readonly PropertyKey[], expected: string, words: IssueWords & { readonly given: string }): void {
  if (!words.known?.includes(words.given)) report(path, `Expected ${expected}, got "${words.given}".`, words);
}

function checkNames(crew: CrewSpec, ctx: z.RefinementCtx): void {
  const report: Report = (path, message, words) =>
    ctx.addIssue({ code: "custom", path: [...path], message, ...(words === undefined ? {} : { params: { ...words } }) });
  const { use, models = {}, output = [] } = crew;
  const placed = placedRoles(crew);
  const { meetings = [] } = crew;
  const roles = placed.map(({ role }) => role);
  if (use === undefined && (crew.roles ?? []).length === 0) report([], "Expected roles, or a shipped crew in use, got neither.");
  if (use === undefined && crew.with !== undefined)
    report(["with"], "Expected with to come with use: it holds the options of a shipped crew.");
  checkUnique(placed, report);
  for (const { role, path } of placed) checkRole(role, path, crew, report);
  for (const { path, message, isKey } of use === undefined ? [] : shippedFaults(use, crew.with ?? {})) report(path, message, { isKey });
  // The names in a shipped crew are known when it is opened.
  if (use !== undefined) return;
  const actions = roles.flatMap(({ actions: own = [] }) => own);
  const { batch } = crew.process ?? {};
  const ofProcess =
    crew.process === undefined ? [] : [processName(crew), ...(batch?.name === undefined ? [] : [batch.name, `${batch.name} ended`])];
  const causes = [...OUTSIDE, ...ofProcess, ...[...actions, ...meetings, ...roles].map((one) => one.name)];
  for (const { role, path } of placed)
    checkCauses({ role, path }, causes, { roles, views: (["board", "notes"] as const).filter((view) => crew[view] !== undefined) }, report);
  const roleNames = roles.map((role) => role.name);
  checkMeetings(meetings, roles, causes, report);
  if (crew.process !== undefined) checkProcess(crew.process, { ...crew, roles }, causes, report);
  for (const given of Object.keys(models))
    checkKnown(report, ["models", given], "models to name roles", { given, known: roleNames, isKey: true });
  output.forEach((given, index) => {
    if (!causes.includes(given))
      report(["output", index], `Expected output to name actions, got "${given}".`, { given, known: causes.slice(OUTSIDE.length) });
  });
}

const OUTSIDE = [UserRequirement.name, UserFeedback.name, TeamChange.name];

interface PlacedRole {
  readonly role: CrewRole;
  readonly path: readonly (string | number)[];
}

function placedRoles(crew: CrewSpec): readonly PlacedRole[] {
  const { roles = [], reserve = [] } = crew;
  const listed = (part: "roles" | "reserve", all: readonly CrewRole[]): readonly PlacedRole[] =>
    all.map((role, index) => ({ role: withSeat(role, crew), path: [part, index] }));
  return [...listed("roles", roles), ...listed("reserve", reserve)];
}

function checkUnique(roles: readonly PlacedRole[], report: Report): void {
  const [seenRoles, seenActions] = [new Set<string>(), new Set<string>()];
  for (const { role, path } of roles) {
    if (seenRoles.has(role.name)) report([...path, "name"], `Expected roles of different names, got a second "${role.name}".`);
    seenRoles.add(role.name);
    (role.actions ?? []).forEach((action, index) => {
      if (OUTSIDE.includes(action.name))
        report(
          [...path, "actions", index, "name"],
          `Expected the name of an action of the crew, got "${action.name}", which the run causes itself.`,
        );
      if (seenActions.has(action.name))
        report([...path, "actions", index, "name"], `Expected actions of different names, got a second "${action.name}".`);
      seenActions.add(action.name);
    });
  }
}

function checkMeetings(meetings: readonly CrewMeeting[], roles: readonly CrewRole[], causes: readonly string[], report: Report): void {
  const names = roles.map(({ name }) => name);
  const able = roles.filter(({ mode = "by_cause" }) => mode === "by_cause" || mode === "agent");
  meetings.forEach((meeting, nth) => {
    const path = ["meetings", nth];
    const seat = (given: string, ...at: (string | number)[]): void =>
      names.includes(given)
        ? checkKnown(report, [...path, ...at], "roles that react to causes, and agents", {
            given,
            known: able.map(({ name }) => name),
          })
        : checkKnown(report, [...path, ...at], "roles of the crew", { given, known: names });
    seat(meeting.moderator, "moderator");
    meeting.participants.forEach((given, index) => seat(given, "participants", index));
    if (meeting.participants.every((name) => name === meeting.moderator))
      report([...path, "participants"], "Expected a participant beside the moderator, got none.");
    const least = attendants(meeting).length;
    if (meeting.calls !== undefined && meeting.calls < least)
      report([...path, "calls"], `Expected at least ${least} calls, one of each who attends, got ${meeting.calls}.`);
    if (causes.filter((name) => name === meeting.name).length > 1)
      report([...path, "name"], `Expected a name that no action, role or other meeting has, got "${meeting.name}".`);
    meetingCauses(meeting).forEach((given, index) =>
      checkKnown(report, [...path, "on", ...(typeof meeting.on === "string" ? [] : [index])], "a cause that somebody of the crew has", {
        given,
        known: causes,
      }),
    );
  });
}

function checkProcess(process: CrewProcess, { roles = [], meetings = [] }: CrewSpec, causes: readonly string[], report: Report): void {
  const { lead, backlog, stages, batch } = process;
  const at = (...path: (string | number)[]): (string | number)[] => ["process", ...path];
  const reacting = roles.filter((role) => modeOf(role) === "by_cause").map(({ name }) => name);
  checkKnown(report, at("lead"), "a role that reacts to causes, and is no agent", { given: lead, known: reacting });
  if (worksIn(process, lead)) report(at("lead"), `Expected a lead that does no stage, but ${lead} does one.`);
  const listing = roles.flatMap(({ actions = [] }) => actions).filter(({ output = {} }) => Object.values(output).some(isList));
  checkKnown(report, at("backlog"), "an action whose output has a list", { given: backlog, known: listing.map(({ name }) => name) });
  const known = stages.map(({ name }) => name);
  stages.forEach(({ name, by, back = name, together, other }, nth) => {
    const path = (...rest: (string | number)[]): (string | number)[] => at("stages", nth, ...rest);
    const earlier = known.slice(0, nth + 1);
    if (known.indexOf(name) < nth) report(path("name"), `Expected stages of different names, got a second "${name}".`);
    by.forEach((given, index) => checkKnown(report, path("by", index), "a role", { given, known: roles.map((role) => role.name) }));
    checkKnown(report, path("back"), "a stage that is not later", { given: back, known: earlier });
    if (together > by.length) report(path("together"), `Expected at most ${by.length}, the roles of the stage, got ${together}.`);
    const builders = stages.find((stage) => stage.name === back);
    const outside = by.filter((given) => builders?.by.includes(given) !== true);
    if (other && outside.length === 0 && by.length <= (builders?.together ?? 0))
      report(path("by"), `Expected a role that has not built the item, got none: nobody can leave the stage ${name}.`);
  });
  for (const [key, called] of [["before", batch?.name] as const, ["after", batch?.name && `${batch.name} ended`] as const]) {
    const given = batch?.[key];
    if (given === undefined) continue;
    checkKnown(report, at("batch", key), "a meeting or an action", { given, known: causes });
    const starts = [
      ...meetings.flatMap((meeting) => (meeting.name === given ? meetingCauses(meeting) : [])),
      ...roles.flatMap((role) => (role.actions ?? []).flatMap((action) => (action.name === given ? causesOf(action, role) : []))),
    ];
    if (called === undefined || !starts.includes(called))
      report(
        at("batch", key),
        `Expected ${given} to begin on the message of the batch, "${called ?? "<name of the batch>"}": nobody would leave the batch.`,
      );
  }
}

/** Returns the field of an action's output that is a list. */
export function listOf({ roles = [] }: CrewSpec, action: string): string {
  const { output = {} } = roles.flatMap(({ actions = [] }) => actions).find(({ name }) => name === action) ?? {};
  return Object.entries(output).find(([, field]) => isList(field))?.[0] ?? "";
}

function isList(field: CrewField): boolean {
  return Array.isArray(field) || (typeof field === "object" && "kind" in field && Array.isArray(field.kind));
}

function checkRole(role: CrewRole, path: readonly (string | number)[], crew: CrewSpec, report: Report): void {
  const { board, process } = crew;
  const mode = modeOf(role);
  const { actions = [], tools: named = [], allow = [], checks, human, isolation } = role;
  const ofTasks = typeof board === "object" ? Object.keys(board.checks ?? {}) : [];
  if (isolation !== undefined && mode !== "agent")
    report([...path, "isolation"], `Expected a role in a fork of its own to be of mode agent, got ${mode}.`);
  else if (isolation !== undefined && checks === undefined && ofTasks.length === 0)
    report([...path, "isolation"], "Expected checks of the role, or of the board, for its fork: nothing is merged without a green check.");
  if (mode !== "agent" && (named.length > 0 || checks !== undefined))
    report([...path, "mode"], `Expected a role with tools or checks to be of mode agent, got ${mode}.`);
  if (mode === "agent" && human !== true && actions.length > 1)
    report([...path, "actions"], "Expected at most one action of an agent: it names its message and gives its form.");
  if (mode === "agent" && actions.length > 0 && worksIn(process, role.name))
    report([...path, "actions"], "Expected no action of an agent that works in the process, which gives it one.");
  if (mode !== "agent" && actions.length === 0 && !hasSeat(role.name, crew))
    report([...path, "actions"], `Expected a role of mode ${mode} to have actions, got none.`);
  allow.forEach((given, index) =>
    checkKnown(report, [...path, "allow", index], "allow to name tools of the role", { given, known: named }),
  );
  actions.forEach((action, index) => checkAction(action, mode, [...path, "actions", index], report));
}

function checkAction(action: CrewAction, mode: string, path: readonly (string | number)[], report: Report): void {
  const { prompt, endsWhen = {}, output, needs, on, escalate, limit } = action;
  if (mode === "agent") {
    for (const [member, value] of Object.entries({ prompt, needs, on })) {
      if (value !== undefined)
        report(
          [...path, member],
          `Expected no ${member} in an agent's action: the agent works on its news. Write instructions for the role.`,
        );
    }
  } else if (mode !== "by_cause" && on !== undefined) {
    report([...path, "on"], `Expected on in mode by_cause, got it in mode ${mode}.`);
  }
  for (const [given, one] of Object.entries(output ?? {})) {
    const isBoth = typeof one === "object" && !Array.isArray(one) && "oneOf" in one && "kind" in one;
    if (isBoth) report([...path, "output", given], "Expected a field to have kind or oneOf, got both.");
  }
  const known = Object.keys(output ?? {});
  for (const given of Object.keys(endsWhen))
    checkKnown(report, [...path, "endsWhen", given], "endsWhen to name fields of the output", { given, known, isKey: true });
  for (const given of Object.keys(escalate?.when ?? {}))
    checkKnown(report, [...path, "escalate", "when", given], "when to name fields of the output", { given, known, isKey: true });
  if (escalate !== undefined && escalate.when === undefined && limit === undefined)
    report([...path, "escalate"], "Expected escalate to have when, or its action a limit, got neither.");
}

function checkCauses(
  { role, path }: PlacedRole,
  causes: readonly string[],
  { roles, views }: { readonly roles: readonly CrewRole[]; readonly views: readonly string[] },
  report: Report,
): void {
  const cause = (given: string, at: readonly (string | number)[]): void =>
    checkKnown(report, [...path, ...at], "a cause that somebody of the crew has", { given, known: causes });
  (role.watch ?? []).forEach((given, index) => cause(given, ["watch", index]));
  const addresses = roles.flatMap(({ name: own, profile = "" }) => [own, profile]).filter((one) => one !== "");
  for (const [nth, action] of (role.actions ?? []).entries()) {
    const at = ["actions", nth];
    const { on, needs = [], sendTo = [], prompt = "", escalate } = action;
    if (typeof on === "string") cause(on, [...at, "on"]);
    else (on ?? []).forEach((given, index) => cause(given, [...at, "on", index]));
    needs.forEach((given, index) => cause(given, [...at, "needs", index]));
    for (const { cause: given, field: wanted } of templateNames(prompt)) {
      if (given !== "text" && !views.includes(given)) cause(given, [...at, "prompt"]);
      const maker = roles.flatMap(({ actions = [] }) => actions).find((one) => one.name === given);
      const known = Object.keys(maker?.output ?? {});
      if (wanted !== undefined && maker !== undefined && !known.includes(wanted))
        report([...path, ...at, "prompt"], `Expected {{${given}.${wanted}}} to name a field of ${given}.`, { given: wanted, known });
    }
    const recipients = (where: readonly string[], given: readonly string[]): void =>
      given.forEach((one, index) => {
        if (one === "<self>") return;
        checkKnown(report, [...path, ...at, ...where, index], `${where[0]} to name roles or profiles`, { given: one, known: addresses });
      });
    recipients(["sendTo"], sendTo);
    recipients(["escalate", "to"], escalate?.to ?? []);
  }
}
