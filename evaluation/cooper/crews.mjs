/**
 * Crews with a model for a pair of features: one agent alone, two that exchange plans, two of whom the second keeps the checks of the first, and
 * two with a board, notes and an integrator. All get the same words, tools and money. No prompt has anything of the hidden tests.
 */
import { defineAction, defineRole, TroupeError } from "../../dist/src/index.js";
import * as tools from "../../dist/src/tools/index.js";
import { commitFiles, compareFork, mergeFork, openFork, updateFork } from "../../dist/src/workspace/index.js";
import { joined, joinedBy, treesOf } from "./integrate.mjs";

const STEPS = 80;
const FORKS = ["feature-a", "feature-b"];
const NAMES = ["Ada", "Bea"];
/** What a role that gave up, or has no money left, leaves behind is handed on. */
const UNFINISHED = new Set(["AGENT_UNFINISHED", "AGENT_GAVE_UP", "AGENT_REPLY_UNUSABLE", "BUDGET_SHARE", "OUTPUT_INVALID"]);

const WORK = `Change the source files of the repository that your tools show. Read what you need first. Write tests of your own for what you build, in the file named below: they are the check that stays. Tests that are there already stay green. Change one of them only where a feature asks for other than it expects. The end is the tool done: it runs the checks, and refuses the end while one fails.`;

/** The file of the check that a feature leaves, and the commands that run it, the checks before it, and the tests that are there. */
export function checksOf({ task }, numbers) {
  if (task.runner.kind === "go")
    return {
      files: numbers.map((number) => `feature_${number}_test.go`),
      commands: [["env", "GOFLAGS=-mod=mod", "GOPROXY=off", "go", "test", "./..."]],
    };
  const files = numbers.map((number) => `tests/test_feature_${number}.py`);
  const python = ["env", "PYTHONPATH=src:.", "PYTHONDONTWRITEBYTECODE=1", "python3", "-m", "pytest", "-q", "-p", "no:cacheprovider"];
  return { files, commands: [...files.map((file) => [...python, file]), [...python, ...task.runner.files]] };
}

function orderOf({ pair }, numbers) {
  const { files, commands } = checksOf(pair, numbers);
  const features = pair.features.filter(({ number }) => numbers.includes(number));
  const words = features.map((feature) => `# Feature ${feature.number}\n\n${feature.words().trim()}`).join("\n\n");
  return `${words}\n\n# Work\n\n${WORK}\n\nYour tests: ${files.join(", ")}\nThe checks: ${commands.map((command) => command.join(" ")).join("; ")}`;
}

/** A role whose agent works in a folder. It ends with a message in any case. */
function worker(crew, { name, cause, watch, place, numbers, share, more = [], task, then = async () => undefined, idle = () => false }) {
  const machine = { workspace: place, sandbox: crew.sandbox };
  const own = [
    tools.writeFilesTool({ workspace: place }),
    tools.editorTool({ workspace: place }),
    tools.readFilesTool({ workspace: place }),
    tools.fileSearchTool({ workspace: place }),
    tools.shellTool(machine),
    tools.checkedDoneTool({ ...machine, checks: checksOf(crew.pair, numbers).commands }),
    ...more,
  ];
  const permissions = { rules: own.map((tool) => ({ tool: tool.name, decide: "allow" })) };
  const action = defineAction({ name: cause, run: () => undefined });
  const roleOf = (react) =>
    defineRole({
      ...{ name, profile: "Engineer", goal: "build what is asked so that its tests pass", actions: [action], tools: own },
      ...(watch === undefined ? {} : { watch }),
      ...{ reactMode: "agent", maxReactLoop: STEPS, budgetShare: share, ...react },
      agent: { permissions, terminate: false, task },
    });
  const agent = roleOf({});
  const react = async (rc) => {
    if (idle(rc)) return rc.message("There is nothing to do for me.", { causeBy: cause });
    let message;
    try {
      message = await agent.react(rc);
    } catch (error) {
      if (!TroupeError.isInstance(error) || !UNFINISHED.has(error.code)) throw error;
      message = rc.message(`I have stopped before the end: ${error.message}`, { causeBy: cause, instructContent: { isDone: false } });
    }
    await then(rc);
    return message;
  };
  return roleOf({ react });
}

const commit = (rc, feature) => ({ message: `Add feature ${feature}`, author: rc.name, date: rc.now() });
const committed = (crew, feature) => (rc) => commitFiles(rc.steps, crew.project.workspace, commit(rc, feature));
const texts = (news) => news.map(({ sentFrom, content }) => `${sentFrom === "user" ? "" : `${sentFrom}: `}${content}`).join("\n\n");

