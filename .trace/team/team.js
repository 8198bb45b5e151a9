import { recordedBy, recordedScheduler, schedulerOf } from "../runtime/schedulers/scheduler.js";
import { isObject } from "../kernel/value-kind.js";
import { checkKnownOptions } from "../kernel/known-options.js";
import { checkOptions, checkReuse, checkSeed, checkStopCondition, checkTeamMemory, checkWhole } from "../runtime/check-options.js";
import { systemClock } from "../kernel/clock.js";
import { UsageError } from "../kernel/errors.js";
import { freshRunId } from "../kernel/id.js";
import { maskSecrets } from "../kernel/mask.js";
import { freshSeed } from "../kernel/random.js";
import { UserRequirement } from "../message/address.js";
import { createMessage, isMessage, parseMessage } from "../message/message.js";
import { budgetPool, checkBudget, isBudgetPool } from "../model/budget-pool.js";
import { allLimits, sharedLimits } from "../model/limits.js";
import { rolesIn } from "../role/role-parts.js";
import { memoryJournal } from "../runtime/record/memory-journal.js";
import { boundsNow, changedBounds, crewOf } from "./bounds.js";
import { assertSameTeam, hiredBy, inOrderOf, teamDifferences } from "./crew.js";
import { drive, isFinished, rest } from "./drive.js";
import { answerTo, assertBegun, findQuestion, uncertainSteps } from "./going-on.js";
import { ideaDiffers, isSameIdea } from "./idea.js";
import { Roster } from "./roster.js";
import { Runs } from "./runs.js";
import { forkOptions, replayOptions, resumeOptions, runOptions, teamOptions } from "./team-options.js";
// ../../work/wt/lead/src/team/team.ts
/**
* A company: roles hired for a goal, a budget to spend, and a journal that keeps its runs. Defaults: no budget, a journal in memory, 100
* rounds of one run. `run`, `resume`, `fork` and `replay` return at once; what goes wrong in a run is in its result, see {@link
* RunResult}.
*
* @example
* import { defineAction, defineRole, Team, usd } from "troupe";
* import { scriptedModel } from "troupe/testing";
*
* const Greet = defineAction({ name: "Greet", prompt: (ctx) => `Greet ${ctx.text}.` });
* const host = defineRole({ name: "Hana", actions: [Greet] });
* const team = new Team({ roles: [host], model: scriptedModel(["Welcome, Ada!"]), budget: usd(1) });
* const { status, output, cost } = await team.run("Ada").result;
* console.log(status, output?.content, cost.known); // finished Welcome, Ada! 0
*/
var Team = class {
	name;
	#options;
	#journal;
	#roster = new Roster();
	#runs;
	#mask;
	#limits;
	/** Bounds each run alone, and is recorded with it. */
	#budget;
	/** Bounds all runs together. */
	#pool;
	/** @throws UsageError `OPTION_INVALID`, `SCHEDULER_UNKNOWN`, and what {@link Team.hire} throws */
	constructor(options = {}) {globalThis.__t?.("team/team.js#constructor@2670");
		checkKnownOptions("new Team", options, teamOptions);
		checkOptions(options);
		checkTeamMemory(options.memory);
		const { roles = [], name = "team", budget, journal = memoryJournal() } = options;
		checkBudget(budget, "OPTION_INVALID");
		if (options.poisonAfter !== void 0) checkWhole(options.poisonAfter, "poisonAfter", 1);
		this.name = name;
		this.#options = options;
		this.#journal = journal;
		this.#mask = maskSecrets(options.secrets ?? []);
		this.#runs = new Runs(journal, this.#mask);
		this.#limits = sharedLimits(options.limits);
		if (isBudgetPool(budget)) this.#pool = budget;
		else if (budget !== void 0) this.invest(budget);
		for (const role of rolesIn(roles)) this.#roster.hire(role);
	}
	hire(...given) {globalThis.__t?.("team/team.js#hire@3404");
		const [first, second] = given;
		const alias = given.length === 2 && isAlias(second) ? second.name : void 0;
		for (const role of alias === void 0 ? given : [first]) this.#roster.hire(role, alias);
		return this;
	}
	/**
	* Raises or lowers what all runs of the team may spend together, in micro-dollars: to this amount in all, what was spent included. Of a
	* pool that the team was given it sets the amount.
	*
	* @throws UsageError `OPTION_INVALID`, also for a pool whose amount is kept elsewhere
	*/
	invest(budget) {globalThis.__t?.("team/team.js#invest@3930");
		checkWhole(budget, "budget in micro-dollars", 0);
		if (!isBudgetPool(this.#options.budget)) this.#budget = budget;
		if (this.#pool === void 0) this.#pool = budgetPool(budget, { name: `budget of ${this.name}` });
		else investIn(this.#pool, budget);
		return this;
	}
	get roleNames() {globalThis.__t?.("team/team.js#roleNames get@4226");
		return this.#roster.names;
	}
	/** The journal the team's runs are kept in. */
	get journal() {globalThis.__t?.("team/team.js#journal get@4324");
		return this.#journal;
	}
	/**
	* Starts a run for an idea; with the id of a run that the journal has, that run goes on, or starts if it had not begun. Who is hired
	* and what is invested later counts for later runs. A run that is under way is given as it is. With another idea than the run's, which
	* is one that differs in more than id and time, the run fails by a JournalError `RUN_IDEA_DIFFERS`, and the record stays as it is.
	*
	* @throws UsageError `OPTION_INVALID`, `MESSAGE_INVALID`
	*/
	run(idea, o = {}) {globalThis.__t?.("team/team.js#run@4832");
		checkKnownOptions("run of a team", o, runOptions);
		const said = this.#idea(idea);
		const crew = this.#crew(o);
		this.#assertHired();
		const id = this.#id(o.id);
		const work = async (controls) => {globalThis.__t?.("team/team.js#work@5032");
			await this.#runs.create(id, o.id !== void 0);
			return this.#runs.owning(id, async (epoch) => {globalThis.__t?.("team/team.js#anonymous@5135");
				const { state, idea: known } = await this.#runs.read(id, controls.signal);
				if (known !== void 0 && !isSameIdea(known, said, this.#mask)) throw ideaDiffers(id);
				const going = {
					controls,
					crew,
					state,
					epoch,
					o
				};
				return state.seq === 0 ? this.#start(going, said, o.about) : this.#goOn({
					...going,
					idea: said
				});
			});
		};
		return this.#runs.launch(id, o.signal, work, said);
	}
	/**
	* Goes on with a run of the journal: what has ended is not done again, and no recorded call is paid again. A run that is under way is
	* given as it is.
	*
	* @throws UsageError `OPTION_INVALID`
	*/
	resume(runId, o = {}) {globalThis.__t?.("team/team.js#resume@5804");
		checkKnownOptions("resume", o, resumeOptions);
		const crew = this.#crew(o);
		return this.#runs.launch(runId, o.signal, (controls) => (globalThis.__t?.("team/team.js#anonymous@5945"),(this.#runs.owning(runId, async (epoch) => {globalThis.__t?.("team/team.js#anonymous@5984");
			const { state } = await this.#runs.read(runId, controls.signal);
			return this.#goOn({
				controls,
				crew,
				state,
				epoch,
				o
			});
		}))));
	}
	/**
	* Answers a question to a person and goes on with the run that waits for it. Resolves when the answer is recorded.
	*
	* @param questionId as `RunResult.questions` and the `waiting` error tell it, or its first letters
	* @throws UsageError `OPTION_INVALID` when the answer is no text or the run is under way
	* @throws JournalError `RUN_UNKNOWN`, `RUN_OWNED`, `QUESTION_UNKNOWN`, `QUESTION_ANSWERED`, `TEAM_CHANGED`
	*/
	async answer(runId, questionId, text, o = {}) {globalThis.__t?.("team/team.js#answer@6602");
		checkKnownOptions("answer", o, resumeOptions);
		if (typeof text !== "string") throw new UsageError("OPTION_INVALID", `Expected an answer as text, got ${typeof text}.`);
		if (this.#runs.isUnderWay(runId)) throw new UsageError("OPTION_INVALID", `Expected a run that waits, but ${runId} is under way. Answer when it has ended as waiting.`);
		const crew = this.#crew(o);
		let begin = () => {globalThis.__t?.("team/team.js#begin@7024");};
		const beginning = new Promise((resolve) => (globalThis.__t?.("team/team.js#beginning@7066"),(begin = () => (globalThis.__t?.("team/team.js#anonymous@7087"),(resolve(void 0))))));
		const run = this.#runs.launch(runId, o.signal, (given) => (globalThis.__t?.("team/team.js#run@7160"),(this.#runs.owning(runId, async (epoch) => {globalThis.__t?.("team/team.js#anonymous@7196");
			const { state } = await this.#runs.read(runId, given.signal);
			const question = await findQuestion(this.#journal, state, questionId, given.signal);
			const started = () => {globalThis.__t?.("team/team.js#started@7387");
				given.started();
				begin();
			};
			const answer = answerTo(question, this.#mask(text), this.#now());
			return this.#goOn({
				controls: {
					...given,
					started
				},
				crew,
				state,
				epoch,
				o,
				first: [answer]
			});
		}))));
		const early = await Promise.race([beginning, run.result]);
		if (early?.error !== void 0) throw early.error;
		return run;
	}
	/**
	* A new run that shares the past of another up to an event, and pays only for what that one cannot answer. Roles may have changed, and
	* so may messages that nobody has read by then; workspaces and stores of the parent must not be given to it.
	*
	* @throws UsageError `OPTION_INVALID`, `MESSAGE_INVALID`
	*/
	fork(parentId, o = {}) {globalThis.__t?.("team/team.js#fork@8100");
		checkKnownOptions("fork", o, forkOptions);
		const { change: changes = [], add = [] } = o;
		const crew = this.#crew(o);
		checkSeed(o.seed);
		const seed = o.seed === void 0 ? void 0 : String(o.seed);
		const id = this.#id(o.id);
		const at = o.at ?? (changes.length > 0 ? Math.max(...changes.map(({ seq }) => (globalThis.__t?.("team/team.js#at@8421"),(seq)))) : void 0);
		const said = add.map((message) => (globalThis.__t?.("team/team.js#said@8474"),(typeof message === "string" ? message : parsedMessage(message))));
		return this.#runs.begin(id, o.signal, async (controls) => {globalThis.__t?.("team/team.js#anonymous@8592");
			await this.#runs.create(id, false);
			return this.#runs.owning(id, async (epoch) => {globalThis.__t?.("team/team.js#anonymous@8685");
				const { signal } = controls;
				const parts = {
					journal: this.#journal,
					parentId,
					runId: id,
					epoch,
					crew,
					at,
					changes,
					seed,
					about: o.about,
					mask: this.#mask,
					signal
				};
				const { copyPast } = await copying();
				const { state, bounds, ...past } = await copyPast(parts).then((copy) => ((globalThis.__t?.("team/team.js#anonymous@9045"),({
					...copy,
					bounds: boundsNow(copy.state, o, this.#options)
				})))).catch(async (error) => {globalThis.__t?.("team/team.js#anonymous@9139");
					await this.#journal.remove(id);
					throw error;
				});
				const hired = {
					...crewOf(crew, bounds),
					roles: inOrderOf(state, crew)
				};
				const opening = {
					type: "run.resumed",
					uncertain: [],
					forked: true,
					...o.reuse === "none" ? { afresh: true } : {},
					...boundsIn(state, bounds, hired)
				};
				return this.#drive({
					controls,
					crew: hired,
					state,
					epoch,
					stopWhen: bounds.stopWhen,
					opening: [opening],
					said,
					...o.reuse === "none" ? {} : past
				});
			});
		});
	}
	/**
	* Lets a run of the journal happen again from its record alone, and tells the first difference: `result.error` is a DifferenceError
	* then. No model is called and nobody is asked. Steps marked `again` do run: give roles of a replay a workspace of its own.
	*/
	replay(runId, o = {}) {globalThis.__t?.("team/team.js#replay@9985");
		checkKnownOptions("replay", o, replayOptions);
		const crew = this.#crew({});
		const scratch = memoryJournal({ events: Number.MAX_SAFE_INTEGER });
		const parts = {
			options: this.#options,
			journal: this.#journal,
			scratch,
			mask: this.#mask,
			crew
		};
		return this.#runs.handle(runId, scratch, o.signal, async (controls) => {globalThis.__t?.("team/team.js#anonymous@10324");
			const { replayRun } = await import("./replay-run.js");
			return replayRun({
				...parts,
				controls
			});
		});
	}
	#start(going, idea, about) {globalThis.__t?.("team/team.js#start@10476");
		const { state, o } = going;
		const scheduler = schedulerOf(this.#options.scheduler ?? "rounds");
		state.scheduler = scheduler.name;
		state.parameters = scheduler.parameters ?? null;
		state.delivery = scheduler.delivery;
		state.seed = String(this.#options.seed ?? freshSeed());
		const bounds = boundsNow(state, o, this.#options);
		const { recorded, stopWhen } = bounds;
		const crew = crewOf(going.crew, bounds);
		const { budget } = crew;
		const opening = {
			type: "run.started",
			team: this.name,
			roles: hiredBy(crew),
			seed: state.seed,
			...recordedScheduler(scheduler),
			bounds: recorded,
			...budget === void 0 ? {} : { budget },
			...about === void 0 ? {} : { about }
		};
		return this.#drive({
			...going,
			crew,
			stopWhen,
			opening: [opening],
			said: [idea]
		});
	}
	async #goOn(going) {globalThis.__t?.("team/team.js#goOn@11320");
		const { state, controls, o, idea, first = [] } = going;
		assertBegun(state, idea !== void 0);
		if (o.force !== true) assertSameTeam(state, going.crew);
		if (isFinished(state)) {
			controls.started();
			return rest({
				...going,
				options: this.#options,
				journal: this.#journal,
				mask: this.#mask
			});
		}
		recordedBy(state, this.#options.scheduler);
		const bounds = boundsNow(state, o, this.#options);
		const crew = crewOf(going.crew, bounds);
		const isSameTeam = teamDifferences(state.team, crew).length === 0;
		const opening = {
			type: "run.resumed",
			uncertain: uncertainSteps(state),
			...boundsIn(state, bounds, crew),
			...isSameTeam ? {} : { roles: hiredBy(crew) },
			...o.reuse === "none" ? { afresh: true } : {}
		};
		const { parent, isAfresh } = state;
		const past = parent === void 0 || isAfresh ? {} : await (await copying()).recalledPast(this.#journal, state, parent, controls.signal);
		const said = state.outside === 0 && idea !== void 0 ? [idea] : [];
		const hired = {
			...crew,
			roles: inOrderOf(state, crew)
		};
		return this.#drive({
			...going,
			crew: hired,
			stopWhen: bounds.stopWhen,
			opening: [...first, opening],
			said,
			...past
		});
	}
	#drive(parts) {globalThis.__t?.("team/team.js#drive@12551");
		return drive({
			...parts,
			options: this.#options,
			journal: this.#journal,
			mask: this.#mask
		});
	}
	#crew({ rounds, stopWhen, reuse, budget, limits }) {globalThis.__t?.("team/team.js#crew@12680");
		if (rounds !== void 0) checkWhole(rounds, "rounds", 0);
		checkStopCondition(stopWhen ?? void 0);
		checkReuse(reuse);
		checkBudget(budget, "OPTION_INVALID");
		return {
			roles: this.#roster.roles,
			budget: this.#budget,
			pools: [isBudgetPool(budget) ? budget : void 0, this.#pool].filter((pool) => (globalThis.__t?.("team/team.js#pools@13026"),(pool !== void 0))),
			limits: allLimits(sharedLimits(limits), this.#limits)
		};
	}
	#assertHired() {globalThis.__t?.("team/team.js#assertHired@13132");
		if (this.#roster.names.length > 0) return;
		throw new UsageError("ROLES_NONE", "Expected a team with roles, got none: nobody would hear the idea. Hire some: new Team({ roles: [role] }).");
	}
	#id(given) {globalThis.__t?.("team/team.js#id@13336");
		if (given === "") throw new UsageError("OPTION_INVALID", "Expected the id of a run, got an empty one.");
		return given ?? freshRunId(this.#now());
	}
	#idea(idea) {globalThis.__t?.("team/team.js#idea@13505");
		if (typeof idea !== "string") return parsedMessage(idea);
		return createMessage(idea, {
			id: "user#1",
			causeBy: UserRequirement,
			timestamp: this.#now()
		});
	}
	#now() {globalThis.__t?.("team/team.js#now@13691");
		return (this.#options.clock ?? systemClock).now();
	}
};
/** @throws UsageError `OPTION_INVALID` */
function investIn(pool, amount) {globalThis.__t?.("team/team.js#investIn@13798");
	if (pool.invest !== void 0) return pool.invest(amount);
	throw new UsageError("OPTION_INVALID", `Expected a pool whose amount can be set here, got ${pool.id}. Set it where it is kept.`);
}
/** Most programs never fork. */
function copying() {globalThis.__t?.("team/team.js#copying@14055");
	return import("./copy-past.js");
}
/** The budget from here on, and the bounds that are others, as an event tells them. */
function boundsIn({ bounds: before }, now, { budget }) {globalThis.__t?.("team/team.js#boundsIn@14200");
	const bounds = changedBounds(before, now);
	return {
		...budget === void 0 ? {} : { budget },
		...bounds === void 0 ? {} : { bounds }
	};
}
function isAlias(given) {globalThis.__t?.("team/team.js#isAlias@14400");
	return isObject(given) && "name" in given && !("react" in given);
}
function parsedMessage(message) {globalThis.__t?.("team/team.js#parsedMessage@14495");
	return isMessage(message) && Object.isFrozen(message) ? message : parseMessage(message);
}
export { Team };
