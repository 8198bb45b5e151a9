import { checkPermission } from "./permission.js";
import { jsonParameters, zodParameters } from "./tool-parameters.js";
import { isObject } from "../kernel/value-kind.js";
import { object, takes } from "../kernel/argument.js";
import { checkKnownOptions } from "../kernel/known-options.js";
import { UsageError } from "../kernel/errors.js";
import { valueText } from "../kernel/value-text.js";
import { isZod3 } from "../model/json-schema.js";
// ../../work/wt/lead/src/tool/tool.ts
const toolOptions = {
	name: true,
	description: true,
	effect: true,
	timeout: true,
	permission: true,
	idempotent: true,
	again: true,
	fresh: true,
	ends: true,
	parallel: true,
	maxOutput: true,
	polls: true,
	close: true,
	parameters: true,
	execute: true
};
const TIMEOUT = 6e4;
const MAX_OUTPUT = 12e3;
const NAME = /^[a-zA-Z0-9_-]{1,64}$/;
function defineTool(options) {globalThis.__t?.("tool/tool.js#defineTool@833");
	takes("defineTool", "options", options, object("an object with name, description and execute"));
	checkFields(options);
	checkKnownOptions(`defineTool ${JSON.stringify(options.name)}`, options, toolOptions);
	const { name, description, effect = "write", parameters } = options;
	const shape = shapeOf(name, parameters);
	const reads = effect === "read";
	const asks = options.effect !== void 0 && !reads;
	return Object.freeze({
		name,
		description,
		spec: Object.freeze({
			name,
			description,
			parameters: shape.json
		}),
		parameters: isZod(parameters) ? parameters : void 0,
		effect,
		timeout: options.timeout ?? TIMEOUT,
		permission: options.permission ?? (asks ? "ask" : "allow"),
		idempotent: options.idempotent ?? reads,
		again: options.again ?? false,
		fresh: options.fresh ?? reads,
		ends: options.ends ?? false,
		parallel: options.parallel ?? true,
		polls: options.polls ?? false,
		maxOutput: options.maxOutput ?? MAX_OUTPUT,
		check: shape.check,
		execute: (args, ctx) => (globalThis.__t?.("tool/tool.js#execute@1854"),(options.execute(args, ctx))),
		...options.close === void 0 ? {} : { close: (o) => (globalThis.__t?.("tool/tool.js#close@1943"),(options.close?.(o))) }
	});
}
function shapeOf(name, parameters) {globalThis.__t?.("tool/tool.js#shapeOf@1978");
	return isZod(parameters) ? zodParameters(name, parameters) : jsonParameters(name, parameters);
}
/** True also for schemas of another copy of zod, and of zod 3, which is refused by name. */
function isZod(parameters) {globalThis.__t?.("tool/tool.js#isZod@2206");
	return isObject(parameters) && "_zod" in parameters || isZod3(parameters);
}
function checkFields({ name, description, timeout = TIMEOUT, maxOutput = MAX_OUTPUT, permission = "ask" }) {globalThis.__t?.("tool/tool.js#checkFields@2313");
	if (typeof name !== "string" || !NAME.test(name) || name === "__proto__") throw invalid("a tool's name of 1 to 64 letters, digits, _ and -", valueText(name));
	if (typeof description !== "string") throw invalid(`a description of the tool "${name}"`, valueText(description));
	if (!Number.isFinite(timeout) || timeout <= 0) throw invalid(`a time limit of the tool "${name}" in milliseconds, more than 0 and finite`, String(timeout));
	if (!Number.isSafeInteger(maxOutput) || maxOutput < 1) throw invalid(`the most characters of the tool "${name}" as a whole number of 1 or more`, String(maxOutput));
	checkPermission(permission, `the tool "${name}"`);
}
function invalid(expected, got) {globalThis.__t?.("tool/tool.js#invalid@3076");
	return new UsageError("TOOL_INVALID", `Expected ${expected}, got ${got}.`);
}
export { defineTool };