/** One agent builds both features. */
function solo(crew) {
  const numbers = crew.pair.features.map(({ number }) => number);
  const task = () => orderOf(crew, numbers);
  return [
    worker(crew, {
      name: "Ada",
      cause: "Build",
      place: crew.project.workspace,
      numbers,
      share: 1,
      task,
      then: committed(crew, numbers.join(" and ")),
    }),
  ];
}

/** The second builds on the work of the first, and may not end while a check of the first fails. */
function handoff(crew) {
  const [one, other] = crew.pair.features.map(({ number }) => number);
  const place = crew.project.workspace;
  const first = worker(crew, {
    name: NAMES[0],
    cause: "Build1",
    place,
    numbers: [one],
    share: 0.5,
    task: () => orderOf(crew, [one]),
    then: committed(crew, one),
  });
  const kept = checksOf(crew.pair, [one]).files.join(", ");
  const task = (news) =>
    `${orderOf(crew, [other])}\n\nYour colleague has built feature ${one} before you. Its check ${kept} stays, and stays green.\n\n${texts(news)}`;
  return [
    first,
    worker(crew, {
      name: NAMES[1],
      cause: "Build2",
      watch: ["Build1"],
      place,
      numbers: [one, other],
      share: 1,
      task,
      then: committed(crew, other),
    }),
  ];
}

/** Says why a workspace is not green by the checks that the crew has, as a recorded step; undefined where it is. */
function redBy(rc, { pair, sandbox }) {
  const { commands } = checksOf(
    pair,
    pair.features.map(({ number }) => number),
  );
  return async ({ root }) => {
    for (const command of commands) {
      const said = await rc.step(
        "run checks",
        { command },
        async ({ signal }) => {
          const ended = await sandbox.run({ root, command, signal, timeout: 180_000 });
          return ended.kind === "exited" && ended.code === 0
            ? null
            : `${command.join(" ")}: ${(ended.stdout ?? "").trim().slice(-1_500)}${(ended.stderr ?? "").trim().slice(-500)}`;
        },
        { fresh: true },
      );
      if (said !== null) return said;
    }
    return undefined;
  };
}

/**
 * Merges two forks: by the ways of ways.mjs, with the crew's own checks as the judge, or as the benchmark merges two agents, by git, else by a
 * union that nobody checks. @returns the way, or why none was found
 */
async function merged(rc, crew, { byWays }) {
  const { project, pair, digest } = crew;
  const [one, other] = pair.features.map(({ number }) => number);
  const changes = [];
  for (const fork of FORKS) changes.push((await compareFork(rc.steps, project, fork)).changes ?? []);
  const trees = () => treesOf(project, changes);
  await mergeFork(rc.steps, project, FORKS[0], commit(rc, one));
  const fork = await openFork(rc.steps, project, FORKS[1]);
  const { conflicts } = await updateFork(rc.steps, project, FORKS[1]);
  const fits = conflicts.length === 0;
  const given = { fork, trees, fits, red: redBy(rc, crew) };
  const { way, tries } = byWays ? await joined(rc, crew, given) : { way: fits ? "three-way merge" : "union of lines, 1 first", tries: [] };
  // Whoever repairs it begins with both changes in the files.
  if (way === undefined) await joinedBy(rc, { way: "union of hunks, 1 first", fork, trees, digest });
  if (!byWays && !fits) await joinedBy(rc, { way, fork, trees, digest });
  if (way !== undefined) await mergeFork(rc.steps, project, FORKS[1], commit(rc, other));
  return { way, why: [`conflict in ${conflicts.join(", ")}`, ...reasonsOf(tries)].join("\n") };
}

/** Ways that fail by the same words are named together, because a model pays for each of them. */
function reasonsOf(tries) {
  const ways = new Map();
  for (const { way, why } of tries) ways.set(why, [...(ways.get(why) ?? []), way]);
  return [...ways].map(([why, names]) => `${names.join(", ")}: ${why}`);
}

/** @param given `share` of the money that is spent when an engineer asks: both spend out of it */
function inForks(crew, { watch, more, order, share }) {
  return crew.pair.features.map(({ number }, n) => {
    const place = crew.project.forks.workspace(FORKS[n]);
    return worker(crew, {
      name: NAMES[n],
      cause: `Build${n + 1}`,
      watch,
      place,
      numbers: [number],
      share,
      more,
      task: (news) => `${orderOf(crew, [number])}${order(n, news)}`,
    });
  });
}

