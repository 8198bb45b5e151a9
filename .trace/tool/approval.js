import { cutText } from "./cut-text.js";
import { interruptionIn, toldOf } from "./plain-value.js";
import { escapedText } from "../kernel/value-text.js";
// ../../work/wt/lead/src/tool/approval.ts
/** Longest part of a call in the question. */
const SHOWN_CALL = 8e3;
/** Longest part of a refusal that the model reads. */
const TOLD_WORDS = 2e3;
const YES = /^(?:y|yes|ok|okay|allow|allowed|approve|approved|true)[.!]?$/i;
const NO = /^(?:n|no|deny|denied|false)[.!]?$/i;
/** Asks for permission, as a step: the answer holds when the run goes on. */
async function askPermission(steps, approve, { role, tool, args }, signal) {globalThis.__t?.("tool/approval.js#askPermission@552");
	const text = `May ${escapedText(role)} use the tool "${tool}"?\n${cutText(escapedText(JSON.stringify(args, null, 2)), SHOWN_CALL)}`;
	return approvalIn(await steps.step({
		kind: "human",
		name: "approve",
		request: {
			role,
			question: text,
			tool,
			args
		}
	}, async (door) => {globalThis.__t?.("tool/approval.js#anonymous@903");
		const both = AbortSignal.any([signal, door.signal]);
		try {
			return await approve({
				id: door.key,
				role,
				text,
				tool,
				args
			}, { signal: both });
		} catch (error) {
			const interruption = interruptionIn(error);
			if (interruption !== void 0) throw interruption;
			return `no, asking for permission failed: ${toldOf(error).slice(0, TOLD_WORDS)}`;
		}
	}));
}
/** Only a plain yes allows. */
function approvalIn(answer) {globalThis.__t?.("tool/approval.js#approvalIn@1340");
	if (answer === true) return {
		isGiven: true,
		words: ""
	};
	if (typeof answer !== "string") return {
		isGiven: false,
		words: ""
	};
	const words = answer.trim();
	if (YES.test(words)) return {
		isGiven: true,
		words: ""
	};
	return {
		isGiven: false,
		words: NO.test(words) ? "" : words.slice(0, TOLD_WORDS)
	};
}
export { askPermission };
