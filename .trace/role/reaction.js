import { isList } from "../kernel/value-kind.js";
import { checkKnownOptions } from "../kernel/known-options.js";
import { addressOf } from "../message/address.js";
// ../../work/wt/lead/src/role/reaction.ts
const reactionParts = {
	on: true,
	needs: true,
	do: true
};
/** Looks up the names of a reaction. */
function reactionSpec(reaction) {globalThis.__t?.("role/reaction.js#reactionSpec@311");
	checkKnownOptions("a reaction", reaction, reactionParts);
	const on = isList(reaction.on) ? reaction.on : [reaction.on];
	return {
		on: new Set(on.map(addressOf)),
		needs: (reaction.needs ?? reaction.do.needs).map(addressOf),
		action: reaction.do
	};
}
/** The news that triggers a reaction. */
function triggersOf(reaction, news) {globalThis.__t?.("role/reaction.js#triggersOf@644");
	return news.filter((message) => (globalThis.__t?.("role/reaction.js#anonymous@702"),(reaction.on.has(message.causeBy))));
}
/**
* What a reaction would consume now: the newest message of each need. Undefined while one is missing or was consumed before.
*/
function joinedInputs(reaction, memory, consumed) {globalThis.__t?.("role/reaction.js#joinedInputs@884");
	const inputs = {};
	for (const need of reaction.needs) {
		const newest = memory.newestBy(need);
		if (newest === void 0 || consumed?.[need] === newest.id) return void 0;
		inputs[need] = newest.id;
	}
	return inputs;
}
export { joinedInputs, reactionSpec, triggersOf };