/** Opens the forks of all, without a model, and puts the tasks on a board if there is one. */
function opener(crew, { watch, tasks } = {}) {
  const open = defineAction({
    name: "Open",
    run: async (ctx) => {
      for (const fork of FORKS) await openFork(ctx.steps, crew.project, fork);
      await tasks?.at(ctx).add(...crew.pair.features.map(({ number }) => ({ title: `Build feature ${number}` })));
      return watch === undefined ? "The copies of the repository are ready." : ctx.text;
    },
  });
  return defineRole({
    name: "Olga",
    profile: "Keeper",
    goal: "open copies of the repository",
    actions: [open],
    ...(watch === undefined ? {} : { watch }),
  });
}

/** Two agents work side by side. Each sends a plan before, and reads that of the other. They are merged as the benchmark merges. */
function two(crew) {
  const plans = crew.pair.features.map((feature, n) => {
    const prompt = () =>
      `# Feature ${feature.number}\n\n${feature.words().trim()}\n\nYou build this feature, and your colleague ${NAMES[1 - n]} builds another one in the same repository at the same time. Git will merge both. Write ${NAMES[1 - n]} at most 150 words: which files, functions and lines you change, and how you avoid a conflict.`;
    return defineAction({ name: `Plan${n + 1}`, prompt });
  });
  const planners = plans.map((plan, n) =>
    defineRole({ name: `${NAMES[n]} plans`, profile: "Engineer", goal: "agree with a colleague", actions: [plan] }),
  );
  const ready = defineAction({
    name: "Agree",
    needs: plans,
    run: (ctx) => ctx.inputs.map(({ content }, n) => `${NAMES[n]} writes: ${content}`).join("\n\n"),
  });
  const agreed = defineRole({ name: "Mail", profile: "Post", goal: "bring messages", reactions: [{ on: plans, do: ready }] });
  const order = (n, news) =>
    `\n\nYour colleague ${NAMES[1 - n]} builds another feature in a copy of the repository at the same time, and git merges both. Your messages:\n\n${texts(news)}`;
  const engineers = inForks(crew, { watch: ["Open"], order, more: [], share: 1 });
  return [...planners, agreed, opener(crew, { watch: ["Agree"] }), ...engineers, merger(crew, { byWays: false })];
}

function merger(crew, { byWays }) {
  const on = ["Build1", "Build2"];
  const merge = defineAction({
    name: "Merge",
    needs: on,
    run: async (ctx) => {
      const { way, why } = await merged(ctx, crew, { byWays });
      return ctx.message(way === undefined ? `The work does not fit together.\n${why}` : `Merged by ${way}.`, {
        instructContent: { isDone: way !== undefined },
      });
    },
  });
  return defineRole({ name: "Ivo", profile: "Integrator", goal: "merge what is green", reactions: [{ on, do: merge }] });
}

/** Two agents side by side with a board and notes; an integrator merges what is green, and resolves what no way makes green. */
function board(crew) {
  const tasks = tools.board();
  const shared = [tasks, tools.notes()];
  const order = (n) =>
    `\n\nYour colleague ${NAMES[1 - n]} builds feature ${crew.pair.features[1 - n].number} in a copy of the repository at the same time. Claim your task on the board, and leave in the notes which functions you change and how. Read the notes before you change what both need. An integrator merges both.`;
  const numbers = crew.pair.features.map(({ number }) => number);
  const engineers = inForks(crew, { watch: ["Open"], more: shared, order, share: 0.85 });
  const task = (news) =>
    `${orderOf(crew, numbers)}\n\nBoth features are built, but they do not fit together yet. Your files are the work on feature ${numbers[1]}, with that on feature ${numbers[0]} merged into it as far as it fits. Make both features work in it, and call done.\n\n${texts(news)}`;
  const then = async (rc) => {
    await mergeFork(rc.steps, crew.project, FORKS[1], commit(rc, numbers[1]));
  };
  const idle = (rc) => rc.news.every(({ instructContent }) => instructContent?.isDone === true);
  const place = crew.project.forks.workspace(FORKS[1]);
  const repair = worker(crew, {
    name: "Ines",
    cause: "Repair",
    watch: ["Merge"],
    place,
    numbers,
    share: 1,
    more: shared,
    task,
    then,
    idle,
  });
  return [opener(crew, { tasks }), ...engineers, merger(crew, { byWays: true }), repair];
}

/** The crews by their names. Each takes `pair`, `project`, `sandbox` and `digest`, and gives roles. */
export const CREWS = { solo, two, handoff, board };
