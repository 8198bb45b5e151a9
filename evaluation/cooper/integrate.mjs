/** A crew without a model: two roles apply the benchmark's own changes in forks, and a third integrates them. Tests alone decide. */
import { defineAction, defineRole } from "../../dist/src/index.js";
import { compareFork, mergeFork, openFork, removeFork, updateFork } from "../../dist/src/workspace/index.js";
import { atBase, patchedFiles } from "./project.mjs";
import { conflictOf, tried, WAYS } from "./ways.mjs";

const FORKS = ["feature-a", "feature-b"];
const NAMES = ["Ada", "Bea"];

/** Writes files into a fork, as a step that a resumed run repeats. @returns what `make` says of them */
function written(ctx, name, request, { fork, make }) {
  const effect = async ({ mode }) => {
    // A replay has the answer, and perhaps not the repository.
    if (mode !== "live") return null;
    const { files = [], ...said } = make();
    for (const { path, content } of files) await (content === null ? fork.remove(path) : fork.write(path, content));
    return said;
  };
  return ctx.step(name, request, effect, { again: true });
}

function judged(ctx, { root }, { feature, pair, judge }) {
  const effect = ({ signal }) => judge.judge(root, { feature, task: pair.task, signal });
  return ctx.step("run tests", { feature: feature.number }, effect, { fresh: true });
}

/** The first red verdict on a workspace, or undefined where the tests of both features are green. */
async function redIn(ctx, workspace, crew) {
  for (const feature of crew.pair.features) {
    const { isGreen, why } = await judged(ctx, workspace, { ...crew, feature });
    if (!isGreen) return `feature ${feature.number} ${why}`;
  }
  return undefined;
}

function builder(n, crew) {
  const { project, pair } = crew;
  const feature = pair.features[n];
  const build = defineAction({
    name: `Build${n + 1}`,
    async run(ctx) {
      const fork = await openFork(ctx.steps, project, FORKS[n]);
      const make = () => ({ files: patchedFiles(project, feature.patch()) });
      await written(ctx, "apply change", { feature: feature.number }, { fork, make });
      const { isGreen, why } = await judged(ctx, fork, { ...crew, feature });
      const says = `Feature ${feature.number} is ${isGreen ? "ready: its tests are green" : `not ready: ${why}`}.`;
      return ctx.message(says, { instructContent: { feature: feature.number, isGreen, why } });
    },
  });
  return { build, role: defineRole({ name: NAMES[n], profile: "Engineer", goal: `build feature ${feature.number}`, actions: [build] }) };
}

/** The three trees of a pair, in the paths that one of the changes touches. What is no text is left to git. */
export function treesOf(project, given) {
  const changes = given.map((own) => own.filter(({ content }) => content === null || typeof content === "string"));
  const paths = [...new Set(changes.flatMap((one) => one.map(({ path }) => path)))];
  const base = new Map(paths.map((path) => [path, atBase(project, path)]));
  const [one, other] = changes.map((own) => new Map([...base, ...own.map(({ path, content }) => [path, content ?? undefined])]));
  return { base, one, other };
}

const filesOf = (tree) => [...tree].map(([path, content]) => ({ path, content: content ?? null }));

/** Writes the result of a way into a fork, as a step. @returns the digest of it as `content`, or `conflict` */
export function joinedBy(ctx, { way, fork, trees, digest }) {
  const { joins } = WAYS.find((one) => one.way === way);
  const make = () => {
    const { tree, conflict } = tried(joins, trees());
    return conflict === undefined ? { files: filesOf(tree), content: digest(filesOf(tree)) } : { conflict };
  };
  return written(ctx, "join changes", { way }, { fork, make });
}

/**
 * Tries the ways on a fork until it is green.
 *
 * @param given `fork`, `trees` (a function), `fits`: the fork is a three-way merge without a conflict, and `red`, which says why a fork is not green
 * @returns `{ way, tries }`
 */
