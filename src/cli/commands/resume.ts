import { throwIfAborted } from "../../kernel/abort.ts";
import { AbortedError, UsageError } from "../../kernel/errors.ts";
import { type Json, parsedJson } from "../../kernel/json.ts";
import { masked, maskSecrets } from "../../kernel/mask.ts";
import { giveCommand, isUnowned } from "../../fleet/remote-runs.ts";
import { createMessage, type Message } from "../../message/message.ts";
import type { MicroUsd } from "../../model/money.ts";
import { pendingQuestions } from "../../runtime/record/questions.ts";
import { signalMessage } from "../../runtime/record/signals.ts";
import { isFinished, type RunState } from "../../runtime/record/run-state.ts";
import { publishing, type RunCommand } from "../../team/publishing.ts";
import { answerTo, findQuestion } from "../../team/resume.ts";
import type { Run } from "../../team/run.ts";
import type { ResumeOptions } from "../../team/team-options.ts";
import { Team } from "../../team/team.ts";
import { fileWorkspace } from "../../workspace/file-workspace.ts";
import { assertUnchanged, changesSince } from "../../workspace/recorded-files.ts";
import { aboutOf, type RunAbout } from "../about.ts";
import { changesProject, crewOf, provesProduct, recordedParts, workerOf } from "../company.ts";
import { assertSameModule, NO_PORTS, outputOf } from "../crew-file.ts";
import { errorReport } from "../error-report.ts";
import type { ExitCode } from "../errors.ts";
import { canAsk, folderName, type Host, secretsIn } from "../host.ts";
import { refuseFixed } from "../option-values.ts";
import type { Flags } from "../options.ts";
import { earlierRounds, produce } from "../production.ts";
import { agrees, askPerson } from "../prompt.ts";
import {
  chosenQuestion,
  idList,
  isOwned,
  type LoadedRun,
  loadRun,
  openWork,
  resultOf,
  shortIdIn,
  withHeldRun,
  withRun,
} from "../stored-run.ts";
import { nextSteps, resultReport } from "../report.ts";
import { printSummary } from "../screen/summary.ts";
import { shown } from "../screen/text.ts";
import { report, type Session } from "../session.ts";
import { assertOurs, type Store } from "../store.ts";
import { readText } from "../text-file.ts";

export function resume(session: Session, flags: Flags, id?: string): Promise<ExitCode> {
  refuseFixed(flags);
  return withHeldRun(session, flags, id, async (store, run) => {
    const { runId, state } = run;
    const open = isFinished(state) ? await openWork(state) : undefined;
    if (open !== undefined) {
      session.screen.say(session.screen.style.strong(`Continuing run ${shown(runId, 100)}, whose product is not done.`));
      const begin = (team: Team, o: ResumeOptions): Run => team.resume(runId, { ...o, add: [open] });
      return continueRun(session, { store, run, flags, hasMessage: true, begin });
    }
    if (isFinished(state)) return printFinished(session, store, run);
    session.screen.say(session.screen.style.strong(`Continuing run ${shown(runId, 100)}, ${endOf(state)}.`));
    // A run that was cut off before it had its idea gets it now.
    const idea = state.outside === 0 ? aboutOf(runId, state.about).idea : undefined;
    const begin = (team: Team, o: ResumeOptions): Run => (idea === undefined ? team.resume(runId, o) : team.run(idea, { id: runId, ...o }));
    return continueRun(session, { store, run, flags, begin });
  });
}

function endOf({ phase }: RunState): string {
  return phase.phase === "running" ? "which was cut off" : `which ended as "${phase.status}"`;
}

async function printFinished(session: Session, store: Store, { runId, state, held }: LoadedRun): Promise<ExitCode> {
  const { screen, host, interruptions } = session;
  const about = aboutOf(runId, state.about);
  screen.say(screen.style.strong(`Run ${shown(runId, 100)} is finished: nothing is left to do.`));
  const result = resultOf(state);
  const short = await shortIdIn(store.journal, runId);
  const finished = resultReport(result, {
    out: about.out,
    files: await fileWorkspace({ root: about.out, git: false }).list(),
    isScripted: about.demo !== undefined,
    by: workerOf(about),
    output: await outputOf(about.crew),
    proves: provesProduct(about),
    worstCase: held + result.uncertain,
    interruption: interruptions.first,
    describe: (error) => errorReport(error, host.env),
    store: store.path,
    next: nextSteps(result, { short, store, budget: state.budget, isForced: false }),
  });
  await printSummary(session, finished, {
    folder: folderName(host, about.out),
    run: short,
    roundLimit: Math.max(state.bounds.rounds ?? about.rounds, state.round),
    budget: state.budget,
    model: about.model as { readonly id: string },
  });
  return finished.exitCode;
}

