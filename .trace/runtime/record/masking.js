import "../../kernel/errors.js";
import { errorRecord } from "../../kernel/troupe-error.js";
import { isList, isRecord } from "../../kernel/value-kind.js";
import { deepFreeze } from "../../kernel/json.js";
import { NO_METADATA } from "../../message/message.js";
// ../../work/wt/lead/src/runtime/record/masking.ts
/** A JSON value with every text in it masked, keys too. */
function masked(mask, value) {globalThis.__t?.("runtime/record/masking.js#masked@375");
	return maskedValue(mask, value);
}
/** The record of an error. */
function maskedError(mask, error) {globalThis.__t?.("runtime/record/masking.js#maskedError@473");
	return masked(mask, errorRecord(error));
}
function maskedMessage(mask, message) {globalThis.__t?.("runtime/record/masking.js#maskedMessage@553");
	const content = mask(message.content);
	const instructContent = message.instructContent === void 0 ? void 0 : masked(mask, message.instructContent);
	const metadata = message.metadata === NO_METADATA ? NO_METADATA : masked(mask, message.metadata);
	if (content === message.content && instructContent === message.instructContent && metadata === message.metadata) return message;
	return deepFreeze({
		...message,
		content,
		metadata,
		...instructContent === void 0 ? {} : { instructContent }
	});
}
function maskedBody(mask, body) {globalThis.__t?.("runtime/record/masking.js#maskedBody@1096");
	switch (body.type) {
		case "message": return maskedSent(mask, body);
		case "act.ended": return maskedEnd(mask, body);
		case "run.started": {
			const about = body.about === void 0 ? {} : { about: masked(mask, body.about) };
			return {
				...body,
				team: mask(body.team),
				roles: body.roles.map((role) => (globalThis.__t?.("runtime/record/masking.js#roles@1436"),(maskedRole(mask, role)))),
				...about
			};
		}
		case "run.resumed": return body.roles === void 0 ? body : {
			...body,
			roles: body.roles.map((role) => (globalThis.__t?.("runtime/record/masking.js#roles@1593"),(maskedRole(mask, role))))
		};
		default: return body;
	}
}
function maskedRole(mask, role) {globalThis.__t?.("runtime/record/masking.js#maskedRole@1661");
	const traits = masked(mask, role.traits);
	const state = masked(mask, role.state);
	return traits === role.traits && state === role.state ? role : {
		...role,
		traits,
		state
	};
}
/** The end of an activation without secrets. */
function maskedEnd(mask, event) {globalThis.__t?.("runtime/record/masking.js#maskedEnd@1929");
	const said = mapped(event.said, (sent) => (globalThis.__t?.("runtime/record/masking.js#said@1996"),(maskedSent(mask, sent))));
	const memory = mapped(event.memory, (op) => (globalThis.__t?.("runtime/record/masking.js#memory@2068"),(maskedOp(mask, op))));
	const working = mapped(event.working, (op) => (globalThis.__t?.("runtime/record/masking.js#working@2136"),(maskedOp(mask, op))));
	const state = event.state === void 0 ? void 0 : masked(mask, event.state);
	const plan = event.plan === void 0 ? void 0 : masked(mask, event.plan);
	const summary = event.summary === void 0 ? void 0 : masked(mask, event.summary);
	if (said === event.said && memory === event.memory && working === event.working && state === event.state && plan === event.plan && summary === event.summary) return event;
	return {
		...event,
		said,
		memory,
		working,
		...state === void 0 ? {} : { state },
		...plan === void 0 ? {} : { plan },
		...summary === void 0 ? {} : { summary }
	};
}
function maskedSent(mask, sent) {globalThis.__t?.("runtime/record/masking.js#maskedSent@2747");
	const message = maskedMessage(mask, sent.message);
	return message === sent.message ? sent : {
		...sent,
		message
	};
}
function maskedOp(mask, op) {globalThis.__t?.("runtime/record/masking.js#maskedOp@2904");
	if (op[0] !== "+" || typeof op[1] === "string") return op;
	const message = maskedMessage(mask, op[1]);
	return message === op[1] ? op : ["+", message];
}
function maskedValue(mask, value) {globalThis.__t?.("runtime/record/masking.js#maskedValue@3090");
	if (typeof value === "string") return mask(value);
	if (isList(value)) return mapped(value, (item) => (globalThis.__t?.("runtime/record/masking.js#anonymous@3219"),(maskedValue(mask, item))));
	return isRecord(value) ? maskedRecord(mask, value) : value;
}
function maskedRecord(mask, record) {globalThis.__t?.("runtime/record/masking.js#maskedRecord@3318");
	const entries = Object.entries(record);
	const clean = entries.map(([key, value]) => (globalThis.__t?.("runtime/record/masking.js#clean@3424"),([mask(key), maskedValue(mask, value)])));
	return clean.every(([key, value], place) => (globalThis.__t?.("runtime/record/masking.js#anonymous@3502"),(key === entries[place]?.[0] && value === entries[place][1]))) ? record : Object.fromEntries(clean);
}
function mapped(list, change) {globalThis.__t?.("runtime/record/masking.js#mapped@3627");
	const changed = list.map(change);
	return changed.every((item, place) => (globalThis.__t?.("runtime/record/masking.js#anonymous@3716"),(item === list[place]))) ? list : changed;
}
export { masked, maskedBody, maskedError, maskedMessage };
