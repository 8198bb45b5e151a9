import { basename } from "node:path";
import { throwIfAborted } from "../../kernel/abort.ts";
import { JournalError, UsageError } from "../../kernel/errors.ts";
import { freshRunId } from "../../kernel/id.ts";
import type { Json } from "../../kernel/json.ts";
import { thrownText } from "../../kernel/value-text.ts";
import type { Message } from "../../message/message.ts";
import type { Action } from "../../role/action.ts";
import { roleSpec } from "../../role/role-spec.ts";
import type { RunEvent } from "../../runtime/record/event.ts";
import { type Journal, runInfo } from "../../runtime/record/journal.ts";
import type { RunState } from "../../runtime/record/run-state.ts";
import { assertUnread, changedMessage, type MessageChange } from "../../runtime/replay/fork-copy.ts";
import { restoreFiles } from "../../workspace/restore-files.ts";
import { aboutFor, aboutOf, readAbout, recordedSettings, type RunAbout, standingOf } from "../about.ts";
import { assertOwnProject, crewOf, sandboxFor, workerOf } from "../company.ts";
import { NO_PORTS } from "../crew-file.ts";
import type { ExitCode } from "../errors.ts";
import { folderName, type Host } from "../host.ts";
import { modelOfRecord } from "../model-choice.ts";
import { invalidOption } from "../option-values.ts";
import type { Flags } from "../options.ts";
import { inOutFolder } from "../out-folder.ts";
import { boundsOf, earlierRounds, produce, type Production, testsPlan } from "../production.ts";
import { confirmPaidRun } from "../prompt.ts";
import { shown } from "../screen/text.ts";
import type { Session } from "../session.ts";
import { companySettings, type CompanySettings } from "../settings.ts";
import { assertOurs, sealOf, type Store } from "../store.ts";
import { eventAt, loadRun, withRun } from "../stored-run.ts";
import { readText } from "../text-file.ts";

export function fork(session: Session, flags: Flags, id: string): Promise<ExitCode> {
  return withRun(session, flags, id, async (store, parentId) => forked(session, await planned(session, store, parentId, flags), flags));
}

type Fork = Awaited<ReturnType<typeof planned>>;

async function planned({ host, interruptions }: Session, store: Store, parentId: string, flags: Flags) {
  const { journal } = store;
  try {
    const request = await forkRequest(host, journal, parentId, flags);
    const parent = await loadRun(journal, parentId, { at: request.at, signal: interruptions.signal });
    return { store, parent, plan: await forkPlan(request, parent.state) };
  } catch (error) {
    const intact = intactIn(error);
    if (intact === undefined || intact < 2 || !(error instanceof JournalError)) throw error;
    const advice = `It can be forked where it is intact: --at ${intact - 1}, or before.`;
    throw new JournalError(error.code, `${error.message} ${advice}`, { data: error.data, cause: error });
  }
}

async function forked(session: Session, wanted: Fork, flags: Flags): Promise<ExitCode> {
  const { host, interruptions, screen } = session;
  const { store, parent, plan } = wanted;
  const about = aboutOf(parent.runId, parent.state.about);
  await assertOurs(store, parent.runId, about, flags.force === true);
  assertOwnProject(about);
  const { out, seed = about.seed } = companySettings(flags);
  const { reuse = "all" } = flags;
  const settings: CompanySettings = { ...recordedSettings(about, standingOf(parent.state, plan.add.length > 0), flags), out, seed };
  const chosen = await modelOfRecord(session, about, settings, flags);
  const sandbox = await sandboxFor(session, settings, chosen.isScripted);
  screen.say(screen.style.strong(`Forking run ${shown(parent.runId, 100)} at event ${plan.at}.`));
  const damage = await damageAfter(store.journal, parent.runId, plan.at, interruptions.signal);
  if (damage !== undefined) screen.print([screen.style.warn(damage)]);
  return inOutFolder({ cwd: host.cwd, out, name: basename(about.out), force: settings.force }, async (folder) => {
    if (chosen.isPaid && flags.yes !== true) {
      const bounds = { model: chosen.text, budget: chosen.budget, bounds: boundsOf(settings), tests: testsPlan(settings, sandbox) };
      const run = { idea: `fork of: ${about.idea}`, by: workerOf(settings), folder: folderName(host, folder) };
      await confirmPaidRun(session, { ...run, ...bounds });
    }
    throwIfAborted(interruptions.signal);
    return produce(session, await productionOf(session, wanted, { about, settings, chosen, sandbox, folder, reuse }));
  });
}