export async function joined(ctx, { digest }, { fork, trees, fits, red }) {
  const tries = [];
  const isGreenBy = async (way) => {
    const why = await red(fork);
    if (why !== undefined) tries.push({ way, why });
    return why === undefined;
  };
  if (fits && (await isGreenBy("three-way merge"))) return { way: "three-way merge", tries };
  const seen = new Set();
  for (const { way } of WAYS) {
    const { conflict, content } = await joinedBy(ctx, { way, fork, trees, digest });
    if (conflict !== undefined) tries.push({ way, why: conflict });
    if (conflict !== undefined || seen.has(content)) continue;
    seen.add(content);
    if (await isGreenBy(way)) return { way, tries };
  }
  return { tries };
}

/** Names the conflicting hunk, and the failing test of the way that came nearest. */
function evidenceOf(hunk, tries) {
  const nearest = tries.findLast(({ why }) => why.includes(" fails: ")) ?? tries.at(-1);
  return [...(hunk === null ? [] : [`conflict in ${hunk}`]), ...(nearest === undefined ? [] : [`${nearest.way}: ${nearest.why}`])].join(
    "; ",
  );
}

async function integrated(ctx, crew, reports) {
  const { project, pair } = crew;
  const refused = (evidence, more = {}) => ({ outcome: "refused", evidence, ...more });
  const compared = [];
  for (const fork of FORKS) compared.push(await compareFork(ctx.steps, project, fork));
  const left = compared.flatMap((one) => (one.kind === "conflict" ? one.paths : (one.left ?? [])));
  if (left.length > 0) return refused(`cannot be brought into the project: ${left.join(", ")}`);
  const changes = compared.map((one) => one.changes);
  const trees = () => treesOf(project, changes);
  const hunk = await ctx.step("find conflict", {}, async () => conflictOf(trees()) ?? null, { fresh: true });
  const git = hunk === null ? "merges" : "conflicts";
  const alone = reports.filter(({ isGreen }) => !isGreen).map(({ feature, why }) => `feature ${feature} alone ${why}`);
  if (alone.length > 0) return refused(alone.join("; "), { git, hunk });
  const commit = (feature) => ({ message: `Add feature ${feature.number}`, author: ctx.name, date: ctx.now() });
  await mergeFork(ctx.steps, project, FORKS[0], commit(pair.features[0]));
  const fork = await openFork(ctx.steps, project, FORKS[1]);
  const { conflicts } = await updateFork(ctx.steps, project, FORKS[1]);
  const { way, tries } = await joined(ctx, crew, { fork, trees, fits: conflicts.length === 0, red: (one) => redIn(ctx, one, crew) });
  if (way === undefined) return refused(evidenceOf(hunk, tries), { git, hunk, tries });
  await mergeFork(ctx.steps, project, FORKS[1], commit(pair.features[1]));
  // What is called done is the project itself, not a fork of it.
  const red = await redIn(ctx, project.workspace, crew);
  if (red !== undefined) return refused(`the merged project: ${red}`, { git, hunk, tries });
  return {
    outcome: "integrated",
    way,
    git,
    hunk,
    tries,
    evidence: `the tests of features ${pair.features.map(({ number }) => number).join(" and ")} are green`,
  };
}

/**
 * The roles that integrate the benchmark's own changes of a pair.
 *
 * @param crew `pair`, `project` (see project.mjs), `judge` and `digest`, which names the contents of files
 */
export function integrationCrew(crew) {
  const builders = [0, 1].map((n) => builder(n, crew));
  const on = builders.map(({ build }) => build);
  const integrate = defineAction({
    name: "Integrate",
    needs: on,
    async run(ctx) {
      const reports = ctx.inputs.map(({ instructContent }) => instructContent);
      const result = await integrated(ctx, crew, reports);
      for (const fork of FORKS) await removeFork(ctx.steps, crew.project, fork);
      return ctx.message(`${result.outcome}${result.way === undefined ? "" : ` by ${result.way}`}: ${result.evidence}`, {
        instructContent: result,
      });
    },
  });
  const integrator = defineRole({ name: "Ivo", profile: "Integrator", goal: "merge what is green", reactions: [{ on, do: integrate }] });
  return [...builders.map(({ role }) => role), integrator];
}
