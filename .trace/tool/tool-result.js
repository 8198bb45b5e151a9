import { aText, listOf, object, orNothing, takes } from "../kernel/argument.js";
import { ChatMessage } from "../model/chat-message.js";
import { cutText } from "./cut-text.js";
/** The result of a tool that failed. `more.output` is the output before the failure. */
function toolFailure(error, more = {}) {globalThis.__t?.("tool/tool-result.js#toolFailure@267");
	takes("toolFailure", "what goes with the error", more, aToolResult);
	return {
		...more,
		error
	};
}
/** True when the tool failed. 0, false and "" are outputs like others. */
function isFailure(result) {globalThis.__t?.("tool/tool-result.js#isFailure@488");
	takes("isFailure", "result", result, aToolResult);
	return result.error !== void 0;
}
/**
* A result as a model reads it: `Error: ...` first when it failed, then the output, then the note of the system.
*
* @param limit most characters of the output and of the error; a mark stands for the rest. Default: all
*/
function resultText(result, limit = Infinity) {globalThis.__t?.("tool/tool-result.js#resultText@830");
	takes("resultText", "result", result, aToolResult);
	const { error, system } = result;
	const output = outputText(result);
	const parts = [
		...error === void 0 ? [] : [`Error: ${cutText(error === "" ? "the tool failed and said nothing" : error, limit)}`],
		...output === "" ? [] : [cutText(output, limit)],
		...system === void 0 || system === "" ? [] : [`Note: ${cutText(system, limit)}`]
	];
	return parts.length === 0 ? "(no output)" : parts.join("\n");
}
function outputText({ output, error, images, data }) {globalThis.__t?.("tool/tool-result.js#outputText@1341");
	if (output !== void 0) return jsonText(output);
	return error === void 0 && images === void 0 && data !== void 0 ? jsonText(data) : "";
}
function jsonText(value) {globalThis.__t?.("tool/tool-result.js#jsonText@1535");
	return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}
/** The parts of a result that the functions here read. */
const aToolResult = object("a result that toolOutput or toolFailure made", {
	error: orNothing(aText),
	system: orNothing(aText),
	images: orNothing(listOf(object("a picture")))
});
/** The answer to a call that did not run, with the reason in words that the model can act on. */
function notRun(call, outcome, why) {globalThis.__t?.("tool/tool-result.js#notRun@1979");
	return {
		call,
		result: toolFailure(why),
		outcome,
		ends: false
	};
}
/** The answer to a call, as the model reads it. */
function toolMessage(called) {globalThis.__t?.("tool/tool-result.js#toolMessage@2146");
	takes("toolMessage", "what was called", called, object("a call and its result", {
		call: object("a call", {
			id: aText,
			function: object("a function")
		}),
		result: object("a result")
	}));
	const { call, result } = called;
	return ChatMessage.tool({
		content: resultText(result),
		name: call.function.name,
		toolCallId: call.id,
		...result.images === void 0 ? {} : { images: result.images }
	});
}
export { isFailure, notRun, resultText, toolFailure, toolMessage };