interface ForkCommandParts extends Pick<Production, "settings" | "chosen" | "sandbox" | "folder"> {
  readonly about: RunAbout;
  readonly reuse: "all" | "none";
}

async function productionOf({ host, interruptions }: Session, { store, parent, plan }: Fork, parts: ForkCommandParts): Promise<Production> {
  const { settings, reuse } = parts;
  const { signal } = interruptions;
  const runId = freshRunId(host.clock.now());
  const about = aboutFor({ ...parts, idea: parts.about.idea, version: host.version, seal: await sealOf(store, runId) });
  return {
    ...parts,
    store,
    runId,
    // The parent has paid for the shared part.
    past: {
      progress: { ...parent.progress, spent: 0, unpriced: 0, tokens: 0 },
      held: 0,
      files: undefined,
      rounds: earlierRounds(parent.state, plan.add.length > 0),
    },
    prepare: async ({ workspace }) => {
      await restoreFiles(workspace, store.journal.read(parent.runId, 0), { at: plan.at, signal });
    },
    begin: ({ team }) =>
      team.fork(parent.runId, {
        id: runId,
        at: plan.at,
        change: plan.changes,
        add: plan.add,
        about,
        rounds: settings.rounds,
        reuse,
        ...(settings.seed === undefined ? {} : { seed: settings.seed }),
        signal,
      }),
  };
}

interface WithEvent<T> {
  readonly wanted: T;
  readonly event: RunEvent;
}

async function forkRequest(host: Host, journal: Journal, runId: string, flags: Flags) {
  const info = await runInfo(journal, runId);
  const drops = (flags.drop ?? []).map(wantedDrop);
  const wanted = (flags.edit ?? []).map(wantedEdit);
  const last = Math.max(...[...drops, ...wanted].map(({ seq }) => seq));
  const at = flags.at === undefined ? (Number.isFinite(last) ? last : info.events - 1) : flags.at;
  const withEvent = async <T extends { readonly seq: number }>(one: T): Promise<WithEvent<T>> => {
    const event = one.seq > at ? undefined : await eventAt(journal, info, one.seq);
    if (event !== undefined) return { wanted: one, event };
    const id = shown(runId, 60);
    const expected = `Expected the number of an event that is shared with run ${id}, 0 to ${Math.min(at, info.events - 1)}`;
    throw new JournalError("FORK_POINT", `${expected}, got ${one.seq}. See them: troupe runs events ${id}`);
  };
  await withEvent({ seq: at });
  const edits: WithEvent<WantedEdit & { readonly text: string }>[] = [];
  for (const edit of wanted) edits.push(await withEvent({ ...edit, text: await readText(host, edit.file, "--edit") }));
  const add: string[] = [];
  for (const file of flags.add ?? []) add.push(await addedText(host, file));
  return { at, drops: await Promise.all(drops.map(withEvent)), edits, add };
}

async function addedText(host: Host, file: string): Promise<string> {
  const text = (await readText(host, file, "--add")).trim();
  if (text !== "") return text;
  throw new UsageError("OPTION_INVALID", `Expected a message in ${shown(file, 100)}, got an empty file.`);
}

