import { onAbort, throwIfAborted, untilAborted } from "../kernel/abort.js";
import { systemClock } from "../kernel/clock.js";
import { AbortedError } from "../kernel/errors.js";
import { freshStepKey } from "../kernel/id.js";
import { checkGivenOptions, checkKnownOptions } from "../kernel/known-options.js";
import { cancellationOf } from "../kernel/cancellation.js";
import { directSteps } from "../kernel/step.js";
import { PoolSpender, budgetPool, isBudgetPool } from "../model/budget-pool.js";
import { outputSchema } from "../model/json-schema.js";
import { allLimits, sharedLimits } from "../model/limits.js";
import { readReply } from "../model/structured-output.js";
import { checkToolChoice } from "../tool/call-options.js";
import { closeOpenCalls } from "./agent-memory.js";
import { brainOptions, checkBrainLimits } from "./brain-options.js";
import { Compaction } from "./compaction.js";
import "./lifecycle.js";
import { ModelClient, jitter } from "./model-client.js";
import { react } from "./nets/react.js";
import { RunTally } from "./run-tally.js";
import { StepContext } from "./step-context.js";
// ../../work/wt/lead/src/agent/brain.ts
const brainRunOptions = {
	signal: true,
	tell: true
};
/**
* Runs a net over a memory: it decides which state comes next, counts steps, streams the text, and stops. It holds nothing of a run:
* one brain may think over many memories at once.
*
* `Brain.B1` after `maxSteps` steps no further one begins; a run may finish on the last one (`BrainRun.#enter`). `Brain.B2` a memory that
* is done is not worked on (`BrainRun.#next`).
*/
var Brain = class {
	net;
	maxSteps;
	#options;
	#pool;
	#limits;
	#compaction;
	/** Models that are known to take no pictures. */
	#blind = /* @__PURE__ */ new WeakSet();
	/** @throws UsageError `AGENT_INVALID` for limits under which nothing could be done. */
	constructor(options) {globalThis.__t?.("agent/brain.js#constructor@1864");
		checkGivenOptions("new Brain", options, brainOptions);
		checkBrainLimits(options);
		this.#options = options;
		this.net = options.net ?? react();
		const { maxSteps = 30, budget, limits, calls, name = "agent" } = options;
		this.maxSteps = maxSteps;
		this.#pool = budget === void 0 || isBudgetPool(budget) ? budget : budgetPool(budget, { name: `budget of ${name}` });
		this.#limits = allLimits(sharedLimits(limits), calls?.limits);
	}
	/**
	* Works until the memory is done or the steps are used up, and streams the text. Goes on with work that the memory holds.
	*
	* @throws ControlError when the signal aborts. @throws ModelError, OutputError, and any error of a state of the net.
	*/
	run(memory, o = {}) {globalThis.__t?.("agent/brain.js#run@2574");
		return this.begin(memory, o).pieces;
	}
	/** Like {@link run}, as an object that also tells what was used so far. */
	begin(memory, o = {}) {globalThis.__t?.("agent/brain.js#begin@2718");
		checkKnownOptions("run of a brain", o, brainRunOptions);
		const { toolChoice = "auto", output, steps } = this.#options;
		const spender = this.#pool && new PoolSpender(this.#pool, `agent ${freshStepKey()}`);
		const span = new RunSpan(o.signal, steps === void 0, () => (globalThis.__t?.("agent/brain.js#span@3003"),(spender?.close())));
		const context = this.#context(memory, span.signal, o.tell ?? (() => {globalThis.__t?.("agent/brain.js#context@3092");}), spender);
		return new BrainRun({
			net: this.net,
			memory,
			context,
			span,
			maxSteps: this.maxSteps,
			output,
			toolChoice,
			tell: o.tell
		});
	}
	#context(memory, signal, tell, spender) {globalThis.__t?.("agent/brain.js#context@3275");
		const { model, systemPrompt, calls, tokenLimit, clock = systemClock } = this.#options;
		const steps = this.#options.steps ?? directSteps(signal, spender && (() => (globalThis.__t?.("agent/brain.js#steps@3469"),(spender.attempts(cancellationOf(signal))))));
		const requirePrice = spender !== void 0 && this.#pool?.isBinding !== false;
		const policy = {
			random: jitter(),
			requirePrice,
			...calls,
			clock,
			limits: this.#limits
		};
		this.#compaction ??= new Compaction(this.#options.compaction);
		const parts = {
			model,
			steps,
			policy,
			systemPrompt,
			memory,
			signal,
			tell,
			compaction: this.#compaction
		};
		const client = new ModelClient({
			...parts,
			blind: this.#blind,
			tally: new RunTally(tokenLimit),
			step: () => (globalThis.__t?.("agent/brain.js#step@4021"),(context.step))
		});
		const context = new StepContext({
			options: this.#options,
			memory,
			client,
			steps,
			signal,
			clock,
			tell
		});
		return context;
	}
};
const TYPED_ANSWER = "Give your answer to the task once more, whole, in the form that is asked for here. Add nothing that you have not found, and leave nothing out.";
/**
* One run of a brain over one memory. It owns where the run stands in the net.
*
* `BrainRun.R1` nothing happens before the first piece is asked for, and nothing further until the next one is (`#run`). `BrainRun.R2` a
* reader waits for a piece no longer than the signal allows, whatever a state waits for; a state that answers later changes nothing and is
* not asked again (`#run`, `#next`). `BrainRun.R3` at the end, whatever it is, the tools that ran are closed once (`#run`).
*/
var BrainRun = class {
	#parts;
	#progress = { at: "start" };
	/** A state that belongs to the step before it may follow, but not two in a row. */
	#mayJoin = true;
	#pieces;
	constructor(parts) {globalThis.__t?.("agent/brain.js#constructor@5042");
		this.#parts = parts;
	}
	/** The text of the run, piece by piece. */
	get pieces() {globalThis.__t?.("agent/brain.js#pieces get@5134");
		this.#pieces ??= this.#run();
		return this.#pieces;
	}
	/** Tokens used so far, rejected replies included. */
	usage = () => (globalThis.__t?.("agent/brain.js#usage@5261"),(this.tally.usage));
	/** The sums of what was used and spent so far. @internal */
	get tally() {globalThis.__t?.("agent/brain.js#tally get@5357");
		return this.#parts.context.tally;
	}
	/** Calls denied so far. */
	denied = () => (globalThis.__t?.("agent/brain.js#denied@5440"),([...this.#parts.context.denied]));
	/** Runs to the end and passes each piece to `heard`. Use either this or {@link pieces}. */
	async through(heard) {globalThis.__t?.("agent/brain.js#through@5586");
		for (;;) {
			const piece = await this.pieces.next();
			if (piece.done === true) return piece.value;
			heard(piece.value);
		}
	}
	async *#run() {globalThis.__t?.("agent/brain.js#run@5742");
		const { span, context } = this.#parts;
		span.begin();
		try {
			for (;;) {
				const piece = await untilAborted(this.#next(), span.signal);
				if (this.#progress.at === "end") return this.#progress.end;
				yield piece;
			}
		} finally {
			this.#leave();
			span.end();
			await context.closeTools();
		}
	}
	/** The next piece of text; empty when the run has ended. */
	async #next() {globalThis.__t?.("agent/brain.js#next@6136");
		const { memory, context, span } = this.#parts;
		if (this.#progress.at === "start") this.#progress = {
			at: "between",
			next: await this.#start()
		};
		while (!memory.done) {
			throwIfAborted(span.signal);
			const working = this.#progress.at === "state" ? this.#progress : this.#enter();
			if (working === void 0) return this.#end("max_steps");
			const piece = await working.pieces.next();
			throwIfAborted(span.signal);
			if (piece.done !== true) return piece.value;
			this.#progress = {
				at: "between",
				next: working.name
			};
			if (memory.done) break;
			if (await context.isLooping()) return this.#end("loop");
			this.#progress = {
				at: "between",
				next: await working.state.nextState(memory)
			};
		}
		return this.#finish();
	}
	async #start() {globalThis.__t?.("agent/brain.js#start@6919");
		const { memory, net, toolChoice } = this.#parts;
		checkToolChoice(toolChoice, memory.tools);
		await closeOpenCalls(memory);
		return net.startOf(memory);
	}
	/** Begins the next state; undefined when no step is left for it. */
	#enter() {globalThis.__t?.("agent/brain.js#enter@7162");
		const { net, memory, context, maxSteps, tell } = this.#parts;
		if (this.#progress.at !== "between") return void 0;
		const { next: name } = this.#progress;
		const state = net.state(name);
		const joins = this.#mayJoin && state.sameStep === true;
		this.#mayJoin = !joins;
		if (!joins) {
			if (context.step === maxSteps) return void 0;
			context.step++;
			tell?.({
				type: "step.started",
				step: context.step,
				maxSteps,
				state: name
			});
		}
		const working = {
			at: "state",
			name,
			state,
			pieces: state.run(memory, context)[Symbol.asyncIterator]()
		};
		this.#progress = working;
		return working;
	}
	async #finish() {globalThis.__t?.("agent/brain.js#finish@7815");
		const { output, memory } = this.#parts;
		if (output === void 0 || memory.answer?.status !== "success") return this.#end("finished");
		return this.#end("finished", { output: await this.#typed(output, memory.answer.text) });
	}
	/** @throws OutputError `OUTPUT_INVALID` when the model's second reply does not fit either. */
	async #typed(schema, text) {globalThis.__t?.("agent/brain.js#typed@8159");
		const read = readReply(text, schema, outputSchema(schema));
		return read.ok ? read.value : this.#parts.context.read(schema, { prompt: TYPED_ANSWER });
	}
	#end(status, typed = {}) {globalThis.__t?.("agent/brain.js#end@8338");
		this.#leave();
		this.#progress = {
			at: "end",
			end: {
				status,
				steps: this.#parts.context.step,
				...typed
			}
		};
		return "";
	}
	/** Lets go of the state at work, if there is one. */
	#leave() {globalThis.__t?.("agent/brain.js#leave@8573");
		if (this.#progress.at !== "state") return;
		const { pieces } = this.#progress;
		Promise.resolve(pieces.return?.()).then(void 0, () => {globalThis.__t?.("agent/brain.js#anonymous@8710");});
	}
};
const OVER = new AbortedError("the run of the agent is over");
/**
* The time of one run, and its signal. A run that records nothing has a signal of its own, which aborts when the run ends. What a role's
* `steps` wait for belongs to the role, and is suspended with it: there the signal is the given one.
*/
var RunSpan = class {
	signal;
	#outer;
	#own;
	#ended;
	#unlisten;
	constructor(outer, isOwn, ended) {globalThis.__t?.("agent/brain.js#constructor@9115");
		this.#outer = outer;
		this.#own = isOwn ? new AbortController() : void 0;
		this.signal = this.#own?.signal ?? AbortSignal.any(outer === void 0 ? [] : [outer]);
		this.#ended = ended;
	}
	begin() {globalThis.__t?.("agent/brain.js#begin@9335");
		const outer = this.#outer;
		const own = this.#own;
		if (outer === void 0 || own === void 0) return;
		if (outer.aborted) own.abort(outer.reason);
		this.#unlisten = onAbort(outer, () => (globalThis.__t?.("agent/brain.js#anonymous@9524"),(own.abort(outer.reason))));
	}
	end() {globalThis.__t?.("agent/brain.js#end@9563");
		this.#unlisten?.();
		this.#own?.abort(OVER);
		this.#ended();
	}
};
export { Brain, BrainRun };