interface Continuation {
  readonly store: Store;
  readonly run: LoadedRun;
  readonly flags: Flags;
  readonly hasMessage?: boolean;
  readonly begin: (team: Team, o: ResumeOptions) => Run;
}

async function continueRun(session: Session, { store, run, flags, begin, hasMessage = false }: Continuation): Promise<ExitCode> {
  const { reuse = "all", force = false } = flags;
  const { signal } = session.interruptions;
  const { about, settings, chosen, sandbox } = await recordedParts(session, store, run, flags, hasMessage);
  if (!force) await assertSameModule(session.host, about.crew);
  await confirmChanges(session, about, run, force);
  const budget = chosen.budget ?? (run.state.budget as MicroUsd | undefined);
  const { rounds } = settings;
  throwIfAborted(signal);
  return produce(session, {
    settings,
    chosen: { ...chosen, budget },
    sandbox,
    folder: about.out,
    store,
    runId: run.runId,
    past: { progress: run.progress, held: run.held, files: run.files, rounds: earlierRounds(run.state, hasMessage) },
    begin: ({ team }) => begin(team, { rounds, signal, onTeamChange: force ? "continue" : "refuse", reuse }),
  });
}

const NAMED = 50;

/** In a project of the user's nothing of theirs is written over: it is committed, elsewhere, or kept. */
async function confirmChanges(session: Session, about: RunAbout, { files, runId }: LoadedRun, isForced: boolean): Promise<void> {
  const { out, agent } = about;
  if (agent === undefined && changesProject(about.crew)) return;
  const all = await changesSince(files, fileWorkspace({ root: out, git: false }));
  // An agent works among files of others, and writes over none that it has not seen.
  const changes = agent === undefined ? all : all.filter(({ change }) => change !== "added");
  if (changes.length === 0) return;
  const { screen, host } = session;
  const lines = changes.slice(0, NAMED).map(({ path, change }) => `  ${change.padEnd(7)}  ${shown(path, 200)}`);
  const more = changes.length > NAMED ? [`  and ${changes.length - NAMED} more`] : [];
  screen.print([screen.style.warn("Since the run stopped, its folder has changed:"), ...lines, ...more], 4);
  if (isForced) return;
  if (!canAsk(host)) assertUnchanged(changes, out);
  if (await agrees(session, "Continue with them as they are? The company may write over them.")) return;
  throw new AbortedError(`run ${runId} was not resumed`);
}

export function answerQuestion(session: Session, flags: Flags, id: string, ...words: string[]): Promise<ExitCode> {
  refuseFixed(flags);
  let asked: Promise<Given> | undefined;
  // The person is asked once, although the run may change its owner meanwhile.
  const given = (store: Store, state: RunState): Promise<Given> => (asked ??= givenAnswer(session, store, state, words));
  return atRestOrOwned(
    () => withHeldRun(session, flags, id, async (store, run) => answerAtRest(session, store, run, flags, await given(store, run.state))),
    () =>
      withRun(session, flags, id, async (store, runId) => {
        const { question, answer } = await given(store, (await loadRun(store.journal, runId, session.interruptions)).state);
        const command = { do: "answer", question, answer: masked(maskSecrets(secretsIn(session.host.env)), answer) } as const;
        if ((await ownersAnswer(session, store, runId, command)) === undefined) return false;
        const text = `Run ${shown(runId, 100)}, which another process drives, has the answer and goes on.`;
        await report(session, text, { type: "answered", runId, question });
        return true;
      }),
  );
}

interface Given {
  readonly question: string;
  readonly answer: Json;
}

async function givenAnswer(session: Session, { journal }: Store, state: RunState, words: readonly string[]): Promise<Given> {
  const { host } = session;
  const { signal } = session.interruptions;
  const { question, text } = chosenQuestion(
    words,
    pendingQuestions(state).filter(({ wait }) => wait === undefined),
    state.runId,
    canAsk(host),
  );
  const found = await findQuestion(journal, state, question, signal);
  const answer = text === undefined ? await askPerson(session, found, signal) : await answerText(text, host);
  // Refused before anything else is asked or opened.
  answerTo(found, answer, { mask: (said) => said, now: host.clock.now() });
  return { question: found.id, answer };
}

function answerAtRest(session: Session, store: Store, run: LoadedRun, flags: Flags, { question, answer }: Given): Promise<ExitCode> {
  const { runId } = run;
  const begin = (team: Team, o: ResumeOptions): Run => {
    // The run's result reports a refusal too.
    team.answer(runId, question, answer, o).catch(() => {});
    // The run is in progress now, so this returns the same run before its first events.
    return team.resume(runId, o);
  };
  return continueRun(session, { store, run, flags, begin });
}

const MAX_TRIES = 3;