/** The changes of messages, which no role may have read yet. */
async function forkPlan({ at, drops, edits, add }: Awaited<ReturnType<typeof forkRequest>>, state: RunState) {
  const actions = edits.length === 0 ? [] : await actionsOf(readAbout(state.about));
  const changes = [
    ...drops.map(({ wanted, event }) => ({ change: wanted, event })),
    ...edits.map(({ wanted, event }) => ({ change: editedMessage(wanted, wanted.text, event, actions), event })),
  ];
  for (const { change, event } of changes) assertUnread(change, changedMessage(event, change), state);
  return { at, add, changes: changes.map(({ change }) => change) };
}

async function actionsOf(about: RunAbout | undefined): Promise<readonly Action[]> {
  if (about === undefined || about.agent !== undefined) return [];
  const { roles } = await crewOf(about, NO_PORTS);
  return roles.flatMap((role) => roleSpec(role).actions);
}

export interface WantedEdit {
  readonly seq: number;
  readonly nth: number;
  readonly file: string;
}

/** `12=file`, or `12.1=file` for the second message of event 12. */
export function wantedEdit(text: string): WantedEdit {
  const [, seq, nth = "0", file] = /^(\d{1,10})(?:\.(\d{1,4}))?=(.+)$/s.exec(text) ?? [];
  if (seq !== undefined && file !== undefined) return { seq: Number(seq), nth: Number(nth), file };
  throw invalidOption("--edit", "the number of an event and a file, such as 12=idea.md", text);
}

/** `12`, or `12.1` for the second message of event 12. */
export function wantedDrop(text: string): MessageChange {
  const [, seq, nth = "0"] = /^(\d{1,10})(?:\.(\d{1,4}))?$/.exec(text) ?? [];
  if (seq !== undefined) return { seq: Number(seq), nth: Number(nth), drop: true };
  throw invalidOption("--drop", "the number of an event, such as 12", text);
}

/**
 * The change of a message to the text of a file. A message with data for programs is edited as that data, in JSON; its text follows from
 * it.
 */
export function editedMessage({ seq, nth, file }: WantedEdit, text: string, event: RunEvent, actions: readonly Action[]): MessageChange {
  const { message } = changedMessage(event, { seq, nth });
  if (message.instructContent === undefined) return { seq, nth, content: text.trim() };
  const action = actions.find(({ name }) => name === message.causeBy);
  const payload = parsedJson(text, file, message);
  if (action?.output === undefined) return { seq, nth, instructContent: payload };
  const parsed = action.output.safeParse(payload);
  if (!parsed.success) throw notData(file, message, parsed.error.message);
  return { seq, nth, instructContent: parsed.data, ...(action.render === undefined ? {} : { content: action.render(parsed.data) }) };
}

function parsedJson(text: string, file: string, message: Message): Json {
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    throw notData(file, message, thrownText(error));
  }
}

function notData(file: string, { causeBy }: Message, why: string): UsageError {
  const expected = `Expected ${shown(file, 100)} to hold the data of a message of ${shown(causeBy, 60)}, as JSON`;
  return new UsageError("EDIT_INVALID", `${expected}, but ${shown(why, 500)}. See it with: troupe runs events <id> --json`);
}

/** A warning when the parent's record is damaged after the shared events: a fork cannot reuse the answers there. */
async function damageAfter(journal: Journal, runId: string, at: number, signal: AbortSignal): Promise<string | undefined> {
  try {
    for await (const _event of journal.read(runId, at + 1)) if (signal.aborted) break;
    return undefined;
  } catch (error) {
    const intact = intactIn(error);
    if (intact === undefined) throw error;
    const lost = `Its record is damaged after event ${intact - 1}: the answers from there on are asked for and paid again.`;
    return `Of run ${shown(runId, 100)} not all can be read. ${lost}`;
  }
}

function intactIn(error: unknown): number | undefined {
  if (!(error instanceof JournalError && error.code === "JOURNAL_DAMAGED")) return undefined;
  const { intact } = (error.data ?? {}) as { readonly intact?: unknown };
  return typeof intact === "number" ? intact : undefined;
}
