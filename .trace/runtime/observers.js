import { isThenable } from "../kernel/value-kind.js";
import { isOutput } from "./record/delivery.js";
import { freezeObserved } from "./record/frozen-event.js";
import { maskedError } from "./record/masking.js";
import { EventEmitter } from "eventemitter3";
// ../../work/wt/lead/src/runtime/observers.ts
/** The observers of a run by the type of event or notice that they observe. A run has them before it has an environment. */
var ObserverRegistry = class {
	#emitter = new EventEmitter();
	observes(type) {globalThis.__t?.("runtime/observers.js#observes@503");
		return this.#emitter.listenerCount(type) > 0;
	}
	/** Calls `observer` for every event or notice of a type; the returned function unsubscribes it. */
	on(type, observer) {globalThis.__t?.("runtime/observers.js#on@667");
		this.#emitter.on(type, observer);
		return () => (globalThis.__t?.("runtime/observers.js#anonymous@731"),(void this.#emitter.off(type, observer)));
	}
	/** The observers of a type now. What one of them returns may be a promise that fails. */
	of(type) {globalThis.__t?.("runtime/observers.js#of@874");
		return this.#emitter.listeners(type);
	}
};
/**
* Tells the logger and the observers of an environment what happens in it. It owns of which full mailboxes it has warned.
*
* Announcer.A1 (`#call`) an observer that fails is logged, and the run and the other observers go on. Announcer.A2 (`tell`) what is told is
* frozen, so that no observer can change the run. Announcer.A3 (`telling`) nothing is made to be told while nobody observes it.
*/
var Announcer = class {
	observers;
	#logger;
	#mask;
	/** Roles whose full mailboxes were warned of. */
	#dropping = /* @__PURE__ */ new Set();
	constructor({ observers, logger, mask }) {globalThis.__t?.("runtime/observers.js#constructor@1485");
		this.observers = observers;
		this.#logger = logger;
		this.#mask = mask;
	}
	telling = (type) => (globalThis.__t?.("runtime/observers.js#telling@1607"),(this.observers.observes(type) ? this.tell : void 0));
	tell = (observed) => {globalThis.__t?.("runtime/observers.js#tell@1677");
		const observers = this.observers.of(observed.type);
		if (observers.length > 0) freezeObserved(observed);
		for (const observer of observers) this.#call(observer, observed);
	};
	warn(role, text) {globalThis.__t?.("runtime/observers.js#warn@1878");
		this.#logger.warn(text);
		this.telling("warning")?.({
			type: "warning",
			...role === void 0 ? {} : { role },
			text
		});
	}
	/** Tells of a message of a role: that it is an output, or that one of its addresses is nobody's. */
	said({ message, to, dead }) {globalThis.__t?.("runtime/observers.js#said@2133");
		this.#tellDead(message, dead);
		if (isOutput(message, to)) this.telling("message.output")?.({
			type: "message.output",
			message
		});
	}
	/** Tells of a message from outside. Somebody should hear it. */
	saidOutside({ message, to, dead }) {globalThis.__t?.("runtime/observers.js#saidOutside@2381");
		this.#tellDead(message, dead);
		if (!isOutput(message, to)) return;
		this.#logger.warn(`Nobody hears message ${message.id}, caused by ${message.causeBy}: no role watches it.`);
		this.telling("message.unheard")?.({
			type: "message.unheard",
			message
		});
	}
	/** Tells that a full mailbox dropped a message. The first one of a role is warned of. */
	dropped(role, message) {globalThis.__t?.("runtime/observers.js#dropped@2773");
		if (!this.#dropping.has(role)) {
			this.#dropping.add(role);
			this.warn(role, `The mailbox of ${role} is full: message ${message.id} and others that have waited longest are dropped unread.`);
		}
		this.telling("message.dropped")?.({
			type: "message.dropped",
			message,
			role
		});
	}
	gaveUp(role, error) {globalThis.__t?.("runtime/observers.js#gaveUp@3094");
		this.warn(role, `${role} failed and its messages became dead letters: ${maskedError(this.#mask, error).message}`);
	}
	#tellDead(message, dead = []) {globalThis.__t?.("runtime/observers.js#tellDead@3240");
		for (const address of dead) {
			this.warn(message.sentFrom, `Nobody has the address "${address}": message ${message.id} is a dead letter.`);
			this.telling("message.dead")?.({
				type: "message.dead",
				message,
				address
			});
		}
	}
	#call(observer, observed) {globalThis.__t?.("runtime/observers.js#call@3514");
		const failed = (error) => (globalThis.__t?.("runtime/observers.js#failed@3554"),(this.#logger.error(`A listener of ${observed.type} failed: ${maskedError(this.#mask, error).message}`)));
		try {
			const returned = observer(observed);
			if (isThenable(returned)) Promise.resolve(returned).catch(failed);
		} catch (error) {
			failed(error);
		}
	}
};
export { Announcer, ObserverRegistry };