/** Works with a run at rest, or has the process that drives the run do the work. @param byOwner resolves with false if that has left the run */
async function atRestOrOwned(atRest: () => Promise<ExitCode>, byOwner: () => Promise<boolean>): Promise<ExitCode> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await atRest();
    } catch (error) {
      if (!isOwned(error) || tries === MAX_TRIES) throw error;
    }
    if (await byOwner()) return 0;
  }
}

/** Gives a command to the process that drives a run. Returns undefined if that has left the run, which is then at rest. */
function ownersAnswer({ interruptions: { signal } }: Session, { journal }: Store, runId: string, command: RunCommand): Promise<unknown> {
  return giveCommand(journal, runId, command, { signal }).catch((error: unknown) => {
    if (!isUnowned(error)) throw error;
  });
}

async function answerText(text: string, host: Host): Promise<string> {
  const answer = text === "-" ? (await readText(host, "-", "the answer")).replace(/\r?\n$/, "") : text;
  if (answer.trim() === "") throw new UsageError("ANSWER_MISSING", "Expected an answer, got an empty string.");
  return answer;
}

const NAMED_ROLES = 20;

export async function tell(session: Session, flags: Flags, id: string, ...words: string[]): Promise<ExitCode> {
  refuseFixed(flags);
  const text = await textOf(session.host, id, words, flags.file);
  let said: Message | undefined;
  return atRestOrOwned(
    () => tellAtRest(session, flags, id, said ?? text),
    () => {
      // The message has one id, so that no owner publishes it twice.
      said ??= createMessage(text, flags.to === undefined ? {} : { sendTo: flags.to });
      return tellOwner(session, flags, id, said);
    },
  );
}

function tellAtRest(session: Session, flags: Flags, id: string, said: Message | string): Promise<ExitCode> {
  const { screen } = session;
  return withHeldRun(session, flags, id, (store, run) => {
    const { runId, state } = run;
    const message = messageFor(state, said, flags.to);
    const text = shown(typeof said === "string" ? said : said.content, 200);
    screen.say(screen.style.strong(`Telling run ${shown(runId, 100)}, ${endOf(state)}: ${text}`));
    const begin = (team: Team, o: ResumeOptions): Run => {
      const resumed = team.resume(runId, { ...o, add: [message] });
      resumed.on("message", ({ to }) => {
        screen.say(to.length > 0 ? screen.style.faint(`It goes to ${idList([...to], NAMED_ROLES)}.`) : screen.style.warn(UNHEARD));
      });
      return resumed;
    };
    return continueRun(session, { store, run, flags, hasMessage: true, begin });
  });
}

export async function sendSignal(session: Session, flags: Flags, id: string, name: string, json = "null"): Promise<ExitCode> {
  refuseFixed(flags);
  const value = parsedJson(json) as Json | undefined;
  if (value === undefined)
    throw new UsageError(
      "SIGNAL_INVALID",
      `Expected the value of a signal as JSON, got ${shown(json, 200)}. Put a text in quotes: '"yes"'.`,
    );
  const message = signalMessage(name, value, { id: flags.id, now: session.host.clock.now() });
  const signalled = (runId: string, text: string): Promise<void> =>
    report(session, `Run ${shown(runId, 100)} ${text}`, { type: "signalled", runId, signal: name, id: message.id });
  return atRestOrOwned(
    () =>
      withHeldRun(session, flags, id, async (store, run) => {
        const team = await teamOf(session, store, run, flags);
        const { waits } = await team.send(run.runId, message, onChange(flags));
        if (waits) return continueRun(session, { store, run, flags, begin: (own, o) => own.resume(run.runId, o) });
        await signalled(run.runId, "keeps the signal until a role waits for it.");
        return 0;
      }),
    () =>
      withRun(session, flags, id, async (store, runId) => {
        const change = publishing(message);
        const answer = await ownersAnswer(session, store, runId, change.command(maskSecrets(secretsIn(session.host.env))));
        if (answer === undefined || change.result(answer).waits) return false;
        await signalled(runId, "has the signal; another process drives it.");
        return true;
      }),
  );
}

const UNHEARD = "No role hears it: none watches what a user says. Name one: --to <role>.";

function tellOwner(session: Session, flags: Flags, id: string, said: Message): Promise<boolean> {
  return withRun(session, flags, id, async (store, runId) => {
    const change = publishing(messageFor((await loadRun(store.journal, runId, session.interruptions)).state, said, flags.to));
    const answer = await ownersAnswer(session, store, runId, change.command(maskSecrets(secretsIn(session.host.env))));
    const receipt = answer === undefined ? undefined : change.result(answer);
    if (receipt === undefined || receipt.waits) return false;
    const { message, recipients } = receipt;
    const by = recipients.length > 0 ? `It goes to ${idList(recipients, NAMED_ROLES)}, at the next step.` : UNHEARD;
    const text = `Run ${shown(runId, 100)}, which another process drives, has received it. ${by}`;
    await report(session, text, { type: "told", runId, message: message.id, recipients });
    return true;
  });
}

async function textOf(host: Host, id: string, words: readonly string[], file: string | undefined): Promise<string> {
  const [word, ...others] = words;
  const command = `troupe tell ${shown(id, 60)}`;
  if (others.length > 0) {
    const whole = shown(words.join(" "), 200);
    throw new UsageError("TEXT_UNQUOTED", `Expected one text, got ${words.length} words. Put it in quotes: ${command} "${whole}"`);
  }
  if (word !== undefined && file !== undefined) {
    throw new UsageError("TEXT_TWICE", "Expected one text, got one on the command line and one by --file. Leave one out.");
  }
  const source = file ?? (word === "-" ? "-" : undefined);
  const text = (source === undefined ? (word ?? "") : await readText(host, source, "the text")).trim();
  if (text !== "") return text;
  throw new UsageError("TEXT_MISSING", `Expected a text to tell the run, got none. Say: ${command} "make the buttons larger"`);
}

function messageFor({ roles }: RunState, said: Message | string, to: string | undefined): Message | string {
  if (to === undefined) return said;
  if (roles.has(to)) return typeof said === "string" ? createMessage(said, { sendTo: to }) : said;
  const expected = `Expected the name of a role of the run, got --to ${shown(to, 60)}`;
  throw new UsageError("ROLE_UNKNOWN", `${expected}. There are: ${idList([...roles.keys()], NAMED_ROLES)}.`);
}

export function hire(session: Session, flags: Flags, id: string, role: string): Promise<void> {
  const { as: name = role } = flags;
  return withHeldRun(session, flags, id, async (store, run) => {
    const { runId } = run;
    const team = await crewTeam(session, store, run, flags);
    await team.hireInto(runId, role, { name, ...onChange(flags) });
    const shownId = shown(runId, 100);
    const hired = `Hired ${shown(role, 60)} into run ${shownId}${name === role ? "" : ` as ${shown(name, 60)}`}`;
    const text = `${hired}. It hears what is said from now on. Continue the run: troupe tell ${shownId} "..."`;
    await report(session, text, { type: "hired", runId, role, name });
  });
}

export function retire(session: Session, flags: Flags, id: string, name: string): Promise<void> {
  return withHeldRun(session, flags, id, async (store, run) => {
    const { runId } = run;
    const team = await crewTeam(session, store, run, flags);
    await team.retireFrom(runId, name, onChange(flags));
    const text = `Retired ${shown(name, 60)} from run ${shown(runId, 100)}. Its unread messages are dead letters.`;
    await report(session, text, { type: "retired", runId, name });
  });
}

/** Lets a person take a role, or gives it back, also in a run that another process drives. */
export function take(session: Session, flags: Flags, id: string, name: string, back?: string): Promise<void> {
  return withRun(session, flags, id, async (store, runId) => {
    const team = await teamOf(session, store, await loadRun(store.journal, runId, session.interruptions), flags);
    const [o, { by }, isBack] = [onChange(flags), flags, back !== undefined];
    await (isBack ? team.giveBackRole(runId, name, o) : team.takeRole(runId, name, by === undefined ? o : { ...o, by }));
    const text = isBack ? "Its model is asked again" : "What it asks its model is a question to a person now";
    await report(session, `${shown(name, 60)}: ${text}.`, { type: isBack ? "given back" : "taken", runId, name });
  });
}

export function giveBack(session: Session, flags: Flags, id: string, name: string): Promise<void> {
  return take(session, flags, id, name, "back");
}

function onChange({ force }: Flags): { readonly onTeamChange: "continue" | "refuse" } {
  return { onTeamChange: force === true ? "continue" : "refuse" };
}

async function crewTeam(session: Session, store: Store, run: LoadedRun, flags: Flags): Promise<Team> {
  const { runId, state } = run;
  if (aboutOf(runId, state.about).agent === undefined) return teamOf(session, store, run, flags);
  throw new UsageError("CREW_UNKNOWN", `Expected a run of a crew, but ${shown(runId, 100)} is one of troupe agent, which works alone.`);
}

async function teamOf({ host }: Session, store: Store, { runId, state }: LoadedRun, { force }: Flags): Promise<Team> {
  const about = aboutOf(runId, state.about);
  await assertOurs(store, runId, about, force === true);
  if (force !== true) await assertSameModule(host, about.crew);
  const { mcpTools = [] } = about.agent ?? {};
  const more = mcpTools.length === 0 ? [] : (await import("../mcp.ts")).replayTools(mcpTools);
  const { name, roles, reserve = [] } = await crewOf(about, { ...NO_PORTS, more });
  return new Team({ name, roles, reserve, journal: store.journal });
}
